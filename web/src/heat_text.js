// SPDX-License-Identifier: Apache-2.0
// What is said of a heat map.
import { format } from './format.js';
/** @import { Field, Grid } from './heat_grid.js' */
/** @import { HeatMap } from './types.js' */

/// A mean of whole numbers is none.
/** @type {(value: number, data: HeatMap, grid: Grid) => string} */
export function valueText(value, { unit }, { each }) {
  return format(value, unit === 'count' && each > 1 ? 'number' : unit);
}

/** @type {(number: number, noun: string) => string} */
const counted = (number, noun) => `${format(number, 'count')} ${noun}${number === 1 ? '' : 's'}`;

/// One field: its row, its column or columns, and its value.
/** @type {(field: Field, data: HeatMap, grid: Grid) => string} */
export function fieldText({ row, column }, data, grid) {
  const [first, last] = grid.rangeOf(column).map((number) => format(number, 'count'));
  const value = grid.rows[row].values[column];
  const measured = data.measured || 'value';
  return [
    [data.y_label, grid.rows[row].name].filter(Boolean).join(' ') || `row ${row}`,
    `${data.x_label || 'column'} ${first === last ? first : `${first} to ${last}`}`,
    Number.isNaN(value) ? 'no value'
      : `${measured}${first === last ? '' : ', mean'}: ${valueText(value, data, grid)}`,
  ].join(' \u00b7 ');
}

/// What the legend says: both ends of the scale, and what else there is to know.
/**
 * @param {HeatMap} data
 * @param {Grid} grid
 */
export function legendText(data, grid) {
  /** @param {number} value */
  const text = (value) => valueText(value, data, grid);
  const [from, to] = [Math.min(0, grid.low), Math.max(0, grid.high)];
  const notes = [];
  if (grid.low > from) notes.push(`smallest ${text(grid.low)}`);
  if (grid.high < to) notes.push(`largest ${text(grid.high)}`);
  if (grid.each > 1) notes.push(`each field is the mean of ${format(grid.each, 'count')} columns`);
  return { measured: data.measured || '', from: text(from), to: text(to), notes };
}

/// The whole of it, for those who do not see it.
/** @type {(data: HeatMap, grid: Grid) => string} */
export function describe(data, grid) {
  /** @param {number} value */
  const text = (value) => valueText(value, data, grid);
  return `${data.title || 'Heat map'}. ${counted(grid.rows.length, 'row')} by ${counted(grid.count, 'column')}, `
    + `${data.measured || 'values'} from ${text(grid.low)} to ${text(grid.high)}. Arrow keys choose a field.`;
}
