// SPDX-License-Identifier: Apache-2.0
import { el, items, nothing, section } from './dom.js';
import { boxesOf, neighbour, pathTo, treeOf } from './flame_layout.js';
import { format } from './format.js';
/** @import { Call } from './flame_layout.js' */
/** @import { FlameGraph } from './types.js' */

const ROW = 22; // pixels

/// Which calls a total comes from. A click, or Enter, widens a call to the whole width; Escape goes back.
/** @type {(data: FlameGraph) => HTMLElement} */
export function flameGraph(data) {
  const measures = items(data.measures);
  const trees = measures.map(({ name }, index) => treeOf(data, index, `all (${name})`));
  const usable = measures.map((_, index) => index).filter((index) => trees[index].value > 0);
  if (usable.length === 0) return nothing('flame', data).element;

  let shown = usable[0];
  let focus = trees[shown];
  /** @type {Map<Call, HTMLButtonElement>} */
  let buttons = new Map();
  const said = el('p', { class: 'flame-said', role: 'status' });
  const stage = el('div', { class: 'flame-stage', role: 'group', 'aria-label': data.title || 'Calls', onkeydown: move });
  const choices = usable.map((index) => el('button', {
    type: 'button',
    'aria-pressed': index === shown,
    onclick: () => choose(index),
  }, measures[index].name));

  /** @param {Call} call */
  const text = (call) => {
    const share = (100 * call.value) / trees[shown].value;
    return `${call.name}: ${format(call.value, measures[shown].unit)}, ${format(share, 'percent')}`;
  };
  /** @param {Call} call */
  const say = (call) => { said.textContent = text(call); };

  /** @type {(active: Call) => void} */
  function draw(active) {
    buttons = new Map();
    const boxes = boxesOf(focus);
    stage.replaceChildren(...boxes.map(({ call, left, width, row }) => {
      const button = el('button', {
        type: 'button',
        class: `call ${call.kind}${row < focus.depth ? ' caller' : ''}`,
        title: text(call),
        'aria-label': text(call),
        tabindex: call === active ? 0 : -1,
        onclick: () => widen(call),
        onfocus: () => say(call),
        onmouseenter: () => say(call),
      }, call.name);
      button.style.left = `${100 * left}%`;
      button.style.width = `${100 * width}%`;
      button.style.top = `${ROW * row}px`;
      buttons.set(call, button);
      return button;
    }));
    stage.style.height = `${ROW * (1 + Math.max(...boxes.map(({ row }) => row)))}px`;
    say(active);
  }

  /** @type {(call: Call) => void} */
  function widen(call) {
    focus = call;
    draw(call);
    /** @type {HTMLButtonElement} */ (buttons.get(call)).focus();
  }

  /** @type {(index: number) => void} */
  function choose(index) {
    const names = pathTo(focus).slice(1).map(({ name }) => name);
    shown = index;
    focus = trees[index];
    // The same call in the other tree, as far as it is there.
    for (const name of names) focus = focus.children.find((child) => child.name === name) ?? focus;
    choices.forEach((button, at) => button.setAttribute('aria-pressed', String(usable[at] === index)));
    draw(focus);
  }

  /** @type {(event: KeyboardEvent) => void} */
  function move(event) {
    const call = [...buttons.keys()].find((one) => buttons.get(one) === document.activeElement);
    if (!call) return;
    if (event.key === 'Escape' && focus.parent) {
      event.preventDefault();
      widen(focus.parent);
      return;
    }
    const next = neighbour(call, event.key);
    if (!next || !buttons.has(next)) return;
    event.preventDefault();
    /** @type {HTMLButtonElement} */ (buttons.get(call)).tabIndex = -1;
    /** @type {HTMLButtonElement} */ (buttons.get(next)).tabIndex = 0;
    /** @type {HTMLButtonElement} */ (buttons.get(next)).focus();
  }

  draw(focus);
  return section('flame', data,
    usable.length > 1 ? el('div', { class: 'flame-choice', role: 'group', 'aria-label': 'Shown' }, choices) : null,
    stage, said);
}
