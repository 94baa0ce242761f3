// SPDX-License-Identifier: Apache-2.0
import { heatCsv } from './csv.js';
import { el, NOTHING, oncePerFrame, section } from './dom.js';
import { Grid, moved } from './heat_grid.js';
import { drawHeat, HeatLayout } from './heat_paint.js';
import { HeatPicture } from './heat_picture.js';
import { describe, fieldText, legendText } from './heat_text.js';
import { canvasOf, pngOf, svgOf } from './picture_files.js';
import { saveRow } from './save.js';
import { onThemeChange } from './theme.js';
/** @import { Field } from './heat_grid.js' */
/** @import { Piece } from './sheet.js' */
/** @import { HeatMap } from './types.js' */

/** @typedef {{ row: number, number: number }} Chosen */
/** @typedef {{ x: number, y: number }} Place */
/** @typedef {'left' | 'top' | 'width' | 'height'} Edge */

const NARROWEST = 120;
const HINT = 'Point at a field to read it. Keys: \u2190 \u2192 \u2191 \u2193';

/** @type {(one: Field | null, other: Field | null) => boolean} */
const isSame = (one, other) => one?.row === other?.row && one?.column === other?.column;

class HeatWidget {
  /** @type {HeatMap} */ data;
  /** @type {Grid} */ whole;
  /** @type {HeatLayout} */ layout;

  /** @param {HeatMap} data */
  constructor(data) {
    this.life = new AbortController();
    /** @type {Chosen | null} */
    this.chosen = null; // {row, number}: a column by its number, which stays when others are merged
    /** @type {Place | null} */
    this.pointer = null; // {x, y}
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.frames = {
      hovered: el('div', { class: 'heat-frame', hidden: true }),
      chosen: el('div', { class: 'heat-frame chosen', hidden: true }),
    };
    this.stage = el('div', {
      class: 'heat-stage',
      tabindex: 0,
      role: 'application',
      onkeydown: (event) => this.onKey(event),
      onfocus: () => this.choose(this.cursor ?? { row: 0, column: 0 }),
      onpointermove: (event) => this.point(this.placeOf(event)),
      onpointerleave: () => this.point(null),
      onpointerdown: (event) => this.choose(this.fieldAt(this.placeOf(event)) ?? this.cursor),
    }, this.canvas, Object.values(this.frames));
    this.legend = el('div', { class: 'legend heat-legend' });
    this.said = el('p', { class: 'heat-said' });
    this.spoken = el('p', { class: 'offscreen', role: 'status' });
    this.parts = [this.legend, this.stage, this.said, this.spoken, el('div', { class: 'below' },
      el('span', { class: 'hint' }, HINT), saveRow(() => this.data.title, this.saves()))];
    this.note = el('p', { class: 'note' });
    this.nothing = el('p', { class: 'note' }, NOTHING);
    this.element = section('heat', { title: data.title }, this.note, this.parts, this.nothing);
    this.take(data);
  }

  /** @type {(data: HeatMap) => void} */
  take(data) {
    const before = this.chosen && this.whole.rows[this.chosen.row].name;
    this.data = data;
    this.whole = Grid.of(data);
    this.chosen = this.stillChosen(before);
    this.note.textContent = data.note ?? '';
    this.note.hidden = !data.note;
    this.nothing.hidden = !this.whole.isEmpty;
    for (const part of this.parts) part.hidden = this.whole.isEmpty;
    if (!this.whole.isEmpty) this.stage.setAttribute('aria-label', describe(data, this.whole));
  }

  /// What was chosen, in newer data: in the row of the same name, or else at the same place.
  /** @type {(name?: string | null) => Chosen | null} */
  stillChosen(name) {
    const { rows, count, isEmpty } = this.whole;
    if (!this.chosen || isEmpty) return null;
    const { row, number } = this.chosen;
    const same = rows[row]?.name === name ? row : rows.findIndex((one) => one.name === name);
    return { row: same >= 0 ? same : Math.min(row, rows.length - 1), number: Math.min(number, count - 1) };
  }

  /// The field that is chosen, as it is shown.
  /** @returns {Field | null} */
  get cursor() {
    return this.chosen && { row: this.chosen.row, column: this.layout.grid.columnOf(this.chosen.number) };
  }

