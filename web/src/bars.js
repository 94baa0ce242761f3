// SPDX-License-Identifier: Apache-2.0
import { el, items, nothing, section } from './dom.js';
import { format } from './format.js';
/** @import { Bar, BarChart, Limit, Part, Unit } from './types.js' */

/** @typedef {{ full: number, unit: Unit, limit?: Limit | null }} Scale */

const COLOURS = 8;

/** @param {Part} part */
const valueOf = (part) => (Number.isFinite(part.value) ? Math.max(0, part.value) : 0);
/** @param {Bar} bar */
const totalOf = (bar) => items(bar.parts).reduce((sum, part) => sum + valueOf(part), 0);

/** @type {(bar: Bar) => bar is Bar & { low: number, high: number }} */
const hasRange = (bar) => Number.isFinite(bar.low) && Number.isFinite(bar.high)
  && /** @type {number} */ (bar.low) <= /** @type {number} */ (bar.high);

/** @type {(element: HTMLElement, from: number, to: number, full: number) => HTMLElement} */
function place(element, from, to, full) {
  element.style.left = `${(100 * from) / full}%`;
  element.style.width = `${(100 * (to - from)) / full}%`;
  return element;
}

/** @type {(bar: Bar, classes: Map<string, string>, scale: Scale) => HTMLElement} */
function track(bar, classes, { full, unit, limit }) {
  const parts = items(bar.parts).map((part) => {
    const share = el('span', {
      class: `part ${classes.get(part.name)}`,
      title: `${part.name}: ${format(part.value, unit)}`,
    });
    share.style.width = `${(100 * valueOf(part)) / full}%`;
    return share;
  });
  const range = hasRange(bar)
    ? place(el('span', {
      class: 'range',
      title: `between ${format(bar.low, unit)} and ${format(bar.high, unit)}`,
    }), bar.low, bar.high, full)
    : null;
  const line = limit ? el('span', { class: 'limit' }) : null;
  if (line) line.style.left = `${(100 * /** @type {Limit} */ (limit).value) / full}%`;
  return el('div', { class: 'track', 'aria-hidden': 'true' }, parts, range, line);
}

/** @type {(bar: Bar, unit: Unit) => string} */
function totalText(bar, unit) {
  const total = format(totalOf(bar), unit);
  if (!hasRange(bar)) return total;
  return `${total} (${format(bar.low, unit)} \u2013 ${format(bar.high, unit)})`;
}

/** @type {(bars: Bar[], names: string[], unit: Unit) => HTMLElement} */
function figures(bars, names, unit) {
  /** @type {(bar: Bar, name: string) => number | undefined} */
  const value = (bar, name) => items(bar.parts).find((part) => part.name === name)?.value;
  return el('details', {},
    el('summary', {}, 'Figures'),
    el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Figures' }, el('table', {},
      el('thead', {}, el('tr', {}, el('td'), names.map((name) => el('th', { scope: 'col', class: 'right' }, name)),
        el('th', { scope: 'col', class: 'right' }, 'total'))),
      el('tbody', {}, bars.map((bar) => el('tr', {}, el('th', { scope: 'row' }, bar.name),
        names.map((name) => el('td', { class: 'right' }, format(value(bar, name), unit))),
        el('td', { class: 'right' }, totalText(bar, unit))))))));
}

/// Stacked bars on one scale, with a limit across and the figures below.
/** @type {(chart: BarChart) => HTMLElement} */
export function barChart(chart) {
  const bars = items(chart.bars);
  if (bars.length === 0) return nothing('bars', chart).element;
  const { unit } = chart;
  const limit = Number.isFinite(chart.limit?.value) ? chart.limit : null;
  const names = [...new Set(bars.flatMap((bar) => items(bar.parts).map((part) => part.name)))];
  const classes = new Map(names.map((name, index) => [name, `colour-${(index % COLOURS) + 1}`]));
  const reach = bars.map((bar) => Math.max(totalOf(bar), hasRange(bar) ? bar.high : 0));
  const full = 1.02 * Math.max(...reach, limit?.value ?? 0) || 1;
  const scale = { full, unit, limit };
  return section('bars', chart,
    el('ul', { class: 'legend' },
      names.map((name) => el('li', {}, el('span', { class: `swatch ${classes.get(name)}` }), name)),
      limit
        ? el('li', {}, el('span', { class: 'swatch limit-swatch' }), `${limit.name} ${format(limit.value, unit)}`)
        : null),
    el('div', { class: 'rows' }, bars.map((bar) => {
      const over = limit && totalOf(bar) > limit.value;
      return el('div', { class: over ? 'row over' : 'row' },
        el('span', { class: 'row-name' }, bar.name),
        track(bar, classes, scale),
        el('span', { class: 'row-total' }, totalText(bar, unit), over ? el('em', {}, ` over ${limit.name}`) : null));
    })),
    figures(bars, names, unit));
}
