// SPDX-License-Identifier: Apache-2.0
import { el, items } from './dom.js';

/// Title, subtitle and tiles.
export function heading({ title, subtitle, facts }) {
  const tiles = items(facts).map(({ label, value }) =>
    el('div', { class: 'tile' }, el('dt', {}, label), el('dd', {}, value)));
  return el('header', {},
    el('h1', {}, title || 'Ebb'),
    subtitle ? el('p', { class: 'subtitle' }, subtitle) : null,
    tiles.length ? el('dl', { class: 'tiles' }, tiles) : null);
}
