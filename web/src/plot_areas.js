// SPDX-License-Identifier: Apache-2.0
import { seriesColour, seriesFill, seriesStyle } from './theme.js';

const EDGE = 1.5;

/// Stretches of `values` without gaps: where each begins and where it ends.
function runsOf(values) {
  const runs = [];
  for (let start = 0, end; start < values.length; start = end + 1) {
    for (end = start; end < values.length && values[end] != null; ++end);
    if (end > start) runs.push([start, end]);
  }
  return runs;
}

/// An edge from left to right, or back again. `step`: a value holds until the next one.
function addEdge(path, xs, ys, [start, end], step, back) {
  const point = (i) => {
    if (step && i + 1 < end && back) path.lineTo(xs[i + 1], ys[i]);
    path.lineTo(xs[i], ys[i]);
    if (step && i + 1 < end && !back) path.lineTo(xs[i + 1], ys[i]);
  };
  if (back) for (let i = end - 1; i >= start; --i) point(i);
  else for (let i = start; i < end; ++i) point(i);
}

/// Fills each part of a stack from the one below it up to its own edge. Edges are drawn from the top down: that
/// of a part without height leaves the one below it in sight.
export function drawAreas(chart, stack) {
  const { ctx, bbox, data: [x, ...edges] } = chart;
  const xs = x.map((at) => chart.valToPos(at, 'x', true));
  const ground = chart.valToPos(0, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const ratio = window.devicePixelRatio || 1;
  ctx.lineWidth = EDGE * ratio;
  ctx.lineJoin = 'round';
  let below = xs.map(() => ground);
  const outlines = [];
  edges.forEach((edge, index) => {
    if (!stack.shown[index]) return;
    const ys = edge.map((value) => (value == null ? ground : chart.valToPos(value, 'y', true)));
    const outline = new Path2D();
    ctx.fillStyle = seriesFill(index);
    for (const run of runsOf(edge)) {
      ctx.beginPath();
      addEdge(ctx, xs, ys, run, stack.step, false);
      addEdge(ctx, xs, below, run, stack.step, true);
      ctx.fill();
      outline.moveTo(xs[run[0]], ys[run[0]]);
      addEdge(outline, xs, ys, run, stack.step, false);
    }
    outlines.push({ outline, index });
    below = ys;
  });
  for (const { outline, index } of outlines.reverse()) {
    ctx.strokeStyle = seriesColour(index);
    ctx.setLineDash(seriesStyle(index).dash.map((length) => length * ratio));
    ctx.stroke(outline);
  }
  ctx.restore();
}
