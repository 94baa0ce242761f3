// SPDX-License-Identifier: Apache-2.0

/** @typedef {{ y: number, from: number, to: number }} Row */

const ROWS = 16;
const PITCH = 24;
const LARGEST_PITCH = 110;
const FEWEST_BYTES = 4096;

/** @type {(value: number, low: number, high: number) => number} */
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/// The part of a map that is shown. Columns of bytes run across, rows down; zooming widens both, rows
/// only until they are easy to hit.
export class MapView {
  /** @type {number} */ zoom;
  /** @type {number} */ left;
  /** @type {number} */ top;

  /**
   * @param {number} total
   * @param {number} width
   */
  constructor(total, width) {
    this.total = total;
    this.rows = clamp(Math.ceil(total / FEWEST_BYTES / 4), 1, ROWS);
    this.rowBytes = total / this.rows;
    this.width = width;
    this.height = this.rows * PITCH;
    this.reset();
  }

  reset() {
    this.zoom = 1;
    this.left = 0;
    this.top = 0;
  }

  get bytesPerPixel() {
    return this.rowBytes / this.zoom / this.width;
  }

  get shownBytes() {
    return this.rowBytes / this.zoom;
  }

  /// From one row to the next, in pixels.
  get pitch() {
    return Math.min(PITCH * Math.sqrt(this.zoom), LARGEST_PITCH);
  }

  get largestZoom() {
    return Math.max(1, this.rowBytes / FEWEST_BYTES);
  }

  /// The byte at a place on the canvas, or -1.
  /** @type {(x: number, y: number) => number} */
  byteAt(x, y) {
    const row = Math.floor(this.top + y / this.pitch);
    const column = this.left + x * this.bytesPerPixel;
    if (row < 0 || row >= this.rows || column < 0 || column >= this.rowBytes) return -1;
    return Math.min(row * this.rowBytes + column, this.total - 1);
  }

  /** @type {(x: number, y: number, factor: number) => void} */
  zoomAt(x, y, factor) {
    const column = this.left + x * this.bytesPerPixel;
    const row = this.top + y / this.pitch;
    this.zoom = clamp(this.zoom * factor, 1, this.largestZoom);
    this.left = column - x * this.bytesPerPixel;
    this.top = row - y / this.pitch;
    this.settle();
  }

  /** @type {(dx: number, dy: number) => void} */
  pan(dx, dy) {
    this.left -= dx * this.bytesPerPixel;
    this.top -= dy / this.pitch;
    this.settle();
  }

  /// Brings a stretch of bytes into sight, moving as little as that takes.
  /** @type {(from: number, size: number) => void} */
  reveal(from, size) {
    const row = Math.floor(from / this.rowBytes);
    const column = from - row * this.rowBytes;
    const width = Math.min(size, this.shownBytes / 2);
    if (column < this.left || column + width > this.left + this.shownBytes) {
      this.left = column + width / 2 - this.shownBytes / 2;
    }
    const shownRows = this.height / this.pitch;
    if (row < this.top || row + 1 > this.top + shownRows) this.top = row + 0.5 - shownRows / 2;
    this.settle();
  }

  settle() {
    this.left = clamp(this.left, 0, this.rowBytes - this.shownBytes);
    this.top = clamp(this.top, 0, Math.max(0, this.rows - this.height / this.pitch));
  }

  /// Each visible row with the bytes of it that are visible: {y, from, to}.
  /** @returns {Row[]} */
  visibleRows() {
    const rows = [];
    const last = Math.min(this.rows, Math.ceil(this.top + this.height / this.pitch));
    for (let row = Math.floor(this.top); row < last; ++row) {
      const from = row * this.rowBytes + this.left;
      rows.push({ y: (row - this.top) * this.pitch, from, to: from + this.shownBytes });
    }
    return rows;
  }
}
