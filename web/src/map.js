// SPDX-License-Identifier: Apache-2.0
import { el, nothing, oncePerFrame, section } from './dom.js';
import { bytes } from './format.js';
import { classify } from './map_colours.js';
import { detailsPanel, summary } from './map_details.js';
import { Layout, readSegments } from './map_layout.js';
import { outline, paintMap } from './map_paint.js';
import { MapView } from './map_view.js';
import { onThemeChange } from './theme.js';
/** @import { Colours, Scheme } from './map_colours.js' */
/** @import { Order, Placed } from './map_layout.js' */
/** @import { Piece } from './sheet.js' */
/** @import { MemoryMap } from './types.js' */

const WHEEL = 0.0015;
const CLICK = 4;
const HINT = 'Click, then turn the wheel to zoom; drag to move. '
  + 'Keys: + \u2212 \u2190 \u2192 \u2191 \u2193 0';

/** @type {(label: string, options: string[], action: (name: string) => void) => HTMLElement} */
function choice(label, options, action) {
  /** @type {HTMLSelectElement} */
  const select = el('select', { onchange: () => action(select.value) },
    options.map((name) => el('option', { value: name }, name)));
  return el('label', {}, `${label} `, select);
}

class MapWidget {
  /** @type {MapView} */ view;
  /** @type {Colours} */ colours;

  /**
   * @param {MemoryMap} map
   * @param {Placed[]} segments
   */
  constructor(map, segments) {
    this.stacks = Array.isArray(map.stacks) ? map.stacks : [];
    this.segments = segments;
    /** @type {Scheme} */
    this.scheme = 'state';
    this.hovered = -1;
    this.layout = new Layout(this.segments, 'size');
    this.chosen = this.layout.largestActive();
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.above = el('canvas', { class: 'above', 'aria-hidden': 'true' });
    this.stage = el('div', {
      class: 'map-stage',
      tabindex: 0,
      role: 'application',
      'aria-label': `${map.title ?? 'Memory map'}. ${summary(this.layout)}. `
        + 'Left and right arrows choose a block, plus and minus zoom, 0 shows all.',
    }, this.canvas, this.above);
    this.legend = el('ul', { class: 'legend' });
    this.shown = el('span', { class: 'hint map-shown' });
    this.panel = detailsPanel(this.stacks);
    this.element = section('map', map,
      el('p', { class: 'note' }, summary(this.layout)),
      this.toolbar(), this.legend, this.stage,
      el('div', { class: 'below' },
        el('span', { class: 'hint' }, HINT),
        this.shown),
      this.panel.element);
    this.repaint = oncePerFrame(() => this.paint());
    this.listen();
  }

  toolbar() {
    /** @type {(name: string, label: string, action: () => void) => HTMLElement} */
    const button = (name, label, action) =>
      el('button', { type: 'button', 'aria-label': label, title: label, onclick: action }, name);
    const colourings = this.stacks.length ? ['state', 'size', 'stack'] : ['state', 'size'];
    return el('div', { class: 'toolbar' },
      choice('Order by', ['size', 'address'], (order) => this.reorder(/** @type {Order} */ (order))),
      choice('Colour by', colourings, (scheme) => {
        this.scheme = /** @type {Scheme} */ (scheme);
        this.recolour();
      }),
      el('span', { class: 'zoom-buttons' },
        button('\u2212', 'Zoom out', () => this.zoomCentre(0.5)),
        button('+', 'Zoom in', () => this.zoomCentre(2)),
        button('All', 'Show all', () => this.showAll())));
  }

  /// Requires: the element stands in the page.
  draw() {
    this.resize();
    new ResizeObserver(oncePerFrame(() => {
      if (this.stage.clientWidth !== this.view.width) this.resize();
    })).observe(this.stage);
    onThemeChange(() => this.recolour());
  }

  resize() {
    this.view = new MapView(this.layout.total, Math.max(1, this.stage.clientWidth));
    this.stage.style.height = `${this.view.height}px`;
    this.recolour();
  }

  /** @param {Order} order */
  reorder(order) {
    this.layout = new Layout(this.segments, order);
    this.hovered = -1;
    this.chosen = this.layout.largestActive();
    this.view.reset();
    this.recolour();
  }

