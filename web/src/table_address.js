// SPDX-License-Identifier: Apache-2.0
// What is looked for in a table, as the fragment of the page's address: #q=words&outcome=running&sort=-Peak

/** @import { Looked, ShownColumn } from './table.js' */
/** @import { Column } from './types.js' */

/// So many characters of a query are read.
export const LONGEST_QUERY = 200;

const OWN_KEYS = ['q', 'sort'];

/// Columns with a choice by the small letters of their name. Of two alike the first has a key, and only that one.
/** @type {(columns: Column[]) => Map<string, number>} */
function keysOf(columns) {
  /** @type {Map<string, number>} */
  const keys = new Map();
  columns.forEach(({ name, filter }, index) => {
    const key = String(name).toLowerCase();
    if (filter && !OWN_KEYS.includes(key) && !keys.has(key)) keys.set(key, index);
  });
  return keys;
}

/// `looked`: query, filters (column to text) and sort ({ column, descending } or null).
/** @type {(looked: Looked, columns: Column[]) => string} */
export function fragmentOf({ query, filters, sort }, columns) {
  const parts = new URLSearchParams();
  if (query.trim() !== '') parts.set('q', query.trim());
  for (const [key, index] of keysOf(columns)) {
    if (filters.has(index)) parts.set(key, /** @type {string} */ (filters.get(index)));
  }
  if (sort) parts.set('sort', `${sort.descending ? '-' : ''}${columns[sort.column].name}`);
  return parts.toString();
}

/// The other way. Anyone can write an address: columns and values that are not there are left out.
/** @type {(fragment: string, columns: ShownColumn[]) => Looked} */
export function readFragment(fragment, columns) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  /** @type {Map<number, string>} */
  const filters = new Map();
  for (const [key, index] of keysOf(columns)) {
    const text = parts.get(key);
    if (text !== null && columns[index].values.includes(text)) filters.set(index, text);
  }
  const query = (parts.get('q') ?? '').slice(0, LONGEST_QUERY);
  return { query, filters, sort: sortOf(parts.get('sort') ?? '', columns) };
}

/** @type {(text: string, columns: Column[]) => Looked['sort']} */
function sortOf(text, columns) {
  /** @param {string} name */
  const find = (name) => columns.findIndex((column) => column.name === name);
  const ascending = find(text);
  if (ascending >= 0) return { column: ascending, descending: false };
  const descending = text.startsWith('-') ? find(text.slice(1)) : -1;
  return descending >= 0 ? { column: descending, descending: true } : null;
}

/// Puts a fragment into the page's address, without a step in its history.
/** @param {string} fragment */
export function writeAddress(fragment) {
  const page = window.location.href.replace(/#.*$/s, '');
  try {
    window.history.replaceState(window.history.state, '', fragment ? `${page}#${fragment}` : page);
  } catch {
    // A page inside of another may have no address of its own, and browsers refuse too many changes in a row.
  }
}
