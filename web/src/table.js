// SPDX-License-Identifier: Apache-2.0
import { el, nothing, section } from './dom.js';
import { format } from './format.js';

const SHOWN = 200;
/// How many characters of text a column shows on one line: the first names its row.
const FIRST_WIDTH = 28;
const OTHER_WIDTH = 16;

/// What a cell shows: of a link, its text.
function plain(value) {
  return value != null && typeof value === 'object' ? String(value.text ?? '') : value;
}

/// Within the server that the page came from; anything else is no link.
function isPath(path) {
  return typeof path === 'string' && /^[a-z0-9][a-z0-9/-]*$/.test(path);
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

/// The indices of `rows` by one column; rows without a value come last either way.
export function sortedBy(rows, column, descending) {
  const missing = (row) => rows[row][column] == null;
  return [...rows.keys()].sort((a, b) => {
    if (missing(a) || missing(b)) return missing(a) - missing(b) || a - b;
    const order = compare(plain(rows[a][column]), plain(rows[b][column]));
    return (descending ? -order : order) || a - b;
  });
}

function largestOf(rows, column) {
  return rows.reduce((largest, row) => (row[column] > largest ? row[column] : largest), 0);
}

function textWidth(rows, column) {
  const longest = rows.reduce((most, row) => Math.max(most, String(plain(row[column]) ?? '').length), 0);
  return Math.min(longest, column === 0 ? FIRST_WIDTH : OTHER_WIDTH);
}

function cell(value, { unit, align, largest }) {
  const text = value == null ? '' : format(plain(value), unit);
  const inside = isPath(value?.path) ? el('a', { href: value.path }, text) : text;
  const element = el('td', { class: align === 'right' ? 'right' : null }, inside);
  if (largest > 0 && typeof value === 'number') {
    const bar = el('span', { class: 'cell-bar', 'aria-hidden': 'true' });
    bar.style.width = `${(100 * Math.max(0, value)) / largest}%`;
    element.append(bar);
  }
  return element;
}

/// A table that a click on a column's name sorts.
export function table(data) {
  const rows = (data.rows ?? []).filter(Array.isArray);
  const columns = (data.columns ?? []).map((column, index) =>
    ({ ...column, largest: column.bar ? largestOf(rows, index) : 0 }));
  if (columns.length === 0) return nothing('table', data).element;
  let order = [...rows.keys()];
  let all = rows.length <= SHOWN;
  const body = el('tbody');

  function fill() {
    const shown = all ? order : order.slice(0, SHOWN);
    body.replaceChildren(...shown.map((index) =>
      el('tr', { class: index === data.highlight ? 'highlight' : null },
        columns.map((column, i) => cell(rows[index][i], column)))));
  }

  const heads = columns.map((column, index) => {
    const name = el('button', { type: 'button', onclick: () => sort(index) }, column.name);
    const head = el('th', { scope: 'col', class: column.align === 'right' ? 'right' : null }, name);
    if (column.align !== 'right') head.style.minWidth = `min(${textWidth(rows, index)}ch, 55vw)`;
    return head;
  });

  function sort(index) {
    const before = heads[index].getAttribute('aria-sort');
    const descending = before ? before === 'ascending' : columns[index].unit !== 'text';
    heads.forEach((head) => head.removeAttribute('aria-sort'));
    heads[index].setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    order = sortedBy(rows, index, descending);
    fill();
  }

  const more = all ? null : el('button', {
    type: 'button',
    onclick() {
      all = true;
      more.remove();
      fill();
    },
  }, `Show all ${format(rows.length, 'count')} rows`);

  fill();
  return section('table', data,
    el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': data.title ?? 'Table' },
      el('table', {}, el('thead', {}, el('tr', {}, heads)), body)),
    more);
}