  recolour() {
    this.colours = classify(this.scheme, this.layout, this.stacks);
    /** @type {(name: string, held: number, colouring: { class?: string, hex?: string }) => HTMLElement} */
    const entry = (name, held, colouring) => {
      const swatch = el('span', { class: `swatch ${colouring.class ?? ''}`, 'aria-hidden': 'true' });
      swatch.style.backgroundColor = colouring.hex ?? '';
      return el('li', {}, swatch, `${name} `, el('span', { class: 'value' }, bytes(held)));
    };
    const rounding = this.layout.rounding();
    this.legend.replaceChildren(
      ...this.colours.classes.filter((kind) => kind.bytes > 0).map((kind) => entry(kind.name, kind.bytes, kind)),
      ...(rounding > 0 ? [entry('dark end: lost to rounding', rounding, { class: 'slack' })] : []));
    this.repaint();
  }

  paint() {
    paintMap(this.canvas, this.layout, this.view, this.colours);
    this.shown.textContent = this.view.zoom > 1
      ? `${bytes(this.view.shownBytes)} across, zoom ${Math.round(this.view.zoom)}\u00d7` : '';
    this.point(this.hovered);
  }

  /** @param {number} block */
  point(block) {
    this.hovered = block;
    outline(this.above, this.layout, this.view,
      [{ block: this.hovered }, { block: this.chosen, strong: true }]);
    this.panel.show(this.layout, block >= 0 ? block : this.chosen, false);
  }

  /** @param {number} block */
  choose(block) {
    this.chosen = block;
    this.hovered = -1;
    this.repaint();
    this.panel.show(this.layout, block, true);
  }

  /// To the neighbour, and on to where it lies if that is out of sight.
  /** @param {number} by */
  step(by) {
    const from = this.chosen >= 0 ? this.chosen : this.layout.blockAt(this.view.visibleRows()[0].from) - by;
    const block = Math.max(0, Math.min(this.layout.count - 1, from + by));
    this.view.reveal(this.layout.start[block], this.layout.size[block]);
    this.choose(block);
  }

  /** @param {number} factor */
  zoomCentre(factor) {
    this.view.zoomAt(this.view.width / 2, this.view.height / 2, factor);
    this.repaint();
  }

  showAll() {
    this.view.reset();
    this.repaint();
  }

  /** @type {(dx: number, dy: number) => void} */
  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.repaint();
  }

  listen() {
    const { stage } = this;
    /** @type {PointerEvent | null} */
    let last = null;
    let travelled = 0;
    stage.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      last = event;
      travelled = 0;
      stage.setPointerCapture(event.pointerId);
    });
    stage.addEventListener('pointermove', (event) => {
      if (!last) {
        this.point(this.blockUnder(event));
        return;
      }
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      travelled += Math.abs(dx) + Math.abs(dy);
      last = event;
      this.pan(dx, dy);
    });
    stage.addEventListener('pointerup', (event) => {
      if (last && travelled < CLICK) this.choose(this.blockUnder(event));
      last = null;
    });
    stage.addEventListener('pointercancel', () => {
      last = null;
    });
    stage.addEventListener('pointerleave', () => this.point(-1));
    stage.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    stage.addEventListener('dblclick', (event) => {
      this.view.zoomAt(event.offsetX, event.offsetY, 4);
      this.repaint();
    });
    stage.addEventListener('keydown', (event) => this.onKey(event));
  }

  /** @param {PointerEvent} event */
  blockUnder(event) {
    const box = this.stage.getBoundingClientRect();
    return this.layout.blockAt(this.view.byteAt(event.clientX - box.left, event.clientY - box.top));
  }

  /// A map that was not clicked lets the page scroll past it.
  /** @param {WheelEvent} event */
  onWheel(event) {
    if (document.activeElement !== this.stage && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.view.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * lines * WHEEL));
    this.repaint();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    /** @type {Record<string, () => void>} */
    const actions = {
      '+': () => this.zoomKey(2),
      '=': () => this.zoomKey(2),
      '-': () => this.zoomKey(0.5),
      0: () => this.showAll(),
      ArrowLeft: () => (event.shiftKey ? this.pan(80, 0) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.pan(-80, 0) : this.step(1)),
      ArrowUp: () => this.pan(0, this.view.pitch),
      ArrowDown: () => this.pan(0, -this.view.pitch),
      Escape: () => this.choose(-1),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  /// The keyboard zooms about the chosen block where there is one.
  /** @param {number} factor */
  zoomKey(factor) {
    this.zoomCentre(factor);
    if (this.chosen >= 0) this.view.reveal(this.layout.start[this.chosen], this.layout.size[this.chosen]);
  }
}

/// Returns the section and what draws it once it stands in the page.
/** @type {(data: MemoryMap) => Piece<MemoryMap>} */
export function memoryMap(data) {
  const segments = readSegments(data);
  if (segments.length === 0) return nothing('map', data);
  const widget = new MapWidget(data, segments);
  return { element: widget.element, draw: () => widget.draw() };
}
