// SPDX-License-Identifier: Apache-2.0
// The fields of a heat map, as far as that needs no page.
import { items } from './dom.js';
/** @import { HeatMap } from './types.js' */

/** @typedef {{ name: string, values: number[] }} Row */
/** @typedef {{ row: number, column: number }} Field */

/** @type {(value: unknown) => value is number} */
const isCount = (value) => Number.isSafeInteger(value) && /** @type {number} */ (value) > 0;

/** @type {(value: number, low: number, high: number) => number} */
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/// Rows of equal length; NaN where a value is missing. A value may stand for several columns, as their mean.
export class Grid {
  /// `each`: for how many columns a value stands; `count`: how many there are in all.
  /**
   * @param {Row[]} rows
   * @param {number} columns
   * @param {number} each
   * @param {number} count
   */
  constructor(rows, columns, each, count) {
    this.rows = rows;
    this.columns = columns;
    this.each = each;
    this.count = count;
    this.low = Infinity;
    this.high = -Infinity;
    this.hasGaps = false;
    for (const { values } of rows) {
      for (const value of values) {
        if (Number.isNaN(value)) this.hasGaps = true;
        if (value < this.low) this.low = value;
        if (value > this.high) this.high = value;
      }
    }
  }

  /** @param {HeatMap} data */
  static of(data) {
    const rows = items(data.rows).map(({ name, values }) =>
      ({ name: String(name ?? ''), values: Array.isArray(values) ? values : [] }));
    const columns = rows.reduce((most, { values }) => Math.max(most, values.length), 0);
    const each = isCount(data.columns_each) ? data.columns_each : 1;
    const most = columns * each;
    const isPossible = isCount(data.columns) && data.columns <= most && data.columns > most - each;
    const filled = rows.map(({ name, values }) => ({
      name,
      values: Array.from({ length: columns }, (_, i) =>
        (Number.isFinite(values[i]) ? /** @type {number} */ (values[i]) : NaN)),
    }));
    return new Grid(filled, columns, each, isPossible ? /** @type {number} */ (data.columns) : most);
  }

  get isEmpty() {
    return this.low > this.high;
  }

  /// From the first to the last column that a shown one stands for.
  /** @type {(column: number) => [first: number, last: number]} */
  rangeOf(column) {
    return [column * this.each, Math.min((column + 1) * this.each, this.count) - 1];
  }

  /// The shown column that stands for column `number`.
  /** @type {(number: number) => number} */
  columnOf(number) {
    return clamp(Math.floor(number / this.each), 0, this.columns - 1);
  }

  /// Between 0 and 1: how strong a value is. 0 is always weak, so that little does not look like much.
  /** @type {(value: number) => number} */
  share(value) {
    // Halved, so that their difference is always a number.
    const [low, high] = [Math.min(0, this.low) / 2, Math.max(0, this.high) / 2];
    return high > low ? (value / 2 - low) / (high - low) : 0;
  }

  /// With at most so many columns: neighbours become one, their mean.
  /** @type {(most: number) => Grid} */
  merged(most) {
    const together = Math.ceil(this.columns / Math.max(1, most));
    if (together <= 1) return this;
    const columns = Math.ceil(this.columns / together);
    const rows = this.rows.map(({ name, values }) =>
      ({ name, values: Array.from({ length: columns }, (_, i) => this.mean(values, i * together, together)) }));
    return new Grid(rows, columns, this.each * together, this.count);
  }

  /** @type {(values: number[], first: number, together: number) => number} */
  mean(values, first, together) {
    let [mean, weight] = [0, 0];
    for (let i = first; i < Math.min(first + together, this.columns); ++i) {
      if (Number.isNaN(values[i])) continue;
      const [from, to] = this.rangeOf(i);
      weight += to - from + 1;
      mean += (values[i] - mean) * ((to - from + 1) / weight);
    }
    return weight > 0 ? mean : NaN;
  }
}

/// Where a key leads from a field, {row, column} in shown columns; null if nowhere.
/** @type {(from: Field, key: string, grid: Grid) => Field | null} */
export function moved({ row, column }, key, grid) {
  /** @type {Record<string, [row: number, column: number]>} */
  const places = {
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    Home: [row, 0],
    End: [row, grid.columns - 1],
  };
  if (!places[key]) return null;
  const [toRow, toColumn] = places[key];
  return { row: clamp(toRow, 0, grid.rows.length - 1), column: clamp(toColumn, 0, grid.columns - 1) };
}
