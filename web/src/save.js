// SPDX-License-Identifier: Apache-2.0
// Buttons that save a part of the page as a file. The browser writes it; nothing is sent anywhere.
import { el } from './dom.js';

/** @typedef {string | Blob | null} Content */
/** @typedef {() => Content | Promise<Content>} Make */

/** @type {Record<string, string>} */
const TYPES = {
  CSV: 'text/csv;charset=utf-8',
  JSON: 'application/json',
  PNG: 'image/png',
  SVG: 'image/svg+xml',
};

/// Of a file's name, with its ending.
const LONGEST_NAME = 60;
/// So long a file stays in memory for the browser to write it, in milliseconds.
const WRITING = 60_000;

/// In small letters, digits and hyphens, at most `longest` of them; cut between words where that loses little.
/** @type {(text: string, longest: number) => string} */
function slug(text, longest) {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const whole = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  if (whole.length <= longest) return whole;
  const end = whole.lastIndexOf('-', longest);
  return whole.slice(0, end > longest / 2 ? end : longest);
}

/// From the titles of the page and of its part. Where both together are too long, each keeps its share.
/** @type {(page: string | null | undefined, part: string | undefined, kind: string) => string} */
export function fileName(page, part, kind) {
  const room = LONGEST_NAME - kind.length - 1;
  const [first, last] = [slug(page ?? '', room), slug(part ?? '', room)];
  const half = Math.floor((room - 1) / 2);
  /** @param {string} other */
  const beside = (other) => (other === '' ? room : Math.max(half, room - 1 - other.length));
  const parts = [slug(first, beside(last)), slug(last, beside(first))];
  const name = parts.filter((text) => text !== '').join('-');
  return `${name || 'ebb'}.${kind.toLowerCase()}`;
}

/** @type {(name: string, blob: Blob) => void} */
function save(name, blob) {
  const address = URL.createObjectURL(blob);
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), WRITING);
}

/// A button for each of `kinds`: the kind of file, and what makes its content (text, or a Blob or the promise of one)
/// from what is shown when it is pressed. `titleOf` returns the title of the part.
/** @type {(titleOf: () => string | undefined, kinds: Record<string, Make>) => HTMLElement} */
export function saveRow(titleOf, kinds) {
  const buttons = Object.entries(kinds).map(([kind, make]) => el('button', {
    type: 'button',
    'aria-label': `Save as ${kind}`,
    async onclick() {
      const content = await make();
      if (content == null) return;
      const page = document.querySelector('h1')?.textContent;
      save(fileName(page, titleOf(), kind), new Blob([content], { type: TYPES[kind] }));
    },
  }, kind));
  return el('div', { class: 'save', role: 'group', 'aria-label': 'Save' },
    el('span', { class: 'hint', 'aria-hidden': 'true' }, 'Save as'), buttons);
}
