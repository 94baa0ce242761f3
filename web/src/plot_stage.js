// SPDX-License-Identifier: Apache-2.0

/// Where a picture of a plot is drawn, with as much of a chart's interface as what draws on it needs. One of its
/// pixels is one of the page.
export class Stage {
  /// `bbox`: where the lines are; `x`, `y`: what is shown of them; `data`: columns as a chart has them.
  constructor(ctx, bbox, x, y, data) {
    this.ctx = ctx;
    this.bbox = bbox;
    this.scales = { x: { min: x[0], max: x[1] }, y: { min: y[0], max: y[1] } };
    this.data = data;
  }

  valToPos(value, scale) {
    const { left, top, width, height } = this.bbox;
    const { min, max } = this.scales[scale];
    const share = (value - min) / (max - min);
    return scale === 'x' ? left + share * width : top + (1 - share) * height;
  }
}

/// How many pixels of its canvas a chart has to one of the page.
export function ratioOf(chart) {
  return chart instanceof Stage ? 1 : window.devicePixelRatio || 1;
}
