// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { format } from './format.js';
import { seriesColour, seriesStyle } from './theme.js';

/// Room that the place under the pointer gets, so that nothing moves when it changes.
const LONGEST_PLACE = 26;

/// Names of the lines with their value under the pointer (their peak when there is none), each a
/// button that shows or hides its line. `toggle(index)` returns whether it is shown now.
export function legend(lines, plot, toggle) {
  const where = el('li', { class: 'where' });
  const entries = lines.map((line, index) => {
    const swatch = el('span', { class: 'swatch line', 'aria-hidden': 'true' });
    const value = el('span', { class: 'value' });
    const button = el('button', {
      type: 'button',
      'aria-pressed': 'true',
      onclick: () => button.setAttribute('aria-pressed', String(toggle(index))),
    }, swatch, el('span', { class: 'name' }, line.name), value);
    return { line, swatch, value, button };
  });
  const limit = plot.limit
    ? el('li', { class: 'limit-entry' }, el('span', { class: 'swatch limit-swatch', 'aria-hidden': 'true' }),
      `${plot.limit.name} `, el('span', { class: 'value' }, format(plot.limit.value, plot.y_unit)))
    : null;

  function paint() {
    entries.forEach(({ swatch }, index) => {
      swatch.style.borderTopColor = seriesColour(index);
      swatch.style.borderTopStyle = seriesStyle(index).border;
    });
  }

  const place = (x) => `${plot.x_label || 'at'} ${format(x, plot.x_unit)}`;
  const last = Math.max(...lines.map((line) => line.x[line.x.length - 1] ?? 0));
  where.style.minWidth = `${Math.min(place(last).length, LONGEST_PLACE)}ch`;

  function read(x) {
    where.textContent = x == null ? 'peak' : place(x);
    for (const { line, value } of entries) {
      const number = x == null ? line.high : line.at(x);
      value.textContent = format(Number.isFinite(number) ? number : null, plot.y_unit);
    }
  }

  paint();
  read(null);
  const element = el('ul', { class: 'legend plot-legend' },
    where, entries.map(({ button }) => el('li', {}, button)), limit);
  return { element, paint, read };
}
