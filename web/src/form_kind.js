// SPDX-License-Identifier: Apache-2.0
// The fields of one kind of question, in groups.
import { el, items } from './dom.js';
import { Field } from './form_field.js';
/** @import { Changed } from './form_field.js' */
/** @import { FieldGroup, FormKind } from './types.js' */

/// Sizes may be named in full: "sequence" is what the field "seq" says.
/** @type {(word: string, label: string) => boolean} */
const isAbout = (word, label) => word === label || (label.length > 2 && word.startsWith(label));

/// A heading with its fields; a folded one opens where one of them is given, or wrong.
class Group {
  /**
   * @param {FieldGroup} data
   * @param {Changed} changed
   */
  constructor(data, changed) {
    this.fields = items(data.fields).map((field) => new Field(field, changed));
    const inside = el('div', { class: 'fields' }, this.fields.map(({ element }) => element));
    this.details = data.folded ? el('details', {}, el('summary', {}, data.name), inside) : null;
    this.element = this.details ?? el('fieldset', {}, el('legend', {}, data.name), inside);
  }

  unfold() {
    const isNeeded = this.fields.some(({ value, control }) => value !== '' || control.hasAttribute('aria-invalid'));
    if (this.details && isNeeded) this.details.open = true;
  }
}

export class Kind {
  /**
   * @param {FormKind} data
   * @param {Changed} changed
   */
  constructor({ name, label, groups }, changed) {
    this.name = name;
    this.label = label;
    this.groups = items(groups).map((group) => new Group(group, changed));
    this.fields = this.groups.flatMap((group) => group.fields);
    this.element = el('div', { class: 'form-kind' }, this.groups.map(({ element }) => element));
    this.unfold();
  }

  unfold() {
    for (const group of this.groups) group.unfold();
  }

  /// The query of an address: what is given, in the order of the fields.
  get query() {
    const parts = new URLSearchParams({ kind: this.name });
    for (const { name, value } of this.fields) {
      if (value) parts.set(name, value);
    }
    return parts.toString();
  }

  /** @param {URLSearchParams} parts */
  read(parts) {
    for (const field of this.fields) field.value = parts.get(field.name) ?? '';
    this.unfold();
  }

  /// Marks the field that a line on what is wrong begins with, where it does; an empty line is about none.
  /** @param {string} line */
  mark(line) {
    const [, about] = /^(?:--)?([a-z0-9-]+)/.exec(line) ?? [];
    for (const field of this.fields) field.mark(about !== undefined && isAbout(about, field.label));
    this.unfold();
  }
}
