// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { bytes, format } from './format.js';
import { ACTIVE, FREE, PENDING, UNMAPPED } from './map_layout.js';
/** @import { Layout } from './map_layout.js' */

/** @typedef {[label: string, value: string]} Fact */

const STATES = ['free', 'active', 'pending free', 'unmapped'];

/** @type {(number: number, noun: string) => string} */
const counted = (number, noun) => `${format(number, 'count')} ${noun}${number === 1 ? '' : 's'}`;

/// One sentence of figures about the whole map.
/** @type {(layout: Layout) => string} */
export function summary(layout) {
  const held = [0, 0, 0, 0];
  let largestFree = 0;
  let freeBlocks = 0;
  for (let block = 0; block < layout.count; ++block) {
    held[layout.state[block]] += layout.size[block];
    if (layout.state[block] !== FREE) continue;
    ++freeBlocks;
    largestFree = Math.max(largestFree, layout.size[block]);
  }
  const reserved = held[FREE] + held[ACTIVE] + held[PENDING];
  const parts = [
    `${bytes(reserved)} reserved in ${counted(layout.segments.length, 'segment')}`,
    `${bytes(held[ACTIVE])} active`,
    held[PENDING] ? `${bytes(held[PENDING])} pending free` : null,
    freeBlocks
      ? `${bytes(held[FREE])} free in ${counted(freeBlocks, 'piece')}, the largest ${bytes(largestFree)}`
      : null,
    held[UNMAPPED] ? `${bytes(held[UNMAPPED])} unmapped` : null,
  ];
  return parts.filter(Boolean).join(' \u00b7 ');
}

/// What is known of a block: [label, value] pairs.
/** @type {(layout: Layout, block: number) => Fact[]} */
function facts(layout, block) {
  const segment = layout.segments[layout.segment[block]];
  const [size, requested] = [layout.size[block], layout.requested[block]];
  return /** @type {Fact[]} */ ([
    ['state', STATES[layout.state[block]]],
    ['size', `${bytes(size)} (${format(size, 'count')} B)`],
    requested > 0 ? ['requested', `${bytes(requested)}, ${bytes(Math.max(0, size - requested))} rounding`] : null,
    ['address', `0x${layout.address(block).toString(16)}`],
    ['segment', [segment.name, segment.kind, bytes(segment.size)].filter(Boolean).join(' \u00b7 ')],
    segment.stream ? ['stream', segment.stream] : null,
    segment.pool ? ['pool', segment.pool] : null,
  ].filter(Boolean));
}

/// The panel below a map. It is announced only when a block was chosen, not for every hover.
/** @param {string[]} stacks */
export function detailsPanel(stacks) {
  const list = el('dl', { class: 'block-facts' });
  const stack = el('pre', { class: 'block-stack', tabindex: 0, 'aria-label': 'Stack' });
  const spoken = el('p', { class: 'offscreen', role: 'status' });
  const element = el('div', { class: 'map-details' }, list, stack, spoken);

  /** @type {(layout: Layout, block: number, chosen: boolean) => void} */
  function show(layout, block, chosen) {
    if (block < 0) {
      list.replaceChildren(el('div', { class: 'hint' }, el('dt', {}, 'block'),
        el('dd', {}, 'Point at a block to see what it is.')));
      stack.textContent = '';
      stack.hidden = true;
      return;
    }
    const known = facts(layout, block);
    list.replaceChildren(...known.map(([label, value]) => el('div', {}, el('dt', {}, label), el('dd', {}, value))));
    const text = stacks[layout.stack[block]];
    stack.hidden = !text;
    stack.textContent = text ?? '';
    if (chosen) spoken.textContent = known.map(([label, value]) => `${label} ${value}`).join(', ');
  }
  return { element, show };
}
