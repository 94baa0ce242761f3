// SPDX-License-Identifier: Apache-2.0
// A plot as a file: what is shown of it when it is saved.
import { plotCsv } from './csv.js';
import { canvasOf, pngOf, svgOf } from './picture_files.js';
import { Picture } from './plot_picture.js';
/** @import { PlotWidget } from './plot.js' */

const NARROWEST = 240;

/** @param {PlotWidget} widget */
function pictureOf(widget) {
  const { plot, lines, view, area } = widget;
  const columns = widget.data();
  return new Picture({ plot, lines, view, columns, sparse: widget.sparse },
    Math.max(NARROWEST, area.clientWidth), canvasOf(1, 1));
}

/// What a plot can be saved as, by the kind of file. Lines that are hidden are left out.
/** @param {PlotWidget} widget */
export function saves(widget) {
  return {
    CSV: () => {
      const { lines, shown } = widget.lines;
      return plotCsv(widget.plot, lines.filter((_, index) => shown[index]), widget.view.x);
    },
    PNG: () => pngOf(pictureOf(widget)),
    SVG: () => svgOf(pictureOf(widget), /** @type {string} */ (widget.area.getAttribute('aria-label'))),
  };
}
