// SPDX-License-Identifier: Apache-2.0
import { barChart } from './bars.js';
import { arrange, items } from './dom.js';
import { flameGraph } from './flame.js';
import { form } from './form.js';
import { heading } from './heading.js';
import { heatMap } from './heat.js';
import { memoryMap } from './map.js';
import { plot } from './plot.js';
import { table } from './table.js';
import { task } from './task.js';
import { upload } from './upload.js';
import { advice, verdict } from './verdict.js';
/** @import { Document, Titled } from './types.js' */

/** @typedef {'plots' | 'heat_maps' | 'flames' | 'maps' | 'bars' | 'tables'} Kind */
/**
 * A part of a document in the page.
 * @template Data
 * @typedef {object} Piece
 * @property {HTMLElement} element
 * @property {() => void} [draw] once it stands in the page
 * @property {(data: Data) => boolean} [update] takes over new data; false: it must be replaced
 * @property {() => void} [close] it will not be seen again
 */
// Any: what `make` takes is what the document holds under its kind.
/** @typedef {(data: any) => Piece<any> | HTMLElement} Make */
/** @typedef {Piece<any> & { text?: string }} Shown */

/// What a document holds, in the order in which it is shown.
/** @type {[kind: Kind, make: Make][]} */
const KINDS = [
  ['plots', plot],
  ['heat_maps', heatMap],
  ['flames', flameGraph],
  ['maps', memoryMap],
  ['bars', barChart],
  ['tables', table],
];

/// What it has one of at the most, above all that.
/** @type {[name: 'upload' | 'form' | 'verdict' | 'advice' | 'task', make: Make][]} */
const CARDS = [
  ['upload', upload],
  ['form', form],
  ['verdict', verdict],
  ['advice', advice],
  ['task', task],
];

/// The pieces of a document, each under a name that stays the same in the next one.
/** @type {(data: Document) => [name: string, make: Make, item: object][]} */
function piecesOf(data) {
  const { up, up_is_here, links, title, subtitle, facts } = data;
  /** @type {[name: string, make: Make, item: object][]} */
  const pieces = [['heading', heading, { up, up_is_here, links, title, subtitle, facts }]];
  for (const [name, make] of CARDS) {
    const card = data[name];
    if (card) pieces.push([name, make, card]);
  }
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const [kind, make] of KINDS) {
    for (const item of items(/** @type {Titled[] | undefined} */ (data[kind]))) {
      const name = `${kind} ${item.title ?? ''}`;
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      pieces.push([`${name} ${count}`, make, item]);
    }
  }
  return pieces;
}

/** @type {(make: Make, data: object) => Shown} */
function made(make, data) {
  const part = make(data);
  return part instanceof Element ? { element: part } : part;
}

/// Shows a document, and later ones of the same page in its place: a part takes in its new data where it
/// can, and stays untouched where nothing has changed, so that nobody loses their place.
export class Sheet {
  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    /** @type {Map<string, Shown>} */
    this.parts = new Map();
  }

  /** @param {Document} data */
  show(data) {
    /** @type {Map<string, Shown>} */
    const next = new Map();
    const fresh = [];
    for (const [name, make, item] of piecesOf(data)) {
      const text = JSON.stringify(item);
      let part = this.parts.get(name);
      if (!part || (part.text !== text && !part.update?.(item))) {
        part = made(make, item);
        fresh.push(part);
      }
      part.text = text;
      next.set(name, part);
    }
    for (const [name, part] of this.parts) {
      if (next.get(name) !== part) part.close?.();
    }
    this.parts = next;
    arrange(this.main, [...next.values()].map(({ element }) => element));
    fresh.forEach((part) => part.draw?.());
  }
}
