// SPDX-License-Identifier: Apache-2.0
// What a plot shows besides its lines. Coordinates are the canvas's own pixels.
import { format } from './format.js';
import { ratioOf } from './plot_stage.js';
import { colour, seriesColour } from './theme.js';
/** @import { Line } from './line.js' */
/** @import { Chart } from './plot_stage.js' */
/** @import { Limit, Mark, Unit } from './types.js' */

const LONGEST_LABEL = 48;

/** @type {(value: number, range: { min: number, max: number }) => boolean} */
const isWithin = (value, { min, max }) => Number.isFinite(value) && value >= min && value <= max;

/// Room for labels above the lines, in pixels of the page.
export const MARK_ROOM = 20;

/** @param {Chart} chart */
function begin(chart) {
  const { ctx, bbox } = chart;
  const ratio = ratioOf(chart);
  ctx.save();
  ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  ctx.lineWidth = 1.5 * ratio;
  ctx.textAlign = 'left';
  return { ctx, bbox, ratio };
}

/// Shades between which values each shown line lies, below the lines themselves.
/** @type {(chart: Chart, lines: Line[], shown: boolean[]) => void} */
export function drawBands(chart, lines, shown) {
  const banded = lines.map((line, index) => ({ line, index }))
    .filter(({ line, index }) => line.hasBand && shown[index]);
  if (banded.length === 0) return;
  const { ctx, bbox } = begin(chart);
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = 0.16;
  for (const { line, index } of banded) {
    /** @type {(i: number, values: Float64Array) => [x: number, y: number]} */
    const at = (i, values) => [chart.valToPos(line.x[i], 'x', true), chart.valToPos(values[i], 'y', true)];
    ctx.fillStyle = seriesColour(index);
    ctx.beginPath();
    const [first, last] = line.range(chart.scales.x.min, chart.scales.x.max);
    for (let i = first; i < last; ++i) ctx.lineTo(...at(i, line.bandHigh));
    for (let i = last - 1; i >= first; --i) ctx.lineTo(...at(i, line.bandLow));
    ctx.fill();
  }
  ctx.restore();
}

/** @type {(chart: Chart, limit: Limit | undefined, unit: Unit) => void} */
export function drawLimit(chart, limit, unit) {
  if (!limit || !isWithin(limit.value, chart.scales.y)) return;
  const { ctx, bbox, ratio } = begin(chart);
  const y = Math.round(chart.valToPos(limit.value, 'y', true));
  ctx.strokeStyle = ctx.fillStyle = colour('limit');
  ctx.setLineDash([7 * ratio, 5 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.textAlign = 'right';
  ctx.textBaseline = y - bbox.top > 20 * ratio ? 'bottom' : 'top';
  const gap = ctx.textBaseline === 'bottom' ? -4 * ratio : 4 * ratio;
  ctx.fillText(`${limit.name} ${format(limit.value, unit)}`, bbox.left + bbox.width - 6 * ratio, y + gap);
  ctx.restore();
}

/// A line down at each mark; a label where it does not cover the one before.
/** @type {(chart: Chart, marks: Mark[]) => void} */
export function drawMarks(chart, marks) {
  if (marks.length === 0) return;
  const { ctx, bbox, ratio } = begin(chart);
  ctx.strokeStyle = ctx.fillStyle = colour('mark');
  ctx.textBaseline = 'bottom';
  let free = bbox.left;
  for (const { x: at, label: full = '' } of [...marks].sort((a, b) => a.x - b.x)) {
    const label = full.length > LONGEST_LABEL ? `${full.slice(0, LONGEST_LABEL - 1)}\u2026` : full;
    if (!isWithin(at, chart.scales.x)) continue;
    const x = Math.round(chart.valToPos(at, 'x', true));
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top - 4 * ratio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const width = ctx.measureText(label).width + 12 * ratio;
    const left = Math.min(x, bbox.left + bbox.width - width);
    if (left < free) continue;
    free = left + width;
    ctx.fillText(label, left, bbox.top - 5 * ratio);
  }
  ctx.restore();
}