  /// Requires: the element stands in the page.
  draw() {
    this.isDrawn = true;
    this.paint();
    this.observer = new ResizeObserver(oncePerFrame(() => {
      if (this.layout?.width !== this.stage.clientWidth) this.paint();
    }));
    this.observer.observe(this.stage);
    onThemeChange(() => this.paint(), this.life.signal);
  }

  /// It will not be seen again.
  close() {
    this.life.abort();
    this.observer?.disconnect();
  }

  /// Shows newer data of the same heat map. What is chosen stays chosen, and nothing loses the focus.
  /** @param {HeatMap} data */
  update(data) {
    this.take(data);
    if (this.isDrawn) this.paint();
    return true;
  }

  /** @param {number} width */
  layoutOf(width) {
    return new HeatLayout(canvasOf(1, 1), this.data, this.whole, Math.max(NARROWEST, width));
  }

  paint() {
    if (this.whole.isEmpty || this.stage.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.layout = this.layoutOf(this.stage.clientWidth);
    const { width, height } = this.layout;
    this.stage.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    context.scale(ratio, ratio);
    drawHeat(context, this.layout, ratio);
    this.showLegend();
    this.mark();
  }

  showLegend() {
    const { measured, from, to, notes } = legendText(this.data, this.layout.grid);
    /** @type {(...children: (HTMLElement | string)[]) => HTMLElement} */
    const key = (...children) => el('span', { class: 'heat-key' }, ...children);
    /** @type {(text: string) => HTMLElement} */
    const figure = (text) => el('span', { class: 'value' }, text);
    /** @type {(kind: string) => HTMLElement} */
    const sample = (kind) => el('span', { class: kind, 'aria-hidden': 'true' });
    this.legend.replaceChildren(
      ...(measured ? [el('span', {}, measured)] : []),
      key(figure(from), sample('heat-scale'), figure(to)),
      ...notes.map(figure),
      ...(this.layout.grid.hasGaps ? [key(sample('swatch heat-empty'), 'no value')] : []));
  }

  /// Frames what is pointed at and what is chosen, and tells of the first of them.
  mark() {
    const { cursor } = this;
    const hovered = this.fieldAt(this.pointer);
    this.frame(this.frames.hovered, isSame(hovered, cursor) ? null : hovered);
    this.frame(this.frames.chosen, cursor);
    const told = hovered ?? cursor;
    this.said.textContent = told ? fieldText(told, this.data, this.layout.grid) : '';
  }

  /** @type {(element: HTMLElement, field: Field | null) => void} */
  frame(element, field) {
    element.hidden = !field;
    if (!field) return;
    const box = this.layout.box(field, window.devicePixelRatio || 1);
    for (const [name, pixels] of Object.entries(box)) element.style[/** @type {Edge} */ (name)] = `${pixels}px`;
  }

  /** @type {(place: Place | null) => void} */
  point(place) {
    const isMoved = !isSame(this.fieldAt(place), this.fieldAt(this.pointer));
    this.pointer = place;
    if (isMoved) this.mark();
  }

  /** @type {(field: Field | null) => void} */
  choose(field) {
    this.chosen = field && { row: field.row, number: this.layout.grid.rangeOf(field.column)[0] };
    this.pointer = null;
    this.mark();
    this.spoken.textContent = this.said.textContent;
  }

  /** @type {(event: PointerEvent) => Place} */
  placeOf(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @type {(place: Place | null) => Field | null} */
  fieldAt(place) {
    return place && this.layout.at(place.x, place.y);
  }

  /** @type {(event: KeyboardEvent) => void} */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = event.key === 'Escape' ? null
      : moved(this.cursor ?? { row: 0, column: 0 }, event.key, this.layout.grid);
    if (!next && event.key !== 'Escape') return;
    event.preventDefault();
    this.choose(next);
  }

  saves() {
    const picture = () => new HeatPicture(this.layoutOf(this.stage.clientWidth), canvasOf(1, 1));
    return {
      CSV: () => heatCsv(this.data, this.whole),
      PNG: () => pngOf(picture()),
      SVG: () => svgOf(picture(), describe(this.data, this.whole)),
    };
  }
}

/// Returns the section, what draws it once it stands in the page, what shows newer data in it, and what ends it.
/** @type {(data: HeatMap) => Piece<HeatMap>} */
export function heatMap(data) {
  const widget = new HeatWidget(data);
  return {
    element: widget.element,
    draw: () => widget.draw(),
    update: (newer) => widget.update(newer),
    close: () => widget.close(),
  };
}
