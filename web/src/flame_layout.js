// SPDX-License-Identifier: Apache-2.0
// Stacks as a tree, and the tree as boxes: as wide as their share, one row per call.
import { items } from './dom.js';
/** @import { FlameGraph, Frame } from './types.js' */

/** @typedef {{ call: Call, left: number, width: number, row: number }} Box */

const NARROWEST = 0.001; // of the whole width: less cannot be seen or hit

export class Call {
  /**
   * @param {Frame} frame
   * @param {Call | null} parent
   */
  constructor(frame, parent) {
    this.name = frame.name;
    this.kind = frame.kind;
    this.parent = parent;
    /** @type {number} */
    this.depth = parent ? parent.depth + 1 : 0;
    this.value = 0;
    /** @type {Call[]} */
    this.children = [];
  }
}

/// All stacks by one of their values, under a root of the given name. What is not above 0 is left out.
/** @type {(graph: FlameGraph, measure: number, rootName: string) => Call} */
export function treeOf({ frames, stacks }, measure, rootName) {
  const known = items(frames);
  const root = new Call({ name: rootName, kind: 'root' }, null);
  /** @type {Map<Call, Map<number, Call>>} */
  const places = new Map([[root, new Map()]]);
  for (const stack of items(stacks)) {
    const value = /** @type {number} */ (stack.values?.[measure]);
    if (!(value > 0) || !Number.isFinite(value)) continue;
    let call = root;
    call.value += value;
    for (const index of Array.isArray(stack.frames) ? stack.frames : []) {
      if (!known[index]) continue;
      const inside = /** @type {Map<number, Call>} */ (places.get(call));
      let next = inside.get(index);
      if (!next) {
        next = new Call(known[index], call);
        inside.set(index, next);
        places.set(next, new Map());
        call.children.push(next);
      }
      next.value += value;
      call = next;
    }
  }
  for (const call of places.keys()) call.children.sort((a, b) => b.value - a.value);
  return root;
}

/// The call and those it was called by, outermost first.
/** @type {(call: Call | null) => Call[]} */
export function pathTo(call) {
  return call ? [...pathTo(call.parent), call] : [];
}

/// Boxes ({ call, left, width, row }, of 0 to 1) with `focus` as wide as the whole, under its callers; from top to
/// bottom and from left to right. What is too narrow to be seen is left out.
/** @type {(focus: Call) => Box[]} */
export function boxesOf(focus) {
  const boxes = pathTo(focus.parent).map((call) => ({ call, left: 0, width: 1, row: call.depth }));
  let row = [{ call: focus, left: 0, width: 1, row: focus.depth }];
  while (row.length > 0) {
    boxes.push(...row);
    row = row.flatMap(({ call, left, row: above }) => {
      let at = left;
      return call.children.map((child) => {
        const box = { call: child, left: at, width: child.value / focus.value, row: above + 1 };
        at += box.width;
        return box;
      }).filter(({ width }) => width >= NARROWEST);
    });
  }
  return boxes;
}

/// Where an arrow key leads: up to the caller, down to the largest callee, left and right to what the same call called.
/** @type {(call: Call, key: string) => Call | null} */
export function neighbour(call, key) {
  if (key === 'ArrowUp') return call.parent;
  if (key === 'ArrowDown') return call.children[0] ?? null;
  const beside = call.parent ? call.parent.children : [];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  return step === 0 ? null : beside[beside.indexOf(call) + step] ?? null;
}
