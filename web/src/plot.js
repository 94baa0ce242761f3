// SPDX-License-Identifier: Apache-2.0
import { el, items, NOTHING, oncePerFrame, section } from './dom.js';
import { TIME_CHOSEN, axisOf } from './flame_between.js';
import { format } from './format.js';
import { LineSet } from './line_set.js';
import { drawAreas } from './plot_areas.js';
import { HEIGHT, makeChart, shapeOf } from './plot_chart.js';
import { Legend } from './plot_legend.js';
import { drawBands, drawLimit, drawMarks } from './plot_overlay.js';
import { saves } from './plot_save.js';
import { View } from './plot_view.js';
import { saveRow } from './save.js';
import { onThemeChange } from './theme.js';
/** @import { Columns, Line, Range } from './line.js' */
/** @import { Drawn, Hooks } from './plot_chart.js' */
/** @import uPlot from 'uplot' */
/** @import { Piece } from './sheet.js' */
/** @import { Plot } from './types.js' */

/// So few points are shown as such, so that one between gaps is seen.
const SPARSE = 60;

/** @type {(plot: Plot, lines: LineSet) => string} */
function describe(plot, { lines, stack }) {
  /** @param {Line} line */
  const peak = ({ high }) => format(Number.isFinite(high) ? high : null, plot.y_unit);
  const sum = stack ? [`Areas that add up, to ${peak(stack.sum)} at most`] : [];
  const peaks = lines.map((line) => `${line.name}: peak ${peak(line)}`);
  return [plot.title ?? 'Plot', ...sum, ...peaks].join('. ');
}

export class PlotWidget {
  /** @type {Plot} */ plot;
  /** @type {LineSet} */ lines;
  /** @type {View} */ view;
  /** @type {boolean} */ sparse;
  /** @type {string | null} */ shape;

  /** @param {Plot} plot */
  constructor(plot) {
    this.life = new AbortController();
    this.area = el('div', {
      class: 'plot-area',
      tabindex: 0,
      role: 'img',
      onkeydown: (event) => this.onKey(event),
    });
    this.legend = new Legend((index) => this.toggle(index));
    this.reset = el('button', { type: 'button', class: 'reset', onclick: () => this.zoomOut() }, 'Reset zoom');
    this.parts = [this.legend.element, this.area, el('div', { class: 'below' },
      el('span', { class: 'hint' }, 'Drag to zoom, double-click to reset. Keys: + \u2212 \u2190 \u2192 0'),
      this.reset, saveRow(() => this.plot.title, saves(this)))];
    this.note = el('p', { class: 'note' });
    this.nothing = el('p', { class: 'note' }, NOTHING);
    this.element = section('plot', { title: plot.title }, this.note, this.parts, this.nothing);
    this.title = this.element.querySelector('h2');
    this.take(plot);
  }

  /** @param {Plot} plot */
  take(plot) {
    this.plot = plot;
    this.lines = new LineSet(plot, this.lines?.hidden);
    this.view ??= new View(this.lines.outlines, plot.limit);
    this.view.follow(this.lines.lines, plot.limit);
    this.view.fit(this.lines.outlines);
    if (this.title) this.title.textContent = /** @type {string} */ (plot.title);
    this.note.textContent = plot.note ?? '';
    this.note.hidden = !plot.note;
    this.legend.show(this.lines, plot);
    this.area.setAttribute('aria-label', describe(plot, this.lines));
    this.reset.hidden = !this.view.zoomed;
    this.nothing.hidden = !this.lines.isEmpty;
    for (const part of this.parts) part.hidden = this.lines.isEmpty;
  }

  /// Requires: the element stands in the page.
  draw() {
    this.isDrawn = true;
    this.bringChart();
    const refresh = oncePerFrame(() => this.refresh());
    this.observer = new ResizeObserver(oncePerFrame(() => {
      if (!this.chart || this.area.clientWidth === this.chart.width) return;
      this.chart.setSize({ width: this.area.clientWidth, height: HEIGHT });
      refresh();
    }));
    this.observer.observe(this.area);
    onThemeChange(() => {
      this.legend.paint();
      this.chart?.redraw(true, true);
    }, this.life.signal);
  }

