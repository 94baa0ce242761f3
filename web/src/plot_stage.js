// SPDX-License-Identifier: Apache-2.0

/** @import { Columns, Range } from './line.js' */
/** @import { Pen } from './svg_canvas.js' */

/** @typedef {{ left: number, top: number, width: number, height: number }} Box */
/** @typedef {Record<string, { min: number, max: number }>} Scales */
/**
 * What is drawn on: uPlot's chart in the page, or a Stage.
 * @typedef {object} Chart
 * @property {Pen} ctx
 * @property {Box} bbox
 * @property {Scales} scales
 * @property {Columns} data
 * @property {(value: number, scale: string, canvasPixels?: boolean) => number} valToPos
 */

/// Where a picture of a plot is drawn, with as much of a chart's interface as what draws on it needs. One of its
/// pixels is one of the page.
export class Stage {
  /// `bbox`: where the lines are; `x`, `y`: what is shown of them; `data`: columns as a chart has them.
  /**
   * @param {Pen} ctx
   * @param {Box} bbox
   * @param {Range} x
   * @param {Range} y
   * @param {Columns} data
   */
  constructor(ctx, bbox, x, y, data) {
    this.ctx = ctx;
    this.bbox = bbox;
    /** @type {Scales} */
    this.scales = { x: { min: x[0], max: x[1] }, y: { min: y[0], max: y[1] } };
    this.data = data;
  }

  /** @type {(value: number, scale: string) => number} */
  valToPos(value, scale) {
    const { left, top, width, height } = this.bbox;
    const { min, max } = this.scales[scale];
    const share = (value - min) / (max - min);
    return scale === 'x' ? left + share * width : top + (1 - share) * height;
  }
}

/// How many pixels of its canvas a chart has to one of the page.
/** @type {(chart: Chart) => number} */
export function ratioOf(chart) {
  return chart instanceof Stage ? 1 : window.devicePixelRatio || 1;
}
