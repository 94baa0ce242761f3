// SPDX-License-Identifier: Apache-2.0
import { items } from './dom.js';
import { format } from './format.js';
import { MARGIN, Title } from './picture_title.js';
import { drawAreas } from './plot_areas.js';
import { drawAxes, layAxes } from './plot_axes.js';
import { FONT, HEIGHT, roomAbove } from './plot_chart.js';
import { drawLines } from './plot_lines.js';
import { drawBands, drawLimit, drawMarks } from './plot_overlay.js';
import { Stage } from './plot_stage.js';
import { fitted } from './plot_text.js';
import { colour, seriesColour, seriesFill, seriesStyle } from './theme.js';
/** @import { Columns } from './line.js' */
/** @import { LineSet } from './line_set.js' */
/** @import { View } from './plot_view.js' */
/** @import { Pen } from './svg_canvas.js' */
/** @import { Plot } from './types.js' */

/** @typedef {{ plot: Plot, lines: LineSet, view: View, columns: Columns, sparse: boolean }} Shown */
/** @typedef {{ text: string, index: number, x: number, y: number }} Entry */

const ENTRY_FONT = FONT.replace('12px', '13px');
const ENTRY_LINE = 21;
const SWATCH = 18;
const SWATCH_GAP = 7;
const ENTRY_GAP = 18;

/// A plot as it is shown, with title and legend, for any canvas.
export class Picture {
  /// `shown`: plot, lines (LineSet), view, columns and whether they are sparse. `ctx`: what measures text.
  /**
   * @param {Shown} shown
   * @param {number} width
   * @param {Pen} ctx
   */
  constructor(shown, width, ctx) {
    this.shown = shown;
    this.width = width + 2 * MARGIN;
    this.title = new Title(ctx, shown.plot.title, width);
    ctx.font = ENTRY_FONT;
    this.entries = this.layEntries(ctx, width);
    const last = this.entries[this.entries.length - 1];
    this.legendTop = MARGIN + this.title.height;
    this.chartTop = this.legendTop + (last ? last.y + ENTRY_LINE + 6 : 0);
    this.height = this.chartTop + HEIGHT + MARGIN;
  }

  /// The lines that are shown and the limit, side by side as far as there is room.
  /** @type {(ctx: Pen, width: number) => Entry[]} */
  layEntries(ctx, width) {
    const { plot, lines: { lines, shown } } = this.shown;
    const names = lines.map(({ name }, index) => ({ name, index })).filter(({ index }) => shown[index]);
    if (plot.limit) names.push({ name: `${plot.limit.name} ${format(plot.limit.value, plot.y_unit)}`, index: -1 });
    let [x, y] = [0, 0];
    return names.map(({ name, index }) => {
      const text = fitted(ctx, name, width - SWATCH - SWATCH_GAP);
      const whole = SWATCH + SWATCH_GAP + ctx.measureText(text).width;
      if (x > 0 && x + whole > width) [x, y] = [0, y + ENTRY_LINE];
      const entry = { text, index, x, y };
      x += whole + ENTRY_GAP;
      return entry;
    });
  }

  /** @param {Pen} ctx */
  draw(ctx) {
    const { plot, lines, view, columns, sparse } = this.shown;
    ctx.fillStyle = colour('card');
    ctx.fillRect(0, 0, this.width, this.height);
    this.title.draw(ctx);
    this.drawLegend(ctx);
    const place = { left: MARGIN, top: this.chartTop, width: this.width - 2 * MARGIN, height: HEIGHT };
    const axes = layAxes(plot, view, place, roomAbove(plot));
    const stage = new Stage(ctx, axes.bbox, view.x, view.y, columns);
    drawAxes(stage, plot, axes);
    if (lines.stack) drawAreas(stage, lines.stack);
    else drawBands(stage, lines.lines, lines.shown);
    drawLines(stage, lines, sparse);
    drawLimit(stage, plot.limit, plot.y_unit);
    drawMarks(stage, items(plot.marks));
  }

  /** @param {Pen} ctx */
  drawLegend(ctx) {
    ctx.save();
    ctx.font = ENTRY_FONT;
    ctx.textBaseline = 'middle';
    for (const { text, index, x, y } of this.entries) {
      const [left, middle] = [MARGIN + x, this.legendTop + y + ENTRY_LINE / 2];
      this.drawSwatch(ctx, index, left, middle);
      ctx.fillStyle = colour('text');
      ctx.fillText(text, left + SWATCH + SWATCH_GAP, middle);
    }
    ctx.restore();
  }

  /// Of the limit where `index` is -1.
  /** @type {(ctx: Pen, index: number, left: number, middle: number) => void} */
  drawSwatch(ctx, index, left, middle) {
    const isArea = index >= 0 && this.shown.lines.stack;
    ctx.strokeStyle = index < 0 ? colour('limit') : seriesColour(index);
    ctx.lineWidth = isArea ? 1.5 : 3;
    ctx.setLineDash(index < 0 ? [5, 3] : seriesStyle(index).dash.map((length) => length / 2));
    ctx.beginPath();
    if (isArea) {
      ctx.rect(left + 3, middle - 6, 12, 12);
      ctx.fillStyle = seriesFill(index);
      ctx.fill();
    } else {
      ctx.moveTo(left, middle);
      ctx.lineTo(left + SWATCH, middle);
    }
    ctx.stroke();
  }
}
