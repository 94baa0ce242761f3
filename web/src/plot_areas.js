// SPDX-License-Identifier: Apache-2.0
import { addEdge, addLine, runsOf } from './edges.js';
import { ratioOf } from './plot_stage.js';
import { seriesColour, seriesFill, seriesStyle } from './theme.js';
/** @import { Run } from './edges.js' */
/** @import { Chart } from './plot_stage.js' */
/** @import { Stack } from './stack.js' */

const EDGE = 1.5;

/// Fills each part of a stack from the one below it up to its own edge. Edges are drawn from the top down: that
/// of a part without height leaves the one below it in sight.
/** @type {(chart: Chart, stack: Stack) => void} */
export function drawAreas(chart, stack) {
  const { ctx, bbox, data: [x, ...edges] } = chart;
  const xs = x.map((at) => chart.valToPos(at, 'x', true));
  const ground = chart.valToPos(0, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const ratio = ratioOf(chart);
  ctx.lineWidth = EDGE * ratio;
  ctx.lineJoin = 'round';
  let below = xs.map(() => ground);
  /** @type {{ ys: number[], runs: Run[], index: number }[]} */
  const outlines = [];
  edges.forEach((edge, index) => {
    if (!stack.shown[index]) return;
    const ys = edge.map((value) => (value == null ? ground : chart.valToPos(value, 'y', true)));
    const runs = runsOf(edge);
    ctx.fillStyle = seriesFill(index);
    for (const run of runs) {
      ctx.beginPath();
      addEdge(ctx, xs, ys, run, stack.step, false);
      addEdge(ctx, xs, below, run, stack.step, true);
      ctx.fill();
    }
    outlines.push({ ys, runs, index });
    below = ys;
  });
  for (const { ys, runs, index } of outlines.reverse()) {
    ctx.strokeStyle = seriesColour(index);
    ctx.setLineDash(seriesStyle(index).dash.map((length) => length * ratio));
    ctx.beginPath();
    addLine(ctx, xs, ys, runs, stack.step);
    ctx.stroke();
  }
  ctx.restore();
}
