// SPDX-License-Identifier: Apache-2.0
// Draws the fields of a heat map with the names of rows and the numbers of columns, on any canvas.
import { stepsIn, ticks } from './format.js';
import { FONT } from './plot_chart.js';
import { fitted } from './plot_text.js';
import { colour, rgb } from './theme.js';
/** @import { Field, Grid } from './heat_grid.js' */
/** @import { Pen } from './svg_canvas.js' */
/** @import { HeatMap } from './types.js' */

const STOPS = 5;
/// Height of all rows, about, and of one.
const HEIGHT = 420;
const PITCH = { least: 6, most: 28 };
/// Names take up at most this share of the width, and so many pixels.
const NAMES = { share: 0.34, most: 260 };
const NAME_LINE = 14;
const GAP = 8;
const LINE = 20;
/// Beside the fields, for the frame around one of them.
const EDGE = 4;
/// Between the numbers of columns, at least.
const NUMBER_SPACE = 48;
/// A field this wide stands apart from the next one.
const WIDE = 6;

/// Fields narrower than this could not be told apart.
export const NARROWEST = 2;

/// The colour of a share between 0 and 1, as #rrggbb.
/** @type {() => (share: number) => string} */
export function heatScale() {
  const stops = Array.from({ length: STOPS }, (_, i) => rgb(colour(`heat-${i + 1}`)));
  return (share) => {
    const place = Math.max(0, Math.min(1, share)) * (STOPS - 1);
    const index = Math.min(STOPS - 2, Math.floor(place));
    const parts = stops[index].map((from, c) => Math.round(from + (stops[index + 1][c] - from) * (place - index)));
    return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  };
}

/// Where everything is in a picture of `width`. `ctx`: what measures text.
export class HeatLayout {
  /**
   * @param {Pen} ctx
   * @param {HeatMap} data
   * @param {Grid} whole
   * @param {number} width
   */
  constructor(ctx, data, whole, width) {
    ctx.font = FONT;
    const texts = [data.y_label ?? '', ...whole.rows.map(({ name }) => name)];
    const widest = Math.max(...texts.map((text) => ctx.measureText(text).width));
    this.data = data;
    this.width = width;
    this.names = Math.ceil(Math.min(widest, NAMES.share * width, NAMES.most));
    this.left = this.names > 0 ? this.names + GAP : EDGE;
    this.inside = Math.max(NARROWEST, width - this.left - EDGE);
    this.grid = whole.merged(Math.floor(this.inside / NARROWEST));
    this.top = data.y_label ? LINE : 0;
    const rows = this.grid.rows.length;
    this.pitch = Math.max(PITCH.least, Math.min(PITCH.most, Math.floor(HEIGHT / rows)));
    this.bottom = this.top + rows * this.pitch;
    this.height = this.bottom + LINE + (data.x_label ? LINE : 0);
    this.fieldWidth = this.inside / this.grid.columns;
    this.gap = { x: this.fieldWidth >= WIDE ? 1 : 0, y: this.pitch > WIDE ? 2 : 1 };
  }

  /// The field at a place, {row, column}; null outside.
  /** @type {(x: number, y: number) => Field | null} */
  at(x, y) {
    const column = Math.floor((x - this.left) / this.fieldWidth);
    const row = Math.floor((y - this.top) / this.pitch);
    const isInside = column >= 0 && column < this.grid.columns && row >= 0 && row < this.grid.rows.length;
    return isInside ? { row, column } : null;
  }

  /// What the fields of a row from `column` to before `end` cover, on whole pixels of a screen with so many to one.
  /**
   * @param {Field & { end?: number }} fields
   * @param {number} ratio
   */
  box({ row, column, end = column + 1 }, ratio) {
    /** @param {number} place */
    const whole = (place) => Math.round(place * ratio) / ratio;
    const [left, right] = [column, end].map((at) => whole(this.left + at * this.fieldWidth));
    const [top, bottom] = [row, row + 1].map((at) => whole(this.top + at * this.pitch));
    return { left, top, width: right - left - this.gap.x, height: bottom - top - this.gap.y };
  }
}

/// Fields of one colour that touch are drawn as one; those without a value are left empty and outlined.
/** @type {(ctx: Pen, layout: HeatLayout, row: number, scale: (share: number) => string, ratio: number) => void} */
function drawRow(ctx, layout, row, scale, ratio) {
  const { grid, gap } = layout;
  const { values } = grid.rows[row];
  const paints = values.map((value) => (Number.isNaN(value) ? null : scale(grid.share(value))));
  for (let column = 0, end; column < values.length; column = end) {
    const isJoined = gap.x === 0 || paints[column] === null;
    for (end = column + 1; isJoined && end < values.length && paints[end] === paints[column];) ++end;
    const { left, top, width, height } = layout.box({ row, column, end }, ratio);
    if (paints[column] === null) {
      ctx.beginPath();
      ctx.rect(left + 0.5, top + 0.5, Math.max(0, width - 1), height - 1);
      ctx.stroke();
    } else {
      ctx.fillStyle = /** @type {string} */ (paints[column]);
      ctx.fillRect(left, top, width, height);
    }
  }
}

/** @type {(ctx: Pen, layout: HeatLayout) => void} */
function drawNames(ctx, { data, grid, names, top, pitch }) {
  ctx.textAlign = 'right';
  ctx.fillStyle = colour('text-soft');
  if (data.y_label) ctx.fillText(fitted(ctx, data.y_label, names), names, LINE / 2 - 2);
  ctx.fillStyle = colour('text');
  const every = Math.ceil(NAME_LINE / pitch);
  for (let row = 0; row < grid.rows.length; row += every) {
    ctx.fillText(fitted(ctx, grid.rows[row].name, names), names, top + (row + 0.5) * pitch - 1);
  }
}

/** @type {(ctx: Pen, layout: HeatLayout) => void} */
function drawNumbers(ctx, { data, grid, left, inside, bottom, fieldWidth, width }) {
  ctx.textAlign = 'center';
  ctx.fillStyle = colour('text-soft');
  const places = stepsIn(0, grid.count, 'count', inside, NUMBER_SPACE).filter((place) => place < grid.count);
  const texts = ticks(places, 'count');
  places.forEach((place, index) => {
    const middle = left + (grid.columnOf(place) + 0.5) * fieldWidth;
    const half = ctx.measureText(texts[index]).width / 2;
    ctx.fillText(texts[index], Math.min(middle, width - half), bottom + LINE / 2);
  });
  if (data.x_label) ctx.fillText(fitted(ctx, data.x_label, inside), left + inside / 2, bottom + 1.5 * LINE);
}

/// `ratio`: how many pixels of the canvas there are to one of the page.
/** @type {(ctx: Pen, layout: HeatLayout, ratio: number) => void} */
export function drawHeat(ctx, layout, ratio) {
  ctx.save();
  ctx.font = FONT;
  ctx.textBaseline = 'middle';
  ctx.lineWidth = 1;
  ctx.strokeStyle = colour('heat-empty');
  const scale = heatScale();
  layout.grid.rows.forEach((_, row) => drawRow(ctx, layout, row, scale, ratio));
  drawNames(ctx, layout);
  drawNumbers(ctx, layout);
  ctx.restore();
}
