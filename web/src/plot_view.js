// SPDX-License-Identifier: Apache-2.0

/** @import { Line, Range } from './line.js' */
/** @import { Limit } from './types.js' */

/// A limit far above everything would press the lines flat; then only the legend names it.
const FAR = 3;

/// The part of a plot that is shown.
export class View {
  /** @type {Range} */ x;
  /** @type {Range} */ fullX;
  /** @type {Range} */ y;
  /** @type {Range} */ fullY;
  /** @type {number} */ limit;

  /**
   * @param {Line[]} lines
   * @param {Limit} [limit]
   */
  constructor(lines, limit) {
    this.follow(lines, limit);
    this.fit(lines);
  }

  /// Takes in all of `lines` along x. What was zoomed stays as it is, unless nothing is left there.
  /** @type {(lines: Line[], limit?: Limit) => void} */
  follow(lines, limit) {
    const used = lines.filter((line) => line.x.length > 0);
    const first = Math.min(...used.map((line) => line.x[0]));
    const last = Math.max(...used.map((line) => line.x[line.x.length - 1]));
    const zoomed = this.x && this.chosenTime !== null;
    this.limit = limit?.value ?? NaN;
    this.fullX = Number.isFinite(last - first) ? [first, last > first ? last : first + 1] : [0, 1];
    /** @type {Range} */
    const kept = zoomed ? [Math.max(this.x[0], this.fullX[0]), Math.min(this.x[1], this.fullX[1])] : this.fullX;
    this.x = kept[1] > kept[0] ? [...kept] : [...this.fullX];
  }

  /// The part along x that was chosen; null where all of it is shown.
  /** @returns {Range | null} */
  get chosenTime() {
    return this.x[0] > this.fullX[0] || this.x[1] < this.fullX[1] ? [...this.x] : null;
  }

  get zoomed() {
    return this.chosenTime !== null
      || this.y[0] !== this.fullY[0] || this.y[1] !== this.fullY[1];
  }

  /// Makes all of `lines` fit in height, unless the height was chosen by hand.
  /** @param {Line[]} lines */
  fit(lines) {
    const chosen = this.y && (this.y[0] !== this.fullY[0] || this.y[1] !== this.fullY[1]);
    let low = Math.min(0, ...lines.map((line) => line.bottom));
    let high = Math.max(0, ...lines.map((line) => line.top));
    if (!Number.isFinite(low)) low = 0;
    if (!Number.isFinite(high)) high = 0;
    if (this.limit > high && this.limit <= FAR * high) high = this.limit;
    const margin = 0.06 * (high - low || 1);
    this.fullY = [low < 0 ? low - margin : 0, high + margin];
    if (!chosen) this.y = [...this.fullY];
  }

  reset() {
    this.x = [...this.fullX];
    this.y = [...this.fullY];
  }

  /// Shows what was selected; null leaves that direction as it is.
  /** @type {(x: Range | null, y: Range | null) => void} */
  show(x, y) {
    if (x) this.x = this.clamped(x);
    if (y && y[1] > y[0]) this.y = y;
  }

  /** @param {number} factor */
  scale(factor) {
    const middle = (this.x[0] + this.x[1]) / 2;
    const half = ((this.x[1] - this.x[0]) / 2) * factor;
    this.x = this.clamped([middle - half, middle + half]);
  }

  /** @param {number} share */
  shift(share) {
    const width = this.x[1] - this.x[0];
    const by = Math.max(this.fullX[0] - this.x[0], Math.min(share * width, this.fullX[1] - this.x[1]));
    this.x = [this.x[0] + by, this.x[1] + by];
  }

  /// Inside of everything, and never narrower than numbers can tell apart.
  /** @type {(range: Range) => Range} */
  clamped([from, to]) {
    const smallest = Math.max((this.fullX[1] - this.fullX[0]) * 1e-9, Math.abs(this.fullX[1]) * 1e-12);
    if (!(to - from > smallest)) return this.x;
    return [Math.max(from, this.fullX[0]), Math.min(to, this.fullX[1])];
  }
}
