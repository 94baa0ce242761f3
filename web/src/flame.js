// SPDX-License-Identifier: Apache-2.0
import { el, items, nothing, section } from './dom.js';
import { Between, TIME_CHOSEN, grownBetween, momentsOf } from './flame_between.js';
import { boxesOf, neighbour, pathTo, treeOf } from './flame_layout.js';
import { format } from './format.js';
/** @import { Call } from './flame_layout.js' */
/** @import { ChosenTime } from './flame_between.js' */
/** @import { Piece } from './sheet.js' */
/** @import { FlameGraph, Unit } from './types.js' */

/** @typedef {{ name: string, unit?: Unit, tree: () => Call }} Choice */

const ROW = 22; // pixels
const GROWN = 'growth between two moments';

/// The same call in another tree, as far as it is there.
/** @type {(call: Call, root: Call) => Call} */
function sameIn(call, root) {
  let found = root;
  for (const { name } of pathTo(call).slice(1)) found = found.children.find((child) => child.name === name) ?? found;
  return found;
}

class FlameWidget {
  /** @type {FlameGraph} */ data;
  /** @type {Choice[]} */ choices;
  /** @type {Choice} */ shown;
  /** @type {Call} */ root;
  /** @type {Call} */ focus;

  /** @param {FlameGraph} data */
  constructor(data) {
    this.life = new AbortController();
    /** @type {Map<Call, HTMLButtonElement>} */
    this.buttons = new Map();
    this.said = el('p', { class: 'flame-said', role: 'status' });
    this.stage = el('div', {
      class: 'flame-stage',
      role: 'group',
      'aria-label': data.title || 'Calls',
      onkeydown: (event) => this.move(event),
    });
    this.between = new Between(() => this.showTree());
    this.row = el('div', { class: 'flame-choice', role: 'group', 'aria-label': 'Shown' });
    this.process = el('select', { onchange: () => this.chooseProcess(this.process.value) });
    this.processes = el('label', { class: 'flame-process' }, 'process ', this.process);
    this.element = section('flame', data, this.row, this.between.element, this.processes, this.stage, this.said);
    document.addEventListener(TIME_CHOSEN, (event) =>
      this.chooseTime(/** @type {CustomEvent<ChosenTime>} */ (event).detail), { signal: this.life.signal });
    this.take(data);
  }

  /// False where there is nothing to choose from.
  /** @param {FlameGraph} data */
  take(data) {
    this.data = data;
    /** @type {Choice[]} */
    const choices = items(data.measures).map(({ name, unit }, index) =>
      ({ name, unit, tree: () => treeOf(data, index, `all (${name})`) }));
    this.choices = choices.filter(({ tree }) => tree().value > 0);
    const moments = momentsOf(data);
    if (moments.length > 0) {
      this.between.take(moments, data);
      this.choices.push({
        name: GROWN,
        unit: 'bytes',
        tree: () => treeOf(grownBetween(data, this.between.indices), 0, `grown ${this.between.text}`),
      });
    }
    if (this.choices.length === 0) return false;
    this.shown = this.choices.find(({ name }) => name === this.shown?.name) ?? this.choices[0];
    this.row.replaceChildren(...this.choices.map((choice) =>
      el('button', { type: 'button', onclick: () => this.choose(choice) }, choice.name)));
    this.row.hidden = this.choices.length < 2;
    this.showTree();
    return true;
  }

  /// Newer data of the same graph: what was chosen and widened stays.
  /** @param {FlameGraph} data */
  update(data) {
    return this.take(data);
  }

  /** @param {Choice} choice */
  choose(choice) {
    this.shown = choice;
    this.showTree();
  }

  /// Another time in a plot is what to look at here as well.
  /** @param {ChosenTime} time */
  chooseTime({ axis, range }) {
    const grown = this.choices.find(({ name }) => name === GROWN);
    if (!grown || axis !== this.between.axis) return;
    this.between.choose(range);
    if (range || this.shown === grown) this.choose(grown);
  }

  showTree() {
    const hadFocus = this.stage.contains(document.activeElement);
    this.choices.forEach((choice, index) =>
      this.row.children[index].setAttribute('aria-pressed', String(choice === this.shown)));
    this.between.element.hidden = this.shown.name !== GROWN;
    this.root = this.shown.tree();
    this.focus = this.focus ? sameIn(this.focus, this.root) : this.root;
    this.process.replaceChildren(el('option', { value: '' }, 'all'),
      ...this.root.children.map(({ name }) => el('option', { value: name }, name)));
    this.processes.hidden = this.root.children.length < 2;
    this.draw(this.focus);
    if (hadFocus) this.buttons.get(this.focus)?.focus();
  }

  /** @param {string} name */
  chooseProcess(name) {
    this.focus = this.root.children.find((child) => child.name === name) ?? this.root;
    this.draw(this.focus);
  }

  /** @param {Call} call */
  text(call) {
    if (this.root.value === 0) return `Nothing has grown ${this.between.text}.`;
    const share = (100 * call.value) / this.root.value;
    return `${call.name}: ${format(call.value, this.shown.unit)}, ${format(share, 'percent')}`;
  }

  /** @param {Call} active */
  draw(active) {
    this.buttons = new Map();
    const boxes = boxesOf(this.focus);
    this.stage.replaceChildren(...boxes.map(({ call, left, width, row }) => {
      const text = this.text(call);
      const say = () => { this.said.textContent = text; };
      const button = el('button', {
        type: 'button',
        class: `call ${call.kind}${row < this.focus.depth ? ' caller' : ''}`,
        title: text,
        'aria-label': text,
        tabindex: call === active ? 0 : -1,
        onclick: () => this.widen(call),
        onfocus: say,
        onmouseenter: say,
      }, call.name);
      button.style.left = `${100 * left}%`;
      button.style.width = `${100 * width}%`;
      button.style.top = `${ROW * row}px`;
      this.buttons.set(call, button);
      return button;
    }));
    this.stage.style.height = `${ROW * (1 + Math.max(...boxes.map(({ row }) => row)))}px`;
    this.process.value = pathTo(this.focus)[1]?.name ?? '';
    this.said.textContent = this.text(active);
  }

  /** @param {Call} call */
  widen(call) {
    this.focus = call;
    this.draw(call);
    this.buttons.get(call)?.focus();
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const call = [...this.buttons.keys()].find((one) => this.buttons.get(one) === document.activeElement);
    if (!call) return;
    if (event.key === 'Escape' && this.focus.parent) {
      event.preventDefault();
      this.widen(this.focus.parent);
      return;
    }
    const next = neighbour(call, event.key);
    const button = next && this.buttons.get(next);
    if (!button) return;
    event.preventDefault();
    /** @type {HTMLButtonElement} */ (this.buttons.get(call)).tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
  }
}

/// Which calls a total comes from. A click, or Enter, widens a call to the whole width; Escape goes back.
/** @type {(data: FlameGraph) => Piece<FlameGraph> | HTMLElement} */
export function flameGraph(data) {
  const widget = new FlameWidget(data);
  if (widget.choices.length === 0) {
    widget.life.abort();
    return nothing('flame', data).element;
  }
  return {
    element: widget.element,
    update: (newer) => widget.update(newer),
    close: () => widget.life.abort(),
  };
}
