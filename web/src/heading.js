// SPDX-License-Identifier: Apache-2.0
import { el, items } from './dom.js';

/// Where it leads back, title, subtitle and tiles.
export function heading({ up, title, subtitle, facts }) {
  const tiles = items(facts).map(({ label, value }) =>
    el('div', { class: 'tile' }, el('dt', {}, label), el('dd', {}, value)));
  return el('header', {},
    up ? el('nav', { class: 'up' }, el('a', { href: '../' }, `\u2190 ${up}`)) : null,
    el('h1', {}, title || 'Ebb'),
    subtitle ? el('p', { class: 'subtitle' }, subtitle) : null,
    tiles.length ? el('dl', { class: 'tiles' }, tiles) : null);
}