  /// It will not be seen again.
  close() {
    this.life.abort();
    this.observer?.disconnect();
    this.chart?.destroy();
    this.chart = null;
  }

  /// Shows newer data of the same plot. What was hidden stays hidden, what was zoomed stays zoomed; else all of it is
  /// shown. Nothing loses the focus.
  /** @param {Plot} plot */
  update(plot) {
    this.take(plot);
    if (this.isDrawn) this.bringChart();
    return true;
  }

  /// A chart of what is there now: the same one where it can show that.
  bringChart() {
    const shape = this.lines.isEmpty ? null : shapeOf(this.plot);
    if (this.chart && shape === this.shape) return this.refresh();
    this.chart?.destroy();
    this.shape = shape;
    this.chart = shape === null ? null : makeChart(this, this.hooks());
    this.chart?.over.addEventListener('dblclick', () => this.zoomOut());
  }

  /** @returns {Hooks} */
  hooks() {
    /** @param {Drawn} chart */
    const drawBelow = (chart) => {
      const { lines, shown, stack } = this.lines;
      if (stack) drawAreas(chart, stack);
      else drawBands(chart, lines, shown);
    };
    return {
      setSelect: [(chart) => this.zoomToSelection(chart)],
      setCursor: [(chart) => this.readCursor(chart)],
      drawAxes: [drawBelow],
      draw: [
        (chart) => drawLimit(chart, this.plot.limit, this.plot.y_unit),
        (chart) => drawMarks(chart, items(this.plot.marks)),
      ],
    };
  }

  /** @returns {Columns} */
  data() {
    const columns = this.lines.window(...this.view.x, Math.max(200, this.area.clientWidth));
    this.sparse = columns[0].length <= SPARSE;
    return columns;
  }

  refresh() {
    this.chart?.setData(this.data());
    this.reset.hidden = !this.view.zoomed;
  }

  zoomOut() {
    this.view.reset();
    this.refresh();
    this.tellTime();
  }

  /// What else on the page is about a time shows this one.
  tellTime() {
    const { x_unit: unit, x_label: label } = this.plot;
    document.dispatchEvent(new CustomEvent(TIME_CHOSEN,
      { detail: { axis: axisOf(unit, label), range: this.view.chosenTime } }));
  }

  /** @param {number} index */
  toggle(index) {
    const isShown = this.lines.toggle(index);
    /** @type {uPlot} */ (this.chart).setSeries(index + 1, { show: isShown });
    this.view.fit(this.lines.outlines);
    this.refresh();
    return isShown;
  }

  /** @param {uPlot} chart */
  zoomToSelection(chart) {
    const { left, top, width, height } = chart.select;
    const full = { x: chart.over.clientWidth, y: chart.over.clientHeight };
    /** @type {Range | null} */
    const x = width > 0 ? [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')] : null;
    /** @type {Range | null} */
    const y = height > 0 && height < full.y
      ? [chart.posToVal(top + height, 'y'), chart.posToVal(top, 'y')] : null;
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width < full.x && x) this.view.show(x, null);
    if (y) this.view.show(null, y);
    this.refresh();
    this.tellTime();
  }

  /** @param {uPlot} chart */
  readCursor(chart) {
    const inside = /** @type {number} */ (chart.cursor.left) >= 0;
    this.legend.read(inside ? chart.posToVal(/** @type {number} */ (chart.cursor.left), 'x') : null);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    /** @type {Record<string, () => void>} */
    const actions = {
      '+': () => this.view.scale(0.5),
      '=': () => this.view.scale(0.5),
      '-': () => this.view.scale(2),
      ArrowLeft: () => this.view.shift(-0.2),
      ArrowRight: () => this.view.shift(0.2),
      0: () => this.view.reset(),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
    this.refresh();
    this.tellTime();
  }
}

/// Returns the section, what draws it once it stands in the page, what shows newer data in it, and what ends it.
/** @type {(data: Plot) => Piece<Plot>} */
export function plot(data) {
  const widget = new PlotWidget(data);
  return {
    element: widget.element,
    draw: () => widget.draw(),
    update: (newer) => widget.update(newer),
    close: () => widget.close(),
  };
}
