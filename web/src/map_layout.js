// SPDX-License-Identifier: Apache-2.0
// Where everything lies in a memory map: all segments one behind the other, cut into rows as text is.
import { items } from './dom.js';
/** @import { Block, MemoryMap, Segment } from './types.js' */

/** @typedef {'size' | 'address'} Order */
/** @typedef {Omit<Segment, 'address'> & { address: bigint, blocks: Block[] }} Placed */

export const FREE = 0;
export const ACTIVE = 1;
export const PENDING = 2;
export const UNMAPPED = 3;

/** @type {Record<Order, (a: Placed, b: Placed) => number>} */
const ORDERS = {
  size: (a, b) => b.size - a.size || (a.address < b.address ? -1 : 1),
  address: (a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0),
};

/** @param {string} text */
function addressOf(text) {
  try {
    return BigInt(text);
  } catch {
    return 0n;
  }
}

/** @type {(value: number) => number} */
const natural = (value) => (Number.isFinite(value) && value > 0 ? value : 0);

/// The blocks of a segment, cut to it, with what they leave out filled in as unmapped.
/** @type {(segment: { size: number, blocks?: Block[] }) => Block[]} */
function covered(segment) {
  /** @type {Block[]} */
  const blocks = [];
  let end = 0;
  /** @param {number} offset */
  const gapTo = (offset) => {
    if (offset > end) blocks.push([end, offset - end, 0, UNMAPPED, -1]);
  };
  const given = (segment.blocks ?? []).filter(Array.isArray).sort((a, b) => a[0] - b[0]);
  for (const [offset, size, requested, state, stack] of given) {
    const from = Math.max(natural(offset), end);
    const to = Math.min(natural(offset) + natural(size), segment.size);
    if (!(to > from)) continue;
    gapTo(from);
    blocks.push([from, to - from, natural(requested), state >= 0 && state <= 3 ? state : UNMAPPED, stack ?? -1]);
    end = to;
  }
  gapTo(segment.size);
  return blocks;
}

/** @type {(map: MemoryMap) => Placed[]} */
export function readSegments(map) {
  return items(map.segments)
    .map((segment) => ({ ...segment, size: natural(segment.size), address: addressOf(segment.address) }))
    .filter((segment) => segment.size > 0)
    .map((segment) => ({ ...segment, blocks: covered(segment) }));
}

/// All blocks in columns, in the order of their place. `start` is counted from the first byte shown.
export class Layout {
  /**
   * @param {Placed[]} segments
   * @param {Order} order
   */
  constructor(segments, order) {
    this.segments = [...segments].sort(ORDERS[order]);
    const count = segments.reduce((sum, segment) => sum + segment.blocks.length, 0);
    this.count = count;
    this.start = new Float64Array(count);
    this.size = new Float64Array(count);
    this.requested = new Float64Array(count);
    this.state = new Uint8Array(count);
    this.stack = new Int32Array(count);
    this.segment = new Uint32Array(count);
    this.segmentStart = new Float64Array(this.segments.length);
    this.total = 0;
    let next = 0;
    this.segments.forEach((segment, index) => {
      this.segmentStart[index] = this.total;
      for (const [offset, size, requested, state, stack] of segment.blocks) {
        this.start[next] = this.total + offset;
        this.size[next] = size;
        this.requested[next] = requested;
        this.state[next] = state;
        this.stack[next] = stack;
        this.segment[next] = index;
        ++next;
      }
      this.total += segment.size;
    });
  }

  /// The block that holds a byte, or -1.
  /** @type {(byte: number) => number} */
  blockAt(byte) {
    return byte >= 0 && byte < this.total ? lastAtOrBelow(this.start, byte) : -1;
  }

  /// Where to begin looking; -1 where nothing is active.
  largestActive() {
    let largest = -1;
    for (let block = 0; block < this.count; ++block) {
      if (this.state[block] === ACTIVE && !(this.size[block] <= this.size[largest])) largest = block;
    }
    return largest;
  }

  /// Bytes of active blocks that nobody asked for.
  rounding() {
    let sum = 0;
    for (let block = 0; block < this.count; ++block) sum += this.slack(block);
    return sum;
  }

  /** @param {number} block */
  slack(block) {
    if (this.state[block] !== ACTIVE || this.requested[block] === 0) return 0;
    return Math.max(0, this.size[block] - this.requested[block]);
  }

  /** @param {number} byte */
  segmentAt(byte) {
    return lastAtOrBelow(this.segmentStart, byte);
  }

  /** @param {number} block */
  address(block) {
    const segment = this.segment[block];
    return this.segments[segment].address + BigInt(Math.round(this.start[block] - this.segmentStart[segment]));
  }
}

/** @type {(list: Float64Array, value: number) => number} */
function lastAtOrBelow(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
