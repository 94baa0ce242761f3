// SPDX-License-Identifier: Apache-2.0
import { addLine, runsOf } from './edges.js';
import { LINE_WIDTH } from './plot_chart.js';
import { seriesColour, seriesStyle } from './theme.js';
/** @import { Run } from './edges.js' */
/** @import { LineSet } from './line_set.js' */
/** @import { Stage } from './plot_stage.js' */

const RADIUS = 2.5;

/// Points that no line shows: those between gaps, or all where they are so few that each is shown.
/** @type {(runs: Run[], sparse: boolean) => number[]} */
function pointsOf(runs, sparse) {
  return runs.flatMap(([start, end]) =>
    (sparse || end - start === 1 ? Array.from({ length: end - start }, (_, i) => start + i) : []));
}

/// The lines of a picture; of a stack only what its areas do not show. `sparse`: with each of their points.
/** @type {(stage: Stage, lines: LineSet, sparse: boolean) => void} */
export function drawLines(stage, { lines, shown, stack }, sparse) {
  const { ctx, bbox, data: [x, ...columns] } = stage;
  const xs = x.map((at) => stage.valToPos(at, 'x'));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = LINE_WIDTH;
  ctx.lineJoin = 'round';
  columns.forEach((values, index) => {
    if (!shown[index]) return;
    const ys = values.map((value) => (value == null ? NaN : stage.valToPos(value, 'y')));
    const runs = runsOf(values);
    ctx.strokeStyle = ctx.fillStyle = seriesColour(index);
    if (!stack) {
      ctx.setLineDash(seriesStyle(index).dash);
      ctx.beginPath();
      addLine(ctx, xs, ys, runs, lines[index].step);
      ctx.stroke();
    }
    const points = pointsOf(runs, sparse && !stack);
    if (points.length === 0) return;
    ctx.beginPath();
    for (const i of points) {
      ctx.moveTo(xs[i] + RADIUS, ys[i]);
      ctx.arc(xs[i], ys[i], RADIUS, 0, 2 * Math.PI);
    }
    ctx.fill();
  });
  ctx.restore();
}
