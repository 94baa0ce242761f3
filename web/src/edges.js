// SPDX-License-Identifier: Apache-2.0
// Paths through points. A path is what has moveTo and lineTo.

/** @import { Values } from './types.js' */
/** @typedef {[start: number, end: number]} Run */
/** @typedef {Pick<CanvasPath, 'moveTo' | 'lineTo'>} Path */

/// Stretches of `values` without gaps: where each begins and where it ends.
/** @type {(values: Values) => Run[]} */
export function runsOf(values) {
  /** @type {Run[]} */
  const runs = [];
  for (let start = 0, end; start < values.length; start = end + 1) {
    for (end = start; end < values.length && values[end] != null; ++end);
    if (end > start) runs.push([start, end]);
  }
  return runs;
}

/// An edge from left to right, or back again. `step`: a value holds until the next one.
/**
 * @param {Path} path
 * @param {number[]} xs
 * @param {number[]} ys
 * @param {Run} run
 * @param {boolean} step
 * @param {boolean} back
 */
export function addEdge(path, xs, ys, [start, end], step, back) {
  /** @param {number} i */
  const point = (i) => {
    if (step && i + 1 < end && back) path.lineTo(xs[i + 1], ys[i]);
    path.lineTo(xs[i], ys[i]);
    if (step && i + 1 < end && !back) path.lineTo(xs[i + 1], ys[i]);
  };
  if (back) for (let i = end - 1; i >= start; --i) point(i);
  else for (let i = start; i < end; ++i) point(i);
}

/// A line along each of `runs`.
/** @type {(path: Path, xs: number[], ys: number[], runs: Run[], step: boolean) => void} */
export function addLine(path, xs, ys, runs, step) {
  for (const run of runs) {
    path.moveTo(xs[run[0]], ys[run[0]]);
    addEdge(path, xs, ys, run, step, false);
  }
}
