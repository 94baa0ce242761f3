// SPDX-License-Identifier: Apache-2.0
// One thing that a form asks for: its name, where it is given, and a word of help.
import { el } from './dom.js';
/** @import { FieldData } from './types.js' */

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */
/** @typedef {'typing' | 'typed' | 'chosen'} Change more letters may follow; none will; at once */
/** @typedef {(change: Change) => void} Changed */

/// So long a value may be.
const LONGEST = 60;

let fields = 0;

/** @type {(data: FieldData) => HTMLSelectElement} */
function choiceOf({ choices = [], otherwise, required }) {
  const select = el('select');
  if (!required && !choices.includes(otherwise ?? '')) select.append(el('option', { value: '' }, 'none'));
  select.append(...choices.map((text) => el('option', { value: text }, text)));
  return select;
}

/** @type {(data: FieldData) => Control} */
function controlOf(data) {
  if (data.kind === 'choice') return choiceOf(data);
  if (data.kind === 'flag') return el('input', { type: 'checkbox' });
  return el('input', {
    type: 'text',
    inputmode: data.kind === 'number' ? 'decimal' : null,
    maxlength: LONGEST,
    placeholder: data.otherwise,
    autocapitalize: 'off',
    spellcheck: 'false',
  });
}

/// A field. `changed` hears of each change.
export class Field {
  /**
   * @param {FieldData} data
   * @param {Changed} changed
   */
  constructor(data, changed) {
    this.name = data.name;
    this.label = data.label;
    this.control = controlOf(data);
    /// What the control shows where nothing is given.
    this.usual = data.kind === 'choice' ? /** @type {HTMLSelectElement} */ (this.control).options[0]?.value ?? '' : '';
    this.otherwise = data.otherwise ?? '';
    if (data.kind === 'choice' && data.choices?.includes(this.otherwise)) this.usual = this.otherwise;
    this.required = data.required === true;
    const id = `field-${++fields}`;
    const help = data.help ? el('small', { id: `${id}-help` }, data.help) : null;
    for (const [name, value] of Object.entries({ id, autocomplete: 'off', 'aria-describedby': help?.id ?? '' })) {
      if (value) this.control.setAttribute(name, value);
    }
    const isTyped = data.kind === 'text' || data.kind === 'number';
    this.control.addEventListener('input', () => changed(isTyped ? 'typing' : 'chosen'));
    if (isTyped) this.control.addEventListener('change', () => changed('typed'));
    this.element = el('div', { class: `field ${data.kind}` }, el('label', { for: id }, data.label), this.control, help);
    this.value = data.value ?? '';
  }

  get isFlag() {
    return this.control instanceof HTMLInputElement && this.control.type === 'checkbox';
  }

  /// As it stands in an address; empty where it is what it is anyway.
  get value() {
    if (this.isFlag) return /** @type {HTMLInputElement} */ (this.control).checked ? 'true' : '';
    const text = this.control.value.trim();
    return text === this.otherwise || (text === this.usual && !this.required) ? '' : text;
  }

  set value(text) {
    if (this.isFlag) /** @type {HTMLInputElement} */ (this.control).checked = text === 'true';
    else this.control.value = text || this.usual;
    // A choice that is not on offer is shown nevertheless: what is wrong with it is said.
    if (this.control instanceof HTMLSelectElement && text && this.control.value !== text) {
      this.control.append(el('option', { value: text }, text));
      this.control.value = text;
    }
  }

  /** @param {boolean} isWrong */
  mark(isWrong) {
    if (isWrong) this.control.setAttribute('aria-invalid', 'true');
    else this.control.removeAttribute('aria-invalid');
  }
}
