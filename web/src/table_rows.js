// SPDX-License-Identifier: Apache-2.0
import { arrange, el } from './dom.js';
import { isPath, keyOf, sameCell, textOf } from './table_cells.js';
/** @import { ShownColumn } from './table.js' */
/** @import { Choice } from './table_choice.js' */
/** @import { Cell, Column, Link } from './types.js' */

/** @typedef {{ value: Cell, share: HTMLElement | null, element: HTMLElement }} ShownCell */
/** @typedef {{ element: HTMLElement, cells: ShownCell[] }} Row */

/** @type {(value: Cell, column: Column, box?: HTMLElement | null) => ShownCell} */
function cellOf(value, { unit, align, bar }, box) {
  const text = textOf(value, unit);
  const path = /** @type {Link} */ (value)?.path;
  const inside = isPath(path) ? el('a', { href: path }, text) : text;
  const share = bar && typeof value === 'number' ? el('span', { class: 'cell-bar', 'aria-hidden': 'true' }) : null;
  return { value, share, element: el('td', { class: align === 'right' ? 'right' : null }, box, inside, share) };
}

/// The body of a table. Rows are known by a key (table_cells.js), so that only what is different changes in the page
/// and focus stays where it is.
export class Rows {
  /// `choice`: what makes the checkbox of a row; null for none.
  /** @param {Choice | null} choice */
  constructor(choice) {
    this.choice = choice;
    this.element = el('tbody');
    /** @type {Map<string, Row>} */
    this.shown = new Map();
  }

  /// `list`: cells and whether the row is highlighted, in order.
  /** @type {(list: { cells: Cell[], highlight: boolean }[], columns: ShownColumn[]) => void} */
  show(list, columns) {
    const focus = this.focus();
    const before = this.shown;
    /** @type {Map<string, number>} */
    const times = new Map();
    this.shown = new Map();
    for (const { cells, highlight } of list) {
      const name = keyOf(cells);
      const time = (times.get(name) ?? 0) + 1;
      times.set(name, time);
      const key = `${time} ${name}`;
      const row = before.get(key) ?? { element: el('tr'), cells: [] };
      this.shown.set(key, row);
      this.fill(row, cells, columns);
      row.element.classList.toggle('highlight', highlight);
    }
    arrange(this.element, [...this.shown.values()].map(({ element }) => element));
    this.refocus(focus);
  }

  /** @type {(row: Row, cells: Cell[], columns: ShownColumn[]) => void} */
  fill(row, cells, columns) {
    columns.forEach((column, i) => {
      const value = cells[i] ?? null;
      const old = row.cells[i];
      if (!old || !sameCell(old.value, value)) {
        row.cells[i] = cellOf(value, column, i === 0 ? this.choice?.box(value) : null);
        if (old) old.element.replaceWith(row.cells[i].element);
        else row.element.append(row.cells[i].element);
      }
      const { share } = row.cells[i];
      if (share) {
        const size = Math.max(0, /** @type {number} */ (value));
        share.style.width = `${column.largest > 0 ? (100 * size) / column.largest : 0}%`;
      }
    });
  }

  focus() {
    const active = /** @type {Element} */ (document.activeElement);
    if (!this.element.contains(active)) return null;
    const row = active.closest('tr');
    const [key] = [...this.shown].find(([, { element }]) => element === row) ?? [];
    return { active, key, column: /** @type {HTMLTableCellElement} */ (active.closest('td')).cellIndex };
  }

  /// Where the element that had focus was moved or replaced, the one in its place gets it.
  /** @param {ReturnType<Rows['focus']>} focus */
  refocus(focus) {
    if (!focus || document.activeElement === focus.active) return;
    const place = this.shown.get(/** @type {string} */ (focus.key))?.cells[focus.column]?.element;
    /** @type {HTMLElement | null | undefined} */
    const next = place?.querySelector(focus.active.localName);
    next?.focus({ preventScroll: true });
  }
}
