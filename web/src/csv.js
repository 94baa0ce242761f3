// SPDX-License-Identifier: Apache-2.0
// Tables, plots and heat maps as comma-separated values (RFC 4180), for spreadsheets and programs.
import { plain } from './table_cells.js';
/** @import { Grid } from './heat_grid.js' */
/** @import { Line, Range } from './line.js' */
/** @import { Cell, Column, HeatMap, Plot, Unit, Values } from './types.js' */

/// What a spreadsheet would take for a formula.
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;

/// Units of figures that are saved as they are; the others say nothing more than the figure.
/** @type {(Unit | undefined)[]} */
const UNITS = ['bytes', 'seconds', 'percent'];

/// A number as it is, without a unit; empty where there is none. Text is never a formula.
/** @type {(value: unknown) => string} */
export function field(value) {
  if (value == null || Number.isNaN(value)) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** @type {(rows: unknown[][]) => string} */
export function csvOf(rows) {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/** @type {(name?: string, unit?: Unit) => string} */
function headOf(name, unit) {
  return UNITS.includes(unit) ? `${name ?? ''} (${unit})` : name ?? '';
}

/// `rows`: cells as a document has them; of a link the text is saved.
/** @type {(columns: Column[], rows: Cell[][]) => string} */
export function tableCsv(columns, rows) {
  return csvOf([columns.map(({ name, unit }) => headOf(name, unit)),
    ...rows.map((row) => columns.map((_, index) => plain(row[index])))]);
}

/// The points of `lines` from `from` to `to`, all at one x in one row; several at one x of one line in several rows.
/** @type {(lines: Line[], from: number, to: number) => Values[]} */
function pointsIn(lines, from, to) {
  const next = lines.map(({ x }) => {
    const first = x.findIndex((at) => at >= from);
    return first < 0 ? x.length : first;
  });
  /** @param {number} index */
  const place = (index) => lines[index].x[next[index]];
  /** @type {Values[]} */
  const rows = [];
  for (;;) {
    lines.forEach(({ x }, index) => {
      while (next[index] < x.length && Number.isNaN(place(index))) ++next[index];
    });
    let nearest = Infinity;
    lines.forEach((_, index) => {
      if (place(index) < nearest) nearest = place(index);
    });
    if (!(nearest <= to)) return rows;
    rows.push([nearest, ...lines.map(({ y }, index) => (place(index) === nearest ? y[next[index]++] : null))]);
  }
}

/// Every point of `lines` in a window along x, one column for each line. Nothing is put where a line has no point.
/** @type {(plot: Plot, lines: Line[], window: Range) => string} */
export function plotCsv({ x_label: label, x_unit: xUnit, y_unit: yUnit }, lines, [from, to]) {
  return csvOf([[headOf(label || 'x', xUnit), ...lines.map(({ name }) => headOf(name, yUnit))],
    ...pointsIn(lines, from, to)]);
}

/// A column for each row of a heat map, a row for each of its columns (Grid).
/** @type {(data: HeatMap, grid: Grid) => string} */
export function heatCsv({ x_label: label, unit }, grid) {
  const first = grid.each > 1 ? `${label || 'column'} (first of ${grid.each})` : label || 'column';
  return csvOf([[first, ...grid.rows.map(({ name }) => headOf(name, unit))],
    ...Array.from({ length: grid.columns }, (_, column) =>
      [grid.rangeOf(column)[0], ...grid.rows.map(({ values }) => values[column])])]);
}
