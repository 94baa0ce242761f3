// SPDX-License-Identifier: Apache-2.0
// A plot as a file: what is shown of it when it is saved.
import { plotCsv } from './csv.js';
import { el } from './dom.js';
import { Picture } from './plot_picture.js';
import { SvgCanvas } from './svg_canvas.js';

const NARROWEST = 240;

const canvasOf = (width, height) => el('canvas', { width, height }).getContext('2d');

function pictureOf(widget) {
  const { plot, lines, view, area } = widget;
  const columns = widget.data();
  return new Picture({ plot, lines, view, columns, sparse: widget.sparse },
    Math.max(NARROWEST, area.clientWidth), canvasOf(1, 1));
}

function pngOf(picture) {
  const ratio = window.devicePixelRatio || 1;
  const ctx = canvasOf(Math.round(picture.width * ratio), Math.round(picture.height * ratio));
  ctx.scale(ratio, ratio);
  picture.draw(ctx);
  return new Promise((resolve) => { ctx.canvas.toBlob(resolve, 'image/png'); });
}

function svgOf(picture, title) {
  const measuring = canvasOf(1, 1);
  const canvas = new SvgCanvas((font, text) => {
    measuring.font = font;
    return measuring.measureText(text).width;
  });
  picture.draw(canvas);
  return canvas.fileOf(picture.width, picture.height, title);
}

/// What a plot can be saved as, by the kind of file. Lines that are hidden are left out.
export function saves(widget) {
  return {
    CSV: () => {
      const { lines, shown } = widget.lines;
      return plotCsv(widget.plot, lines.filter((_, index) => shown[index]), widget.view.x);
    },
    PNG: () => pngOf(pictureOf(widget)),
    SVG: () => svgOf(pictureOf(widget), widget.area.getAttribute('aria-label')),
  };
}
