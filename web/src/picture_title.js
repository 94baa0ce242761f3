// SPDX-License-Identifier: Apache-2.0
import { wrapped } from './plot_text.js';
import { colour } from './theme.js';
/** @import { Pen } from './svg_canvas.js' */

/// Around everything in a picture.
export const MARGIN = 16;
const FONT = '600 17px system-ui, sans-serif';
const LINE = 23;
const LINES = 3;
const GAP = 4;

/// The title at the top of a picture, in as many lines as it takes.
export class Title {
  /// `ctx`: what measures text.
  /**
   * @param {Pen} ctx
   * @param {string | undefined} text
   * @param {number} width
   */
  constructor(ctx, text, width) {
    ctx.font = FONT;
    this.lines = wrapped(ctx, text ?? '', width, LINES);
    this.height = this.lines.length * LINE + (this.lines.length > 0 ? GAP : 0);
  }

  /** @type {(ctx: Pen) => void} */
  draw(ctx) {
    ctx.save();
    ctx.font = FONT;
    ctx.fillStyle = colour('text');
    ctx.textBaseline = 'middle';
    this.lines.forEach((line, index) => ctx.fillText(line, MARGIN, MARGIN + (index + 0.5) * LINE));
    ctx.restore();
  }
}
