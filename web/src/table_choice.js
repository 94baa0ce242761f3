// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { compareCells, isPath } from './table_cells.js';
/** @import { Cell, Link } from './types.js' */

const FEWEST = 2;
const MOST = 8;

/// The number of a row that can be chosen: what follows `together` in the path of its first cell. Null for others.
/** @type {(cell: Cell | undefined, together: string) => string | null} */
export function numberOf(cell, together) {
  const path = /** @type {Link} */ (cell)?.path;
  if (!isPath(path) || !path.startsWith(together)) return null;
  const rest = path.slice(together.length);
  return /^[0-9]+$/.test(rest) ? rest : null;
}

/// Where the chosen rows are shown side by side; null where they are too few or too many.
/** @type {(numbers: string[], together: string) => string | null} */
export function pathOf(numbers, together) {
  if (numbers.length < FEWEST || numbers.length > MOST) return null;
  return together + [...numbers].sort(compareCells).join(',');
}

/// Rows chosen by a checkbox each, and the button that shows them side by side. `name`: of the first column.
export class Choice {
  /**
   * @param {string} together
   * @param {string} name
   */
  constructor(together, name) {
    this.together = together;
    this.name = name;
    /** @type {Set<string>} */
    this.numbers = new Set();
    /** @type {() => Iterable<HTMLInputElement> & ArrayLike<HTMLInputElement>} */
    this.boxes = () => [];
    this.button = el('button', { type: 'button', onclick: () => this.go() }, 'Side by side');
    this.none = el('button', { type: 'button', onclick: () => this.clear() }, 'Choose none');
    this.said = el('span', { class: 'hint', role: 'status' });
    this.element = el('div', { class: 'toolbar table-choice' }, this.button, this.none, this.said);
  }

  /// A checkbox for the row with this first cell, or null.
  /** @type {(cell: Cell) => HTMLElement | null} */
  box(cell) {
    const number = numberOf(cell, this.together);
    if (number === null) return null;
    return el('label', { class: 'choose' },
      el('input', {
        type: 'checkbox',
        value: number,
        'aria-label': `Choose ${this.name} ${/** @type {Link} */ (cell).text}`,
      }));
  }

  /// Takes over that a checkbox was changed.
  /** @param {HTMLInputElement} box */
  change({ value, checked }) {
    if (checked) this.numbers.add(value);
    else this.numbers.delete(value);
    this.show();
  }

  /// Forgets rows that are no longer there.
  /** @param {Cell[][]} rows */
  keep(rows) {
    const there = new Set(rows.map(([first]) => numberOf(first, this.together)));
    for (const number of this.numbers) if (!there.has(number)) this.numbers.delete(number);
  }

  clear() {
    this.numbers.clear();
    this.show();
    this.boxes()[0]?.focus();
  }

  go() {
    const path = pathOf([...this.numbers], this.together);
    if (path !== null) window.location.href = path;
  }

  /// Brings checkboxes, button and text to what is chosen.
  show() {
    const full = this.numbers.size >= MOST;
    for (const box of this.boxes()) {
      box.checked = this.numbers.has(box.value);
      box.disabled = full && !box.checked;
    }
    const chosen = [...this.numbers].sort(compareCells);
    const most = full ? ` (${MOST} at most)` : '';
    const text = chosen.length > 0 ? `Chosen: ${chosen.join(', ')}${most}` : 'Choose two or more rows.';
    if (this.said.textContent !== text) this.said.textContent = text;
    this.button.disabled = pathOf(chosen, this.together) === null;
    this.none.hidden = chosen.length === 0;
  }
}
