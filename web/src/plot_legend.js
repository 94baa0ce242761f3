// SPDX-License-Identifier: Apache-2.0
import { arrange, el } from './dom.js';
import { format } from './format.js';
import { seriesColour, seriesFill, seriesStyle } from './theme.js';
/** @import { LineSet } from './line_set.js' */
/** @import { Plot } from './types.js' */

/**
 * @typedef {{ key: string, index: number, swatch: HTMLElement, name: HTMLElement, value: HTMLElement,
 *   button: HTMLElement, item: HTMLElement }} Entry
 */

/// Room that the place under the pointer gets, so that nothing moves when it changes.
const LONGEST_PLACE = 26;

/// Names of the lines with their value under the pointer (their peak when there is none), each a button that
/// shows or hides its line; of a stack also the sum of what is shown.
export class Legend {
  /** @type {LineSet} */ lines;
  /** @type {Plot} */ plot;

  /// `toggle(index)` returns whether the line is shown now.
  /** @param {(index: number) => boolean} toggle */
  constructor(toggle) {
    this.toggle = toggle;
    /** @type {Entry[]} */
    this.entries = [];
    this.where = el('li', { class: 'where' });
    this.sumName = el('span');
    this.sum = el('span', { class: 'value' });
    this.sumItem = el('li', { class: 'sum-entry' }, this.sumName, this.sum);
    this.limitName = el('span');
    this.limit = el('span', { class: 'value' });
    this.limitItem = el('li', { class: 'limit-entry' },
      el('span', { class: 'swatch limit-swatch', 'aria-hidden': 'true' }), this.limitName, this.limit);
    this.element = el('ul', { class: 'legend plot-legend' });
  }

  /** @param {string} key */
  entry(key) {
    const swatch = el('span', { 'aria-hidden': 'true' });
    const name = el('span', { class: 'name' });
    const value = el('span', { class: 'value' });
    const button = el('button', {
      type: 'button',
      onclick: () => {
        button.setAttribute('aria-pressed', String(this.toggle(entry.index)));
        this.read(null);
      },
    }, swatch, name, value);
    /** @type {Entry} */
    const entry = { key, index: 0, swatch, name, value, button, item: el('li', {}, button) };
    return entry;
  }

  /// The lines of `plot`. Entries of those that were there before stay, and so does the focus.
  /** @type {(lines: LineSet, plot: Plot) => void} */
  show(lines, plot) {
    this.lines = lines;
    this.plot = plot;
    const known = new Map(this.entries.map((entry) => [entry.key, entry]));
    this.entries = lines.keys.map((key) => known.get(key) ?? this.entry(key));
    const { shown, stack } = lines;
    this.entries.forEach((entry, index) => {
      entry.index = index;
      entry.name.textContent = lines.lines[index].name;
      entry.swatch.className = stack ? 'swatch area' : 'swatch line';
      entry.button.setAttribute('aria-pressed', String(shown[index]));
    });
    if (plot.limit) {
      this.limitName.textContent = plot.limit.name;
      this.limit.textContent = format(plot.limit.value, plot.y_unit);
    }
    const last = Math.max(...lines.lines.map(({ x }) => x[x.length - 1] ?? 0));
    this.where.style.minWidth = `${Math.min(this.place(last).length, LONGEST_PLACE)}ch`;
    arrange(this.element, [this.where, ...this.entries.map(({ item }) => item),
      stack ? this.sumItem : null, plot.limit ? this.limitItem : null]);
    this.paint();
    this.read(null);
  }

  paint() {
    this.entries.forEach(({ swatch }, index) => {
      swatch.style.borderColor = seriesColour(index);
      swatch.style.borderTopStyle = seriesStyle(index).border;
      swatch.style.background = this.lines.stack ? seriesFill(index) : '';
    });
  }

  /** @param {number} x */
  place(x) {
    return `${this.plot.x_label || 'at'} ${format(x, this.plot.x_unit)}`;
  }

  /// The values at `x`; at the peak where it is null.
  /** @param {number | null} x */
  read(x) {
    const { values, sum } = this.lines.read(x);
    /** @param {number | null | undefined} number */
    const text = (number) => format(Number.isFinite(number) ? number : null, this.plot.y_unit);
    this.where.textContent = x == null ? (this.lines.stack ? 'at the peak' : 'peak') : this.place(x);
    this.entries.forEach(({ value }, index) => {
      value.textContent = text(values[index]);
    });
    this.sumName.textContent = this.lines.shown.every(Boolean) ? 'total' : 'total of those shown';
    this.sum.textContent = text(sum);
  }
}
