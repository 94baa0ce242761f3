// SPDX-License-Identifier: Apache-2.0
// Lines that are parts of one whole, one on the other, the first at the bottom.
import { everyX, Line } from './line.js';
/** @import { Columns } from './line.js' */

/// Pixels for which one point is enough: edges that go up and down within them would cover all areas.
const COLUMN = 2;

/** @type {(lines: Line[]) => Float64Array} */
function commonX(lines) {
  const [first] = lines;
  const isShared = lines.every(({ x }) => x.length === first.x.length && x.every((at, i) => at === first.x[i]));
  return isShared ? first.x : everyX(lines, lines.map(({ x }) => [0, x.length]));
}

/// What can be stacked: a value at each of `xs`, none below 0. A gap stays one.
/** @type {(line: Line, xs: Float64Array) => Float64Array} */
const valuesAt = (line, xs) =>
  (line.x === xs ? line.y : xs.map((x) => line.at(x))).map((value) => (value < 0 ? 0 : value));

/// Of the points of `line` from `first` to before `last` the highest of each column of `width` beginning at `from`,
/// and those where a stretch without any begins or ends.
/** @type {(line: Line, first: number, last: number, from: number, width: number) => number[]} */
function peaks({ x, y }, first, last, from, width) {
  /** @param {number} index */
  const columnOf = (index) => Math.floor((x[index] - from) / width);
  const kept = [];
  for (let start = first, end, before = -Infinity; start < last; start = end) {
    const column = columnOf(start);
    let high = start;
    for (end = start + 1; end < last && columnOf(end) === column; ++end) {
      if (y[end] > y[high] || Number.isNaN(y[high])) high = end;
    }
    if (column > before + 1 && high !== start) kept.push(start);
    kept.push(high);
    if ((end === last || columnOf(end) > column + 1) && high !== end - 1) kept.push(end - 1);
    before = column;
  }
  return kept;
}

export class Stack {
  /** @type {boolean[]} */ shown;
  /** @type {Line} */ sum;

  /// Requires: there is a line.
  /** @param {Line[]} lines */
  constructor(lines) {
    this.step = lines.every(({ step }) => step);
    this.x = commonX(lines);
    this.parts = lines.map((line) => valuesAt(line, this.x));
    this.show(lines.map(() => true));
  }

  /// Stacks the parts for which `shown` is true; the others are taken out. `sum` is their line.
  /** @type {(shown: boolean[]) => void} */
  show(shown) {
    this.shown = shown;
    const sums = new Float64Array(this.x.length).fill(NaN);
    for (const part of this.parts.filter((_, index) => shown[index])) {
      for (let i = 0; i < sums.length; ++i) {
        if (Number.isFinite(part[i])) sums[i] = (Number.isNaN(sums[i]) ? 0 : sums[i]) + part[i];
      }
    }
    this.sum = new Line({ x: this.x, y: sums, step: this.step });
  }

  /// Where the sum is highest; null where there is none.
  get peak() {
    const index = this.sum.y.indexOf(this.sum.high);
    return index < 0 ? null : this.x[index];
  }

  /// Columns for uPlot: x, then the upper edge of each part. All parts are taken at the same points, so that they
  /// add up at each of them; where there are too many for `pixels`, those at which the sum is highest.
  /** @type {(from: number, to: number, pixels: number) => Columns} */
  window(from, to, pixels) {
    const [first, last] = this.sum.range(from, to);
    const columns = Math.max(1, Math.floor(pixels / COLUMN));
    const kept = last - first <= columns
      ? Array.from({ length: last - first }, (_, i) => first + i)
      : peaks(this.sum, first, last, from, (to - from) / columns);
    const heights = new Float64Array(kept.length);
    const edges = this.parts.map((part, index) => kept.map((point, i) => {
      if (!this.shown[index] || Number.isNaN(this.sum.y[point])) return null;
      if (Number.isFinite(part[point])) heights[i] += part[point];
      return heights[i];
    }));
    return [kept.map((point) => this.x[point]), ...edges];
  }
}
