// SPDX-License-Identifier: Apache-2.0
import { tableCsv } from './csv.js';
import { el, nothing, section } from './dom.js';
import { saveRow } from './save.js';
import { fragmentOf, readFragment, writeAddress } from './table_address.js';
import { isPath, sortedBy, textOf } from './table_cells.js';
import { Choice } from './table_choice.js';
import { Rows } from './table_rows.js';
import { passes, textsOf, valuesOf, wordsOf } from './table_search.js';
import { Tools } from './table_tools.js';
/** @import { Changed } from './table_tools.js' */
/** @import { Piece } from './sheet.js' */
/** @import { Cell, Column, Table } from './types.js' */

/** @typedef {{ column: number, descending: boolean }} Sort */
/** @typedef {{ query: string, filters: Map<number, string>, sort: Sort | null }} Looked */
/** @typedef {Column & { largest: number, width: number, values: string[] }} ShownColumn */

const SHOWN = 200;
/// How many characters of text a column shows on one line: the first names its row.
const FIRST_WIDTH = 28;
const OTHER_WIDTH = 16;
/// Of a checkbox, with what is beside it, in pixels.
const BOX_WIDTH = 50;
/// The address follows what is typed after so many milliseconds: browsers limit how often it may change.
const ADDRESS_DELAY = 400;

/// Tables that are searched, by their element. Of several the first has the page's address.
/** @type {WeakMap<Element, TableWidget>} */
const searched = new WeakMap();
const withAddress = () => searched.get(/** @type {Element} */ (document.querySelector('.table.searchable')));
window.addEventListener('hashchange', () => withAddress()?.readAddress());

/** @type {(data: Table) => Column[]} */
const columnsOf = ({ columns }) => (Array.isArray(columns) ? columns : []);

/// What two tables have in common when one can take over the other's data.
/** @type {(data: Table) => string} */
function shapeOf(data) {
  const columns = columnsOf(data).map(({ name, unit, align, bar, filter }) => [name, unit, align, bar, filter]);
  return JSON.stringify([columns, Boolean(data.title), data.search, data.together]);
}

/** @type {(rows: Cell[][], column: number) => number} */
function largestOf(rows, column) {
  return /** @type {number[][]} */ (rows).reduce((largest, row) => (row[column] > largest ? row[column] : largest), 0);
}

/** @type {(rows: Cell[][], column: number) => number} */
function textWidth(rows, column) {
  const longest = rows.reduce((most, row) => Math.max(most, textOf(row[column]).length), 0);
  return Math.min(longest, column === 0 ? FIRST_WIDTH : OTHER_WIDTH);
}

class TableWidget {
  /** @type {Table} */ data;
  /** @type {Cell[][]} */ cells;
  /** @type {ShownColumn[]} */ columns;
  /** @type {number[]} */ order;
  /** @type {string[] | null} */ texts;

