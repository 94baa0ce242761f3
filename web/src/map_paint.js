// SPDX-License-Identifier: Apache-2.0
// Draws a map. Each row is first mixed into a line of pixels, so that blocks too small to see still
// count by their bytes, and the cost does not grow with what is not visible.
import { bytes } from './format.js';
import { PENDING, UNMAPPED } from './map_layout.js';
import { colour } from './theme.js';
/** @import { Colours } from './map_colours.js' */
/** @import { Layout, Placed } from './map_layout.js' */
/** @import { MapView, Row } from './map_view.js' */
/** @import { Colour } from './theme.js' */

/** @typedef {{ slack: string, edge: string, card: string, soft: string, hatch: Record<number, CanvasPattern> }} Inks */

const GAP = 4;
const HEADER = 15;
const ROOM_FOR_HEADER = 46;
const WIDE = 4;

/// Where in its row the blocks are drawn: below a header, once there is room for one.
/** @param {MapView} view */
export function strip(view) {
  const top = view.pitch >= ROOM_FOR_HEADER ? HEADER : 0;
  return { top, height: view.pitch - top - GAP };
}

/// The colours of one row, a pixel per column.
/** @type {(row: Row, layout: Layout, colours: Colours, pixels: number) => Float32Array} */
function mix(row, layout, { classOf, classes }, pixels) {
  const sums = new Float32Array(pixels * 4);
  const perByte = pixels / (row.to - row.from);
  for (let block = layout.blockAt(row.from); block >= 0 && block < layout.count; ++block) {
    const left = Math.max(0, (layout.start[block] - row.from) * perByte);
    const right = Math.min(pixels, (layout.start[block] + layout.size[block] - row.from) * perByte);
    if (left >= pixels) break;
    const [red, green, blue] = classes[classOf[block]].rgb;
    const last = Math.min(pixels - 1, Math.floor(right));
    for (let x = Math.floor(left); x <= last; ++x) {
      const share = Math.min(right, x + 1) - Math.max(left, x);
      sums[4 * x] += red * share;
      sums[4 * x + 1] += green * share;
      sums[4 * x + 2] += blue * share;
      sums[4 * x + 3] += share;
    }
  }
  return sums;
}

/** @type {(image: ImageData, index: number, sums: Float32Array) => void} */
function writeRow(image, index, sums) {
  const offset = index * image.width * 4;
  for (let x = 0; x < image.width; ++x) {
    const share = sums[4 * x + 3];
    if (!(share > 1e-6)) continue;
    for (let channel = 0; channel < 3; ++channel) {
      image.data[offset + 4 * x + channel] = sums[4 * x + channel] / share;
    }
    image.data[offset + 4 * x + 3] = 255 * Math.min(1, share);
  }
}

/** @type {(context: CanvasRenderingContext2D, ink: string) => CanvasPattern} */
function hatching(context, ink) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
  pen.strokeStyle = ink;
  pen.beginPath();
  for (const shift of [-8, 0, 8]) {
    pen.moveTo(shift, 8);
    pen.lineTo(shift + 8, 0);
  }
  pen.stroke();
  return /** @type {CanvasPattern} */ (context.createPattern(tile, 'repeat'));
}

/// Edges, rounding, hatching and sizes of the blocks that are wide enough for them.
/**
 * @param {CanvasRenderingContext2D} context
 * @param {Row} row
 * @param {Layout} layout
 * @param {MapView} view
 * @param {Colours} colours
 * @param {Inks} inks
 */
