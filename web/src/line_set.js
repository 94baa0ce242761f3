// SPDX-License-Identifier: Apache-2.0
import { items } from './dom.js';
import { Line, windowOf } from './line.js';
import { Stack } from './stack.js';
/** @import { Columns } from './line.js' */
/** @import { Plot } from './types.js' */

/// By which a line is known again in newer data: its name, numbered where others have the same.
/** @type {(lines: Line[]) => string[]} */
function keysOf(lines) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return lines.map(({ name }) => {
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return `${count} ${name}`;
  });
}

/// The lines of a plot, beside each other or stacked, some of them hidden.
export class LineSet {
  /// `hidden`: what another set has hidden.
  /**
   * @param {Plot} plot
   * @param {Set<string>} [hidden]
   */
  constructor(plot, hidden = new Set()) {
    this.lines = items(plot.lines).map((line) => new Line(line));
    this.keys = keysOf(this.lines);
    this.hidden = hidden;
    this.stack = plot.stacked && this.lines.length > 0 ? new Stack(this.lines) : null;
    if (hidden.size > 0) this.stack?.show(this.shown);
  }

  get isEmpty() {
    return !this.lines.some(({ y }) => y.some(Number.isFinite));
  }

  get shown() {
    return this.keys.map((key) => !this.hidden.has(key));
  }

  /// Hides a line or shows it again; returns whether it is shown now.
  /** @type {(index: number) => boolean} */
  toggle(index) {
    const key = this.keys[index];
    if (!this.hidden.delete(key)) this.hidden.add(key);
    this.stack?.show(this.shown);
    return !this.hidden.has(key);
  }

  /// What has to fit in height.
  get outlines() {
    return this.stack ? [this.stack.sum] : this.lines.filter((_, index) => this.shown[index]);
  }

  /// The values at `x`, of a stack also their sum. Without an `x` the peaks; of a stack what the parts were when
  /// their sum was highest, so that these add up too.
  /** @param {number | null} x */
  read(x) {
    const at = x ?? this.stack?.peak;
    return {
      values: this.lines.map((line) => (at == null ? line.high : line.at(at))),
      sum: at == null ? null : this.stack?.sum.at(at),
    };
  }

  /// Columns for uPlot.
  /** @type {(from: number, to: number, pixels: number) => Columns} */
  window(from, to, pixels) {
    return this.stack ? this.stack.window(from, to, pixels) : windowOf(this.lines, from, to, pixels);
  }
}