  /** @param {Table} data */
  constructor(data) {
    this.shape = shapeOf(data);
    /** @type {Looked} */
    this.looked = { query: '', filters: new Map(), sort: null };
    this.all = false;
    this.read(data);
    const [first] = this.columns;
    this.choice = isPath(data.together) ? new Choice(data.together, first.name) : null;
    this.tools = data.search || this.columns.some(({ filter }) => filter)
      ? new Tools(data, this.columns, (...change) => this.look(...change))
      : null;
    this.heads = this.columns.map((column, index) =>
      el('th', { scope: 'col', class: column.align === 'right' ? 'right' : null },
        el('button', { type: 'button', onclick: () => this.sort(index) }, column.name)));
    this.rows = new Rows(this.choice);
    this.note = el('p', { class: 'note' });
    this.more = el('button', { type: 'button', onclick: () => this.showAll() });
    this.area = el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': data.title ?? 'Table' },
      el('table', {}, el('thead', {}, el('tr', {}, this.heads)), this.rows.element));
    this.element = section(data.search ? 'table searchable' : 'table', { title: data.title },
      this.note, this.tools?.element, this.choice?.element, this.area, this.tools?.none, this.more,
      saveRow(() => this.data.title, { CSV: () => this.csv() }));
    if (this.choice) {
      this.choice.boxes = () => this.rows.element.querySelectorAll('.choose input');
      this.rows.element.addEventListener('change', ({ target }) =>
        /** @type {Choice} */ (this.choice).change(/** @type {HTMLInputElement} */ (target)));
    }
    if (data.search) searched.set(this.element, this);
    this.show();
  }

  /** @param {Table} data */
  read(data) {
    this.data = data;
    this.cells = (Array.isArray(data.rows) ? data.rows : []).filter(Array.isArray);
    this.columns = columnsOf(data).map((column, index) => ({
      ...column,
      largest: column.bar ? largestOf(this.cells, index) : 0,
      width: column.align === 'right' ? 0 : textWidth(this.cells, index),
      values: column.filter ? valuesOf(this.cells, index, column.unit) : [],
    }));
    this.texts = null;
    this.arrange();
  }

  arrange() {
    const { sort } = this.looked;
    this.order = sort ? sortedBy(this.cells, sort.column, sort.descending) : [...this.cells.keys()];
  }

  /// Rows that have all words and the chosen values.
  found() {
    const words = wordsOf(this.looked.query);
    if (words.length > 0) this.texts ??= textsOf(this.cells, this.columns);
    const texts = /** @type {string[]} */ (this.texts);
    return this.order.filter((index) => words.every((word) => texts[index].includes(word))
      && passes(this.cells[index], this.looked.filters, this.columns));
  }

  show() {
    const { title, note, highlight } = this.data;
    const heading = this.element.querySelector('h2');
    if (heading && heading.textContent !== title) heading.textContent = /** @type {string} */ (title);
    this.note.textContent = note ?? '';
    this.note.hidden = !note;
    this.heads.forEach((head, index) => this.showHead(head, index));
    const found = this.found();
    const shown = this.all ? found : found.slice(0, SHOWN);
    this.rows.show(shown.map((index) => ({ cells: this.cells[index], highlight: index === highlight })), this.columns);
    this.tools?.show(this.looked, this.columns);
    this.tools?.say(found.length, this.cells.length);
    this.more.hidden = shown.length === found.length;
    this.more.textContent = `Show all ${textOf(found.length, 'count')} rows`;
    this.choice?.show();
  }

  /// All rows that match, in the order in which they are shown.
  csv() {
    return tableCsv(this.columns, this.found().map((index) => this.cells[index]));
  }

  /** @type {(head: HTMLElement, index: number) => void} */
  showHead(head, index) {
    const { sort } = this.looked;
    if (sort?.column !== index) head.removeAttribute('aria-sort');
    else head.setAttribute('aria-sort', sort.descending ? 'descending' : 'ascending');
    if (this.columns[index].align === 'right') return;
    const box = this.choice && index === 0 ? BOX_WIDTH : 0;
    head.style.minWidth = `min(${this.columns[index].width}ch + ${box}px, 55vw)`;
  }

  /** @param {number} index */
  sort(index) {
    const { sort } = this.looked;
    const descending = sort?.column === index ? !sort.descending : this.columns[index].unit !== 'text';
    this.looked.sort = { column: index, descending };
    this.arrange();
    this.show();
    this.tellAddress(false);
  }

  /** @type {Changed} */
  look(query, filters, typing) {
    Object.assign(this.looked, { query, filters });
    this.show();
    this.tellAddress(typing);
  }

  showAll() {
    this.all = true;
    this.show();
    this.area.focus({ preventScroll: true });
  }

  /** @param {boolean} later */
  tellAddress(later) {
    clearTimeout(this.timer);
    const tell = () => {
      if (withAddress() === this) writeAddress(fragmentOf(this.looked, this.columns));
    };
    if (later) this.timer = setTimeout(tell, ADDRESS_DELAY);
    else tell();
  }

  readAddress() {
    this.looked = readFragment(window.location.hash, this.columns);
    this.arrange();
    this.show();
  }

  /// Requires: the element stands in the page.
  draw() {
    if (withAddress() === this) this.readAddress();
  }

  /// Shows other rows of the same table. False where `data` is of another shape.
  /** @param {Table} data */
  update(data) {
    if (shapeOf(data) !== this.shape) return false;
    this.read(data);
    this.choice?.keep(this.cells);
    this.show();
    return true;
  }
}

/// A table that a click on a column's name sorts. Returns the section, what reads the page's address once it stands in
/// the page, and what takes over new data of the same table; where that returns false, the table must be replaced.
/** @type {(data: Table) => Piece<Table>} */
export function table(data) {
  /** @param {Table} one */
  const isEmpty = (one) => columnsOf(one).length === 0;
  if (isEmpty(data)) return { ...nothing('table', data), update: isEmpty };
  const widget = new TableWidget(data);
  return { element: widget.element, draw: () => widget.draw(), update: (next) => widget.update(next) };
}
