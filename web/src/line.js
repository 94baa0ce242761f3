// SPDX-License-Identifier: Apache-2.0
// One line of a plot, and the few points of it that a window of so many pixels can show.

/** @import { Values } from './types.js' */

/** @typedef {[from: number, to: number]} Range */
/** @typedef {[x: number[], ...lines: Values[]]} Columns */
/** @typedef {Float64Array | Values} Numbers */
/**
 * @typedef {object} LineLike
 * @property {string} [name]
 * @property {boolean} [step]
 * @property {Numbers} x
 * @property {Numbers} y
 * @property {Numbers} [band_low]
 * @property {Numbers} [band_high]
 */

/** @type {(list?: Numbers) => Float64Array} */
const numbers = (list) => (list instanceof Float64Array
  ? list : Float64Array.from(list ?? [], (value) => (value == null ? NaN : Number(value))));

/// The number of items of ascending `list` that are below `x` (or also at it, with `inclusive`).
/** @type {(list: Float64Array, x: number, inclusive: boolean) => number} */
function position(list, x, inclusive) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < x || (inclusive && list[middle] === x)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Line {
  /** @param {LineLike} data */
  constructor({ name, x, y, step, band_low: bandLow, band_high: bandHigh }) {
    this.name = name ?? '';
    this.step = step !== false;
    this.x = numbers(x);
    this.y = numbers(y);
    const count = Math.min(this.x.length, this.y.length);
    this.x = this.x.subarray(0, count);
    this.y = this.y.subarray(0, count);
    this.low = Infinity;
    this.high = -Infinity;
    this.bandLow = numbers(bandLow);
    this.bandHigh = numbers(bandHigh);
    this.hasBand = count > 0 && this.bandLow.length === count && this.bandHigh.length === count;
    for (const value of this.y) {
      if (value < this.low) this.low = value;
      if (value > this.high) this.high = value;
    }
    /// What has to fit in height.
    this.bottom = this.hasBand ? this.bandLow.reduce((low, value) => Math.min(low, value), this.low) : this.low;
    this.top = this.hasBand ? this.bandHigh.reduce((high, value) => Math.max(high, value), this.high) : this.high;
  }

  /// Its value at `x`: the one that holds, or between two points where it is no step. NaN outside.
  /** @type {(x: number) => number} */
  at(x) {
    const next = position(this.x, x, true);
    if (next === 0 || (next === this.x.length && x > this.x[next - 1])) return NaN;
    const [x0, y0] = [this.x[next - 1], this.y[next - 1]];
    if (this.step || x === x0) return y0;
    return y0 + ((this.y[next] - y0) * (x - x0)) / (this.x[next] - x0);
  }

  /// From the last point at or before `from` to the first behind `to`, as indices.
  /** @type {(from: number, to: number) => Range} */
  range(from, to) {
    return [
      Math.max(0, position(this.x, from, true) - 1),
      Math.min(this.x.length, position(this.x, to, true) + 1),
    ];
  }
}

/// The x of all points of `lines` in a window, each once.
/** @type {(lines: Line[], ranges: Range[]) => Float64Array} */
export function everyX(lines, ranges) {
  /** @type {Set<number>} */
  const all = new Set();
  lines.forEach((line, i) => line.x.subarray(...ranges[i]).forEach((x) => all.add(x)));
  return Float64Array.from(all).sort();
}

/// Per column its lowest and highest value, in the order in which they come.
/** @type {(line: Line, from: number, width: number, columns: number) => Float64Array} */
function extremes(line, from, width, columns) {
  const values = new Float64Array(2 * columns);
  let [next] = line.range(from, from);
  while (next < line.x.length && line.x[next] < from) ++next;
  for (let column = 0; column < columns; ++column) {
    const until = from + width * (column + 1);
    const held = line.at(from + width * column);
    let [first, second] = [held, held];
    let [low, high] = Number.isNaN(held) ? [Infinity, -Infinity] : [held, held];
    for (; next < line.x.length && line.x[next] < until; ++next) {
      const value = line.y[next];
      if (value < low) [low, first, second] = [value, Math.max(high, value), value];
      if (value > high) [high, first, second] = [value, Math.min(low, value), value];
    }
    values[2 * column] = first;
    values[2 * column + 1] = second;
  }
  return values;
}

/** @type {(values: Float64Array) => Values} */
const orNull = (values) => Array.from(values, (value) => (Number.isFinite(value) ? value : null));

/// Columns for uPlot: x, then the values of each line. Every point where they are few, otherwise what
/// `pixels` columns can show; either way no peak is lost and the cost of drawing is bounded.
/** @type {(lines: Line[], from: number, to: number, pixels: number) => Columns} */
export function windowOf(lines, from, to, pixels) {
  const ranges = lines.map((line) => line.range(from, to));
  const points = ranges.reduce((sum, [first, last]) => sum + last - first, 0);
  if (points <= 2 * pixels) {
    const x = everyX(lines, ranges);
    return [Array.from(x), ...lines.map((line) => orNull(x.map((at) => line.at(at))))];
  }
  const columns = Math.max(1, Math.floor(pixels));
  const width = (to - from) / columns;
  const x = Array.from({ length: 2 * columns }, (_, i) => from + (width * i) / 2);
  return [x, ...lines.map((line) => orNull(extremes(line, from, width, columns)))];
}
