// SPDX-License-Identifier: Apache-2.0
import { el, items } from './dom.js';
import { isPath } from './table_cells.js';
/** @import { Document } from './types.js' */

/** @typedef {Pick<Document, 'up' | 'up_is_here' | 'links' | 'title' | 'subtitle' | 'facts'>} Heading */

/// Where it leads back, and to pages beside it.
/** @param {Pick<Document, 'up' | 'up_is_here' | 'links'>} where */
function ways({ up, up_is_here: isHere, links }) {
  const beside = items(links).filter(({ path }) => isPath(path))
    .map(({ text, path }) => el('a', { href: path }, `${text} \u2192`));
  if (!up && beside.length === 0) return null;
  return el('nav', { class: 'up', 'aria-label': 'Other pages' },
    up ? el('a', { href: isHere ? './' : '../' }, `\u2190 ${up}`) : null, beside);
}

/// Where it leads, title, subtitle and tiles.
/** @param {Heading} data */
export function heading({ title, subtitle, facts, ...where }) {
  const tiles = items(facts).map(({ label, value }) =>
    el('div', { class: 'tile' }, el('dt', {}, label), el('dd', {}, value)));
  return el('header', {},
    ways(where),
    el('h1', {}, title || 'Ebb'),
    subtitle ? el('p', { class: 'subtitle' }, subtitle) : null,
    tiles.length ? el('dl', { class: 'tiles' }, tiles) : null);
}
