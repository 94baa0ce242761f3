// SPDX-License-Identifier: Apache-2.0
// How uPlot draws a plot.
import uPlot from 'uplot';
import { items } from './dom.js';
import { increments, ticks } from './format.js';
import { MARK_ROOM } from './plot_overlay.js';
import { colour, seriesColour, seriesStyle } from './theme.js';
/** @import { PlotWidget } from './plot.js' */
/** @import { Chart } from './plot_stage.js' */
/** @import { Plot, Unit } from './types.js' */

/** @typedef {Required<uPlot.Series.PathBuilderFactories>} Paths */
// Scales have their ends when a chart is drawn.
/** @typedef {uPlot & Chart} Drawn */
/** @typedef {{ [hook: string]: ((chart: Drawn) => void)[] }} Hooks */

export const HEIGHT = 340;
export const LINE_WIDTH = 1.75;
/// Between the labels of an axis, at least.
export const LABEL_SPACE = { x: 90, y: 40 };

export const FONT = '12px system-ui, sans-serif';

/** @type {(unit: Unit, label: string | undefined, extra: uPlot.Axis) => uPlot.Axis} */
function axis(unit, label, extra) {
  return {
    label: label || undefined,
    labelSize: label ? 20 : 0,
    labelGap: 2,
    labelFont: FONT,
    font: FONT,
    incrs: increments(unit),
    values: (_, values) => ticks(values, unit),
    stroke: () => colour('text-soft'),
    grid: { stroke: () => colour('grid'), width: 1 },
    ticks: { stroke: () => colour('grid'), width: 1, size: 5 },
    ...extra,
  };
}

/// As wide as its longest label.
/** @type {(chart: unknown, values: string[] | null) => number} */
export function labelWidth(_, values) {
  if (!values) return 50;
  const widest = Math.max(0, ...values.map((text) => text.length));
  return Math.ceil(widest * 6.8) + 14;
}

/// For what is written above the lines.
/** @type {(plot: Plot) => number} */
export function roomAbove(plot) {
  return items(plot.marks).length ? MARK_ROOM : 8;
}

/// Points between gaps, where an area has no width.
/** @type {(chart: Chart, series: number) => number[]} */
function lonely({ data }, series) {
  const values = data[series];
  return values.map((_, i) => i).filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null);
}

/// Areas are drawn elsewhere, with their edges.
const AREA = /** @type {uPlot.Series} */ (
  { paths: () => null, points: { show: false, filter: lonely, size: 5, width: 1 } });

/// Equal for plots that one chart can show, one after the other.
/** @type {(plot: Plot) => string} */
export function shapeOf(plot) {
  const { x_unit: xUnit, y_unit: yUnit, x_label: xLabel, y_label: yLabel, stacked, marks, lines } = plot;
  return JSON.stringify([xUnit, yUnit, xLabel, yLabel, !!stacked, items(marks).length > 0,
    items(lines).map(({ name, step }) => [name, step !== false])]);
}

/// A chart of what `widget` has: its plot, lines and view, and whether points are so few that each is shown.
/** @type {(widget: PlotWidget, hooks: Hooks) => uPlot} */
export function makeChart(widget, hooks) {
  const { plot, lines: { lines, shown, stack } } = widget;
  return new uPlot({
    width: widget.area.clientWidth,
    height: HEIGHT,
    padding: [roomAbove(plot), 16, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: true, uni: 40, dist: 5, setScale: false },
      points: { show: false },
    },
    scales: {
      x: { time: false, range: () => widget.view.x },
      y: { range: () => widget.view.y },
    },
    axes: [
      axis(plot.x_unit, plot.x_label, { space: LABEL_SPACE.x, size: 30 }),
      axis(plot.y_unit, plot.y_label, { size: labelWidth, space: LABEL_SPACE.y }),
    ],
    series: [{}, ...lines.map((line, index) => ({
      label: line.name,
      show: shown[index],
      width: LINE_WIDTH,
      dash: seriesStyle(index).dash,
      stroke: () => seriesColour(index),
      paths: line.step ? /** @type {Paths} */ (uPlot.paths).stepped({ align: 1 })
        : /** @type {Paths} */ (uPlot.paths).linear(),
      points: { show: () => widget.sparse, size: 5, width: 1 },
      ...(stack ? AREA : {}),
    }))],
    hooks: /** @type {uPlot.Hooks.Arrays} */ (hooks),
  }, widget.data(), widget.area);
}
