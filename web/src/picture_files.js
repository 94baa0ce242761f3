// SPDX-License-Identifier: Apache-2.0
// Pictures as files. A picture has a width, a height and draws itself on any canvas.
import { el } from './dom.js';
import { SvgCanvas } from './svg_canvas.js';
/** @import { Pen } from './svg_canvas.js' */

/** @typedef {{ width: number, height: number, draw(ctx: Pen): void }} Picture */

/// What draws on a canvas of its own, or measures text.
/** @type {(width: number, height: number) => CanvasRenderingContext2D} */
export const canvasOf = (width, height) =>
  /** @type {CanvasRenderingContext2D} */ (el('canvas', { width, height }).getContext('2d'));

/// As sharp as the screen.
/** @type {(picture: Picture) => Promise<Blob | null>} */
export function pngOf(picture) {
  const ratio = window.devicePixelRatio || 1;
  const ctx = canvasOf(Math.round(picture.width * ratio), Math.round(picture.height * ratio));
  ctx.scale(ratio, ratio);
  picture.draw(ctx);
  return new Promise((resolve) => { ctx.canvas.toBlob(resolve, 'image/png'); });
}

/// `title` is its name for those who do not see it.
/** @type {(picture: Picture, title: string) => string} */
export function svgOf(picture, title) {
  const measuring = canvasOf(1, 1);
  const canvas = new SvgCanvas((font, text) => {
    measuring.font = font;
    return measuring.measureText(text).width;
  });
  picture.draw(canvas);
  return canvas.fileOf(picture.width, picture.height, title);
}