function detail(context, row, layout, view, { classOf, classes }, inks) {
  const { top, height } = strip(view);
  const y = row.y + top;
  const perPixel = view.bytesPerPixel;
  for (let block = layout.blockAt(row.from); block >= 0 && block < layout.count; ++block) {
    if (layout.start[block] >= row.to) break;
    const left = (layout.start[block] - row.from) / perPixel;
    const width = layout.size[block] / perPixel;
    if (width < WIDE) continue;
    if (inks.hatch[layout.state[block]]) {
      context.fillStyle = inks.hatch[layout.state[block]];
      context.fillRect(left, y, width, height);
    }
    const slack = layout.slack(block) / perPixel;
    if (slack >= 1) {
      context.fillStyle = inks.slack;
      context.fillRect(left + width - slack, y, slack, height);
    }
    context.fillStyle = inks.edge;
    context.fillRect(left, y, 1, height);
    sizeLabel(context, layout.size[block], Math.max(0, left), Math.min(view.width, left + width), y, height,
      classes[classOf[block]].rgb);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} size
 * @param {number} left
 * @param {number} right
 * @param {number} y
 * @param {number} height
 * @param {Colour} colour
 */
function sizeLabel(context, size, left, right, y, height, [red, green, blue]) {
  if (right - left < 58 || height < 18) return;
  context.fillStyle = red * 0.3 + green * 0.59 + blue * 0.11 > 120 ? '#101418' : '#ffffff';
  context.textAlign = 'center';
  context.fillText(bytes(size), (left + right) / 2, y + height / 2);
}

/// A line at each segment's beginning and, with room, its name above.
/** @type {(context: CanvasRenderingContext2D, row: Row, layout: Layout, view: MapView, inks: Inks) => void} */
function segments(context, row, layout, view, inks) {
  const { top, height } = strip(view);
  for (let index = layout.segmentAt(row.from); index < layout.segments.length; ++index) {
    const left = (layout.segmentStart[index] - row.from) / view.bytesPerPixel;
    if (left >= view.width) break;
    const segment = layout.segments[index];
    const width = segment.size / view.bytesPerPixel;
    if (width < WIDE) continue;
    context.fillStyle = inks.card;
    if (left > 0) context.fillRect(left - 1, row.y + top, 2, height);
    if (top === 0) continue;
    const from = Math.max(0, left);
    const room = Math.min(view.width, left + width) - from - 6;
    const text = segmentText(segment);
    if (context.measureText(text).width > room) continue;
    context.textAlign = 'left';
    context.fillStyle = inks.soft;
    context.fillText(text, from + 2, row.y + top / 2);
  }
}

/** @param {Placed} segment */
export function segmentText({ name, kind, size }) {
  return [name, kind, bytes(size)].filter(Boolean).join(' \u00b7 ');
}

/** @type {(canvas: HTMLCanvasElement, layout: Layout, view: MapView, colours: Colours) => void} */
export function paintMap(canvas, layout, view, colours) {
  const ratio = window.devicePixelRatio || 1;
  const pixels = Math.round(view.width * ratio);
  canvas.width = pixels;
  canvas.height = Math.round(view.height * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const rows = view.visibleRows();
  const image = new ImageData(pixels, rows.length);
  rows.forEach((row, index) => writeRow(image, index, mix(row, layout, colours, pixels)));
  const lines = document.createElement('canvas');
  lines.width = pixels;
  lines.height = rows.length;
  /** @type {CanvasRenderingContext2D} */ (lines.getContext('2d')).putImageData(image, 0, 0);

  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const { top, height } = strip(view);
  const inks = {
    slack: colour('map-slack'),
    edge: colour('map-edge'),
    card: colour('card'),
    soft: colour('text-soft'),
    hatch: {
      [UNMAPPED]: hatching(context, colour('map-hatch')),
      [PENDING]: hatching(context, colour('map-slack')),
    },
  };
  rows.forEach((row, index) => {
    context.drawImage(lines, 0, index, pixels, 1, 0, row.y + top, view.width, height);
    detail(context, row, layout, view, colours, inks);
    segments(context, row, layout, view, inks);
  });
}

/// Outlines a block on the canvas above the map, in every row it reaches into.
/**
 * @param {HTMLCanvasElement} canvas
 * @param {Layout} layout
 * @param {MapView} view
 * @param {{ block: number, strong?: boolean }[]} blocks
 */
export function outline(canvas, layout, view, blocks) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(ratio, ratio);
  const { top, height } = strip(view);
  for (const { block, strong } of blocks) {
    if (block < 0) continue;
    context.strokeStyle = colour('text');
    context.lineWidth = strong ? 2.5 : 1.5;
    const end = layout.start[block] + layout.size[block];
    for (const row of view.visibleRows()) {
      const from = Math.max(row.from, layout.start[block]);
      const to = Math.min(row.to, end);
      if (to <= from) continue;
      const left = (from - row.from) / view.bytesPerPixel;
      context.strokeRect(left, row.y + top, Math.max(2, (to - from) / view.bytesPerPixel), height);
    }
  }
}
