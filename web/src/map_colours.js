// SPDX-License-Identifier: Apache-2.0
// What the colours of a map say: the state of blocks, their size, or who allocated them.
import { bytes } from './format.js';
import { ACTIVE, FREE, PENDING, UNMAPPED } from './map_layout.js';
import { colour, rgb, seriesColour } from './theme.js';
/** @import { Layout } from './map_layout.js' */
/** @import { Colour } from './theme.js' */

/** @typedef {'state' | 'size' | 'stack'} Scheme */
/** @typedef {{ name: string, colour: () => string, state: number }} Class */
/** @typedef {{ classes: Class[], active: (block: number) => number }} Classes */
/** @typedef {{ name: string, bytes: number, hex: string, rgb: Colour }} Coloured */
/** @typedef {{ classOf: Uint8Array, classes: Coloured[] }} Colours */

const MiB = 1024 ** 2;
const SIZES = [MiB / 16, MiB, 10 * MiB, 100 * MiB, 1024 * MiB, Infinity];
/// Lines' colours, less the one that looks like pending blocks.
const STACK_COLOURS = [0, 1, 2, 3, 5, 6, 7];

const inactive = [
  { name: 'pending free', colour: () => colour('map-pending'), state: PENDING },
  { name: 'free', colour: () => colour('map-free'), state: FREE },
  { name: 'unmapped', colour: () => colour('map-unmapped'), state: UNMAPPED },
];

/** @param {number} index */
function sizeName(index) {
  if (index === 0) return `up to ${bytes(SIZES[0])}`;
  return index === SIZES.length - 1 ? `over ${bytes(SIZES[index - 1])}` : `to ${bytes(SIZES[index])}`;
}

/** @returns {Classes} */
function byState() {
  return {
    classes: [{ name: 'active', colour: () => colour('map-active'), state: ACTIVE }, ...inactive],
    active: () => 0,
  };
}

/** @type {(layout: Layout) => Classes} */
function bySize(layout) {
  return {
    classes: [
      ...SIZES.map((_, index) => ({ name: sizeName(index), colour: () => colour(`size-${index + 1}`), state: ACTIVE })),
      ...inactive,
    ],
    active: (block) => SIZES.findIndex((limit) => layout.size[block] <= limit),
  };
}

/// The innermost frame, as short as it stays clear.
/** @param {string | undefined} text */
function shortStack(text) {
  const line = String(text ?? '').split('\n').find((frame) => frame.trim()) ?? 'not recorded';
  return line.length > 60 ? `\u2026${line.slice(-58)}` : line;
}

/** @type {(layout: Layout, stacks: string[]) => Classes} */
function byStack(layout, stacks) {
  /** @type {Map<number, number>} */
  const held = new Map();
  for (let block = 0; block < layout.count; ++block) {
    if (layout.state[block] !== ACTIVE) continue;
    held.set(layout.stack[block], (held.get(layout.stack[block]) ?? 0) + layout.size[block]);
  }
  const top = [...held.keys()].filter((stack) => stack >= 0)
    .sort((a, b) => /** @type {number} */ (held.get(b)) - /** @type {number} */ (held.get(a)))
    .slice(0, STACK_COLOURS.length);
  const rank = new Map(top.map((stack, index) => [stack, index]));
  return {
    classes: [
      ...top.map((stack, index) => ({
        name: shortStack(stacks[stack]),
        colour: () => seriesColour(STACK_COLOURS[index]),
        state: ACTIVE,
      })),
      { name: 'others', colour: () => colour('map-other'), state: ACTIVE },
      ...inactive,
    ],
    active: (block) => rank.get(layout.stack[block]) ?? top.length,
  };
}

/** @type {Record<Scheme, (layout: Layout, stacks: string[]) => Classes>} */
const SCHEMES = { state: byState, size: bySize, stack: byStack };

/// The class of every block, and for each class its name, colour and bytes.
/** @type {(scheme: Scheme, layout: Layout, stacks: string[]) => Colours} */
export function classify(scheme, layout, stacks) {
  const { classes, active } = SCHEMES[scheme](layout, stacks);
  const ofState = [FREE, ACTIVE, PENDING, UNMAPPED].map((state) => classes.findIndex((c) => c.state === state));
  const classOf = new Uint8Array(layout.count);
  const held = new Float64Array(classes.length);
  for (let block = 0; block < layout.count; ++block) {
    const state = layout.state[block];
    classOf[block] = state === ACTIVE ? active(block) : ofState[state];
    held[classOf[block]] += layout.size[block];
  }
  return {
    classOf,
    classes: classes.map(({ name, colour: get }, index) => ({ name, bytes: held[index], hex: get(), rgb: rgb(get()) })),
  };
}
