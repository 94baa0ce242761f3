// SPDX-License-Identifier: Apache-2.0
// Text that has to fit. `ctx` measures it in the font it has.

/** @import { Pen } from './svg_canvas.js' */

/// As much of `text` as fits.
/** @type {(ctx: Pen, text: string, width: number) => string} */
export function fitted(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  const letters = [...text];
  let [fits, tooLong] = [0, letters.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (ctx.measureText(`${letters.slice(0, middle).join('')}\u2026`).width <= width) fits = middle;
    else tooLong = middle;
  }
  return `${letters.slice(0, fits).join('')}\u2026`;
}

/// `text` in at most so many lines, broken between words.
/** @type {(ctx: Pen, text: string, width: number, most: number) => string[]} */
export function wrapped(ctx, text, width, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const longer = lines.length > 0 ? `${lines[lines.length - 1]} ${word}` : null;
    if (longer !== null && (lines.length === most || ctx.measureText(longer).width <= width)) {
      lines[lines.length - 1] = longer;
    } else {
      lines.push(word);
    }
  }
  return lines.map((line) => fitted(ctx, line, width));
}
