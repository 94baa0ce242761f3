// SPDX-License-Identifier: Apache-2.0
// Axes and grid of a picture, like those of the chart in the page.
import { stepsIn, ticks } from './format.js';
import { FONT, LABEL_SPACE, labelWidth } from './plot_chart.js';
import { fitted } from './plot_text.js';
import { colour } from './theme.js';
/** @import { Range } from './line.js' */
/** @import { Box, Stage } from './plot_stage.js' */
/** @import { View } from './plot_view.js' */
/** @import { Plot, Unit } from './types.js' */

/** @typedef {{ places: number[], texts: string[] }} Axis */

const TICK = 5;
const GAP = 5;
/// Height of an axis with its numbers, and of its label.
const NUMBERS = 30;
const LABEL = 20;

/** @type {(range: Range, unit: Unit, pixels: number, space: number) => Axis} */
function axisOf([from, to], unit, pixels, space) {
  const places = stepsIn(from, to, unit, pixels, space);
  return { places, texts: ticks(places, unit) };
}

/// Where the lines are in a picture `width` by `height` at (`left`, `top`), and the numbers of both axes.
/** @type {(plot: Plot, view: View, place: Box, above: number) => { bbox: Box, x: Axis, y: Axis }} */
export function layAxes(plot, view, { left, top, width, height }, above) {
  const below = NUMBERS + (plot.x_label ? LABEL : 0);
  const inside = height - above - below;
  const y = axisOf(view.y, plot.y_unit, inside, LABEL_SPACE.y);
  const beside = labelWidth(null, y.texts) + (plot.y_label ? LABEL : 0);
  const bbox = { left: left + beside, top: top + above, width: Math.max(1, width - beside - 16), height: inside };
  return { bbox, x: axisOf(view.x, plot.x_unit, bbox.width, LABEL_SPACE.x), y };
}

/// On the middle of a pixel, where a thin line is sharp.
/** @param {number} place */
const sharp = (place) => Math.floor(place) + 0.5;

/** @type {(stage: Stage, plot: Plot, axes: { x: Axis, y: Axis }) => void} */
export function drawAxes(stage, plot, { x, y }) {
  const { ctx, bbox } = stage;
  const [right, bottom] = [bbox.left + bbox.width, bbox.top + bbox.height];
  ctx.save();
  ctx.lineWidth = 1;
  ctx.strokeStyle = colour('grid');
  ctx.fillStyle = colour('text-soft');
  ctx.font = FONT;
  ctx.beginPath();
  ctx.textAlign = 'center';
  ctx.textBaseline = 'top';
  x.places.forEach((place, index) => {
    const at = sharp(stage.valToPos(place, 'x'));
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bottom + TICK);
    ctx.fillText(x.texts[index], at, bottom + TICK + GAP);
  });
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  y.places.forEach((place, index) => {
    const at = sharp(stage.valToPos(place, 'y'));
    ctx.moveTo(bbox.left - TICK, at);
    ctx.lineTo(right, at);
    ctx.fillText(y.texts[index], bbox.left - TICK - GAP, at);
  });
  ctx.stroke();
  ctx.textAlign = 'center';
  if (plot.x_label) {
    const text = fitted(ctx, plot.x_label, bbox.width);
    ctx.fillText(text, bbox.left + bbox.width / 2, bottom + NUMBERS + LABEL / 2);
  }
  if (plot.y_label) {
    ctx.translate(bbox.left - labelWidth(null, y.texts) - LABEL / 2, bbox.top + bbox.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(fitted(ctx, plot.y_label, bbox.height), 0, 0);
  }
  ctx.restore();
}
