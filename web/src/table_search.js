// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are looked for: words found anywhere in them, and values of columns.
import { compareCells, textOf } from './table_cells.js';
/** @import { Cell, Column, Unit } from './types.js' */

/// The words of a query, in small letters.
/** @type {(query: string) => string[]} */
export function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter((word) => word !== '');
}

/// Each row as a text to search in, in small letters, with a line for each cell.
/** @type {(rows: Cell[][], columns: Column[]) => string[]} */
export function textsOf(rows, columns) {
  return rows.map((row) => columns.map(({ unit }, i) => textOf(row[i], unit)).join('\n').toLowerCase());
}

/// The different texts of a column in the order of its values; at the end an empty one, where a cell is empty.
/** @type {(rows: Cell[][], column: number, unit: Unit) => string[]} */
export function valuesOf(rows, column, unit) {
  const values = new Map(rows.map((row) => [textOf(row[column], unit), row[column]]));
  const empty = values.delete('');
  const texts = [...values].sort(([, a], [, b]) => compareCells(a, b)).map(([text]) => text);
  return empty ? [...texts, ''] : texts;
}

/// Whether a row has, in the columns of `filters` (column to text), exactly these texts.
/** @type {(row: Cell[], filters: Map<number, string>, columns: Column[]) => boolean} */
export function passes(row, filters, columns) {
  return [...filters].every(([index, text]) => textOf(row[index], columns[index].unit) === text);
}

/// How many rows of all are shown.
/** @type {(found: number, total: number) => string} */
export function countText(found, total) {
  /** @param {number} value */
  const number = (value) => textOf(value, 'count');
  const rows = total === 1 ? 'row' : 'rows';
  return found === total ? `${number(total)} ${rows}` : `${number(found)} of ${number(total)} ${rows}`;
}
