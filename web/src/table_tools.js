// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { LONGEST_QUERY } from './table_address.js';
import { countText } from './table_search.js';
/** @import { Looked, ShownColumn } from './table.js' */
/** @import { Column, Table } from './types.js' */

/** @typedef {(query: string, filters: Map<number, string>, typing: boolean) => void} Changed */

/// An option's value: "all" has none, and the text of a cell may be empty.
/** @param {string} text */
const valueOf = (text) => `=${text}`;

/// The values of one column as a choice.
class Filter {
  /**
   * @param {number} index
   * @param {Column} column
   * @param {() => void} changed
   */
  constructor(index, { name }, changed) {
    this.index = index;
    /** @type {string[] | null} */
    this.values = null;
    this.select = el('select', { 'aria-label': name, onchange: changed });
    this.element = el('label', {}, `${name} `, this.select);
  }

  /// The text that is chosen; null for all.
  get chosen() {
    return this.select.value === '' ? null : this.select.value.slice(1);
  }

  /// What is chosen stays on offer when no row has it any more.
  /** @type {(values: string[], chosen?: string | null) => void} */
  show(values, chosen = null) {
    const offered = chosen === null || values.includes(chosen) ? values : [...values, chosen];
    const same = this.values?.length === offered.length && offered.every((text, i) => text === this.values?.[i]);
    if (!same) {
      this.values = offered;
      this.select.replaceChildren(el('option', { value: '' }, 'all'),
        ...offered.map((text) => el('option', { value: valueOf(text) }, text === '' ? '(none)' : text)));
    }
    this.select.value = chosen === null ? '' : valueOf(chosen);
  }
}

/// The fields above a table, how many rows they leave, and what stands below it (`none`) where that is none.
/// `changed(query, filters, typing)` is called for each change; `typing`: more letters may follow.
export class Tools {
  /**
   * @param {Table} data
   * @param {Column[]} columns
   * @param {Changed} changed
   */
  constructor({ search, title }, columns, changed) {
    /** @type {(typing: boolean) => void} */
    const tell = (typing) => changed(this.field?.value ?? '', this.chosen(), typing);
    /** @type {HTMLInputElement | null} */
    this.field = search
      ? el('input', {
        type: 'search',
        maxlength: LONGEST_QUERY,
        autocomplete: 'off',
        spellcheck: 'false',
        oninput: () => tell(true),
        onchange: () => tell(false),
      })
      : null;
    this.filters = columns.flatMap((column, index) =>
      (column.filter ? [new Filter(index, column, () => tell(false))] : []));
    this.count = el('span', { class: 'hint', role: 'status' });
    this.element = el('div', { class: 'toolbar table-tools', role: 'search', 'aria-label': title || 'Table' },
      this.field ? el('label', { class: 'table-search' }, 'Search ', this.field) : null,
      this.filters.map(({ element }) => element),
      this.count);
    this.none = el('p', { class: 'table-none' }, 'No row matches. ', el('button', {
      type: 'button',
      onclick: () => {
        changed('', new Map(), false);
        (this.field ?? this.filters[0].select).focus();
      },
    }, 'Clear'));
  }

  /// Column to text.
  /** @returns {Map<number, string>} */
  chosen() {
    const pairs = this.filters.map(({ index, chosen }) => [index, chosen]);
    return new Map(/** @type {[number, string][]} */ (pairs.filter(([, text]) => text !== null)));
  }

  /** @type {(looked: Looked, columns: ShownColumn[]) => void} */
  show({ query, filters }, columns) {
    if (this.field && this.field.value !== query) this.field.value = query;
    for (const filter of this.filters) filter.show(columns[filter.index].values, filters.get(filter.index));
  }

  /** @type {(found: number, total: number) => void} */
  say(found, total) {
    const text = countText(found, total);
    if (this.count.textContent !== text) this.count.textContent = text;
    this.none.hidden = found > 0 || total === 0;
  }
}
