// SPDX-License-Identifier: Apache-2.0
import uPlot from 'uplot';
import { el, items, nothing, oncePerFrame, section } from './dom.js';
import { format, increments, ticks } from './format.js';
import { Line, windowOf } from './line.js';
import { drawBands, drawLimit, drawMarks, MARK_ROOM } from './plot_overlay.js';
import { legend } from './plot_legend.js';
import { colour, onThemeChange, seriesColour, seriesStyle } from './theme.js';
import { View } from './plot_view.js';

const HEIGHT = 340;
/// So few points are shown as such, so that one between gaps is seen.
const SPARSE = 60;

function axis(unit, label, extra) {
  return {
    label: label || undefined,
    labelSize: label ? 20 : 0,
    labelGap: 2,
    labelFont: '12px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    incrs: increments(unit),
    values: (_, values) => ticks(values, unit),
    stroke: () => colour('text-soft'),
    grid: { stroke: () => colour('grid'), width: 1 },
    ticks: { stroke: () => colour('grid'), width: 1, size: 5 },
    ...extra,
  };
}

/// As wide as its longest label.
function labelWidth(_, values) {
  if (!values) return 50;
  const widest = Math.max(...values.map((text) => text.length));
  return Math.ceil(widest * 6.8) + 14;
}

function describe(plot, lines) {
  const peaks = lines.map((line) => `${line.name}: peak ${format(line.high, plot.y_unit)}`);
  return [plot.title ?? 'Plot', ...peaks].join('. ');
}

class PlotWidget {
  constructor(plot) {
    this.plot = plot;
    this.lines = items(plot.lines).map((line) => new Line(line));
    this.shown = this.lines.map(() => true);
    this.view = new View(this.lines, plot.limit);
    this.area = el('div', {
      class: 'plot-area',
      tabindex: 0,
      role: 'img',
      'aria-label': describe(plot, this.lines),
      onkeydown: (event) => this.onKey(event),
    });
    this.legend = legend(this.lines, plot, (index) => this.toggle(index));
    this.reset = el('button', { type: 'button', class: 'reset', onclick: () => this.zoomOut() }, 'Reset zoom');
    this.reset.hidden = true;
    this.element = section('plot', plot, this.legend.element, this.area,
      el('div', { class: 'below' },
        el('span', { class: 'hint' }, 'Drag to zoom, double-click to reset. Keys: + \u2212 \u2190 \u2192 0'),
        this.reset));
  }

  /// Requires: the element stands in the page.
  draw() {
    this.chart = new uPlot(this.options(), this.data(), this.area);
    this.chart.over.addEventListener('dblclick', () => this.zoomOut());
    const refresh = oncePerFrame(() => this.refresh());
    new ResizeObserver(oncePerFrame(() => {
      if (this.area.clientWidth === this.chart.width) return;
      this.chart.setSize({ width: this.area.clientWidth, height: HEIGHT });
      refresh();
    })).observe(this.area);
    onThemeChange(() => {
      this.legend.paint();
      this.chart.redraw(true, true);
    });
  }

  options() {
    const { x_unit: xUnit, y_unit: yUnit, x_label: xLabel, y_label: yLabel, limit, marks } = this.plot;
    return {
      width: this.area.clientWidth,
      height: HEIGHT,
      padding: [items(marks).length ? MARK_ROOM : 8, 16, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: true, y: true, uni: 40, dist: 5, setScale: false },
        points: { show: false },
      },
      scales: {
        x: { time: false, range: () => this.view.x },
        y: { range: () => this.view.y },
      },
      axes: [axis(xUnit, xLabel, { space: 90, size: 30 }), axis(yUnit, yLabel, { size: labelWidth, space: 40 })],
      series: [{}, ...this.lines.map((line, index) => ({
        label: line.name,
        width: 1.75,
        dash: seriesStyle(index).dash,
        stroke: () => seriesColour(index),
        paths: line.step ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear(),
        points: { show: () => this.sparse, size: 5, width: 1 },
      }))],
      hooks: {
        setSelect: [(chart) => this.zoomToSelection(chart)],
        setCursor: [(chart) => this.readCursor(chart)],
        drawAxes: [(chart) => drawBands(chart, this.lines, this.shown)],
        draw: [
          (chart) => drawLimit(chart, limit, yUnit),
          (chart) => drawMarks(chart, items(marks)),
        ],
      },
    };
  }

  data() {
    const columns = windowOf(this.lines, ...this.view.x, Math.max(200, this.area.clientWidth));
    this.sparse = columns[0].length <= SPARSE;
    return columns;
  }

  refresh() {
    this.chart.setData(this.data());
    this.reset.hidden = !this.view.zoomed;
  }

  zoomOut() {
    this.view.reset();
    this.refresh();
  }

  toggle(index) {
    this.shown[index] = !this.shown[index];
    this.chart.setSeries(index + 1, { show: this.shown[index] });
    this.view.fit(this.lines.filter((_, i) => this.shown[i]));
    this.refresh();
    return this.shown[index];
  }

  zoomToSelection(chart) {
    const { left, top, width, height } = chart.select;
    const full = { x: chart.over.clientWidth, y: chart.over.clientHeight };
    const x = width > 0 ? [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')] : null;
    const y = height > 0 && height < full.y
      ? [chart.posToVal(top + height, 'y'), chart.posToVal(top, 'y')] : null;
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width < full.x && x) this.view.show(x, null);
    if (y) this.view.show(null, y);
    this.refresh();
  }

  readCursor(chart) {
    const inside = chart.cursor.left >= 0;
    this.legend.read(inside ? chart.posToVal(chart.cursor.left, 'x') : null);
  }

  onKey(event) {
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
  }
}

/// Returns the section and what draws it once it stands in the page.
export function plot(data) {
  if (!items(data.lines).some(({ y }) => y?.some(Number.isFinite))) return nothing('plot', data);
  const widget = new PlotWidget(data);
  return { element: widget.element, draw: () => widget.draw() };
}
