// SPDX-License-Identifier: Apache-2.0
// What the cells of a table say, and their order.
import { format } from './format.js';
/** @import { Cell, Link, Unit } from './types.js' */

const collator = new Intl.Collator('en', { numeric: true });

/// What a cell shows: of a link, its text.
/** @type {(value: Cell | undefined) => string | number | null | undefined} */
export function plain(value) {
  return value != null && typeof value === 'object' ? String(value.text ?? '') : value;
}

/// A cell as it is read; empty where there is no value.
/** @type {(value: Cell | undefined, unit?: Unit) => string} */
export function textOf(value, unit) {
  return value == null ? '' : format(plain(value), unit);
}

/// Within the server that the page came from; anything else is no link.
/** @type {(path: unknown) => path is string} */
export function isPath(path) {
  return typeof path === 'string' && /^[a-z0-9][a-z0-9/,-]*$/.test(path);
}

/// Links are the same when they lead to the same place under the same text.
/** @type {(a: Cell, b: Cell) => boolean} */
export function sameCell(a, b) {
  if (a === b) return true;
  const links = [a, b].every((value) => value != null && typeof value === 'object');
  return links && /** @type {Link} */ (a).text === /** @type {Link} */ (b).text
    && /** @type {Link} */ (a).path === /** @type {Link} */ (b).path;
}

/// What a row is known by when its table gets new data: where its first cell leads to, or what that cell says.
/** @type {(row: Cell[]) => string} */
export function keyOf(row) {
  const [first] = row;
  const path = /** @type {Link} */ (first)?.path;
  return isPath(path) ? `/${path}` : String(plain(first) ?? '');
}

/** @type {(a: Cell, b: Cell) => number} */
export function compareCells(a, b) {
  const [left, right] = [plain(a), plain(b)];
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return collator.compare(String(left), String(right));
}

/// The indices of `rows` by one column; rows without a value come last either way.
/** @type {(rows: Cell[][], column: number, descending: boolean) => number[]} */
export function sortedBy(rows, column, descending) {
  /** @param {number} row */
  const missing = (row) => rows[row][column] == null;
  return [...rows.keys()].sort((a, b) => {
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b)) || a - b;
    const order = compareCells(rows[a][column], rows[b][column]);
    return (descending ? -order : order) || a - b;
  });
}
