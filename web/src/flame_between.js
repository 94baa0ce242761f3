// SPDX-License-Identifier: Apache-2.0
// Two moments of a flame graph, and what grew between them.
import { el, items } from './dom.js';
import { format } from './format.js';
/** @import { Range } from './line.js' */
/** @import { FlameGraph, Unit } from './types.js' */

/// Whoever shows a part of the time tells the page: along what, and from and to there, or null for all of it.
export const TIME_CHOSEN = 'ebb-time-chosen';
/** @typedef {{ axis: string, range: Range | null }} ChosenTime */

/// What moments are told apart by: seconds, or that of which there have been so many.
/** @type {(unit: Unit | undefined, name: string | undefined) => string} */
export function axisOf(unit, name) {
  return (unit ?? 'seconds') === 'seconds' ? 'seconds' : name ?? '';
}

/// Numbers that ascend; none where there are fewer than two.
/** @type {(graph: FlameGraph) => number[]} */
export function momentsOf({ moments }) {
  const known = Array.isArray(moments) ? moments.filter((moment) => Number.isFinite(moment)) : [];
  return known.length > 1 ? known : [];
}

/// The moments that are nearest to the ends of a time, never the same one twice.
/** @type {(moments: number[], time: Range) => Range} */
export function nearest(moments, [from, to]) {
  /** @param {number} time */
  const indexOf = (time) => moments.reduce((best, moment, index) =>
    (Math.abs(moment - time) < Math.abs(moments[best] - time) ? index : best), 0);
  const [first, last] = [indexOf(from), indexOf(to)];
  if (first < last) return [first, last];
  return first > 0 ? [first - 1, first] : [0, 1];
}

/// The same calls, with the bytes by which each stack grew between two moments as its only value.
/** @type {(graph: FlameGraph, between: Range) => FlameGraph} */
export function grownBetween(graph, [from, to]) {
  const stacks = items(graph.stacks).map(({ frames, held }) =>
    ({ frames, values: [Number(held?.[to]) - Number(held?.[from])] }));
  return { ...graph, stacks };
}

/// Two sliders, from one moment to another; `onChange` is told when somebody has moved one.
export class Between {
  /** @param {() => void} onChange */
  constructor(onChange) {
    /** @type {number[]} */
    this.moments = [];
    /** @type {Unit} */
    this.unit = 'seconds';
    this.axis = 'seconds';
    this.onChange = onChange;
    this.from = this.slider('from');
    this.to = this.slider('to');
    this.hint = el('p', { class: 'hint' });
    this.element = el('div', { class: 'flame-between' }, this.from.row, this.to.row, this.hint);
  }

  /** @param {string} name */
  slider(name) {
    const input = el('input', { type: 'range', min: 0, step: 1, oninput: () => this.moved(input) });
    const told = el('output');
    return { input, told, row: el('label', {}, `${name} `, input, told) };
  }

  /// Takes newer moments; the times that were chosen stay, an end that was the last one stays the last.
  /**
   * @param {number[]} moments
   * @param {FlameGraph} graph
   */
  take(moments, { moments_unit: unit, moments_name: name }) {
    const before = this.moments;
    const [from, to] = this.indices;
    this.moments = moments;
    this.unit = unit ?? 'seconds';
    this.axis = axisOf(unit, name);
    this.hint.textContent = `Or drag over ${this.axis === 'seconds' ? 'a time' : this.axis} in a plot above.`;
    for (const { input } of [this.from, this.to]) input.max = String(moments.length - 1);
    const stays = before.length > 0 && (from > 0 || to < before.length - 1);
    this.set(stays
      ? nearest(moments, [before[from], to === before.length - 1 ? moments[moments.length - 1] : before[to]])
      : [0, moments.length - 1]);
  }

  /** @returns {Range} */
  get indices() {
    return [Number(this.from.input.value), Number(this.to.input.value)];
  }

  /** @param {Range} indices */
  set([from, to]) {
    [[this.from, from], [this.to, to]].forEach(([slider, index]) => {
      const { input, told } = /** @type {typeof this.from} */ (slider);
      input.value = String(index);
      told.textContent = format(this.moments[/** @type {number} */ (index)], this.unit);
      input.setAttribute('aria-valuetext', told.textContent);
    });
  }

  /// One moment cannot pass the other.
  /** @param {HTMLInputElement} input */
  moved(input) {
    const [from, to] = this.indices;
    if (input === this.from.input) this.set([Math.min(from, to - 1), to]);
    else this.set([from, Math.max(to, from + 1)]);
    this.onChange();
  }

  /// The time that was chosen elsewhere; null: all of it.
  /** @param {Range | null} time */
  choose(time) {
    this.set(time ? nearest(this.moments, time) : [0, this.moments.length - 1]);
  }

  get text() {
    const [from, to] = this.indices.map((index) => format(this.moments[index], this.unit));
    return `between ${from} and ${to}${this.axis === 'seconds' ? '' : ` ${this.axis}`}`;
  }
}
