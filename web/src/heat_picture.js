// SPDX-License-Identifier: Apache-2.0
import { drawHeat, heatScale } from './heat_paint.js';
import { legendText } from './heat_text.js';
import { MARGIN, Title } from './picture_title.js';
import { FONT } from './plot_chart.js';
import { fitted } from './plot_text.js';
import { colour } from './theme.js';
/** @import { HeatLayout } from './heat_paint.js' */
/** @import { Pen } from './svg_canvas.js' */

const LINE = 20;
const SCALE = { width: 120, height: 12, steps: 40 };
const GAP = 7;

/// A heat map as it is shown, with title and legend, for any canvas.
export class HeatPicture {
  /// `ctx`: what measures text.
  /**
   * @param {HeatLayout} layout
   * @param {Pen} ctx
   */
  constructor(layout, ctx) {
    this.layout = layout;
    this.width = layout.width + 2 * MARGIN;
    this.title = new Title(ctx, layout.data.title, layout.width);
    this.legend = legendText(layout.data, layout.grid);
    this.above = [[this.legend.measured, ...this.legend.notes].filter(Boolean).join(', ')].filter(Boolean);
    this.top = MARGIN + this.title.height + (this.above.length + 1) * LINE + 6;
    this.height = this.top + layout.height + MARGIN;
  }

  /** @type {(ctx: Pen) => void} */
  draw(ctx) {
    ctx.fillStyle = colour('card');
    ctx.fillRect(0, 0, this.width, this.height);
    this.title.draw(ctx);
    this.drawLegend(ctx);
    ctx.save();
    ctx.translate(MARGIN, this.top);
    drawHeat(ctx, this.layout, window.devicePixelRatio || 1);
    ctx.restore();
  }

  /** @type {(ctx: Pen) => void} */
  drawLegend(ctx) {
    ctx.save();
    ctx.font = FONT;
    ctx.textBaseline = 'middle';
    let middle = MARGIN + this.title.height + LINE / 2;
    ctx.fillStyle = colour('text-soft');
    for (const line of this.above) {
      ctx.fillText(fitted(ctx, line, this.layout.width), MARGIN, middle);
      middle += LINE;
    }
    const [from, to] = [this.legend.from, this.legend.to].map((text) => fitted(ctx, text, this.layout.width / 3));
    const left = Math.round(MARGIN + ctx.measureText(from).width) + GAP;
    ctx.fillText(from, MARGIN, middle);
    ctx.fillText(to, left + SCALE.width + GAP, middle);
    const scale = heatScale();
    const step = SCALE.width / SCALE.steps;
    for (let i = 0; i < SCALE.steps; ++i) {
      ctx.fillStyle = scale(i / (SCALE.steps - 1));
      ctx.fillRect(left + i * step, middle - SCALE.height / 2, step, SCALE.height);
    }
    ctx.restore();
  }
}
