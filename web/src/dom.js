// SPDX-License-Identifier: Apache-2.0

/** @import { Titled } from './types.js' */

/** @typedef {Node | string | null | undefined} Child */
/** @typedef {string | number | boolean | Function | null | undefined} Attribute */
/** @typedef {HTMLElementEventMap} Events */
/** @typedef {{ [Name in keyof Events as `on${Name}`]?: (event: Events[Name]) => void }} Listeners */
/** @typedef {Listeners & Record<string, Attribute>} Attributes */

/// An element with attributes, listeners (`onclick`) and children. Text is always text.
/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

let ids = 0;

/// A section of the page with its heading and note, named for assistive programs.
/** @type {(kind: string, titled: Titled, ...children: (Child | Child[])[]) => HTMLElement} */
export function section(kind, { title, note }, ...children) {
  const id = `section-${++ids}`;
  return el('section', { class: `card ${kind}`, 'aria-labelledby': title ? id : null },
    title ? el('h2', { id }, title) : null,
    note ? el('p', { class: 'note' }, note) : null,
    ...children);
}

/// Makes `children` those of `parent`, in this order; null is left out. Only what is not in its place moves: an
/// element that moves loses the focus and how far it was scrolled.
/** @type {(parent: Element, children: (Element | null)[]) => void} */
export function arrange(parent, children) {
  const wanted = new Set(children.filter((child) => child != null));
  [...parent.children].filter((child) => !wanted.has(child)).forEach((child) => child.remove());
  let place = parent.firstElementChild;
  for (const child of wanted) {
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
}

export const NOTHING = 'There is nothing to show.';

/// Stands in for a section without data.
/**
 * @param {string} kind
 * @param {Titled} data
 */
export function nothing(kind, data) {
  return { element: section(kind, data, el('p', { class: 'note' }, NOTHING)), draw() {} };
}

/// The items that are objects, so that a hole in the data does not end the page.
/** @type {<Item>(list: Item[] | undefined) => Item[]} */
export function items(list) {
  return Array.isArray(list) ? list.filter((item) => item && typeof item === 'object') : [];
}

/// Runs `action` once before the next frame, however often it was asked for.
/** @type {(action: () => void) => () => void} */
export function oncePerFrame(action) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      action();
    });
  };
}
