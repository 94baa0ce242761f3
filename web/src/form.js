// SPDX-License-Identifier: Apache-2.0
import { copyButton } from './copy.js';
import { el, items } from './dom.js';
import { Kind } from './form_kind.js';
/** @import { Change, Changed } from './form_field.js' */
/** @import { Document, Form } from './types.js' */
/** @import { Piece } from './sheet.js' */

/// While somebody types, an answer is asked for after such a pause, in milliseconds.
const PAUSE = 200;
/// An answer that takes longer is said to be on its way.
const SLOW = 400;
/// Until it is asked for again, where it could not be had.
const RETRY = 2000;
const KEPT = 'Shown is the last plan that could be made.';

/// Puts a query into the page's address, as a step of its history or in place of the one that stands there.
/** @type {(query: string, isStep: boolean) => void} */
function writeQuery(query, isStep) {
  const address = `${window.location.pathname}?${query}`;
  try {
    if (isStep) window.history.pushState(null, '', address);
    else window.history.replaceState(null, '', address);
  } catch {
    // Browsers refuse too many changes in a row.
  }
}

/// A form beside its answer. Its fields belong to who types: an answer changes none of them.
class FormWidget {
  /** @param {Form} data */
  constructor(data) {
    this.data = data;
    /** @type {Changed} */
    const changed = (change) => this.changed(change);
    this.kinds = items(data.kinds).map((kind) => new Kind(kind, changed));
    this.kind = this.kinds.find(({ name }) => name === data.kind) ?? this.kinds[0];
    this.choices = this.kinds.map(({ name, label }) => {
      const choice = el('input', { type: 'radio', name: 'kind', value: name, autocomplete: 'off', onchange: () => this.choose(name) });
      return { choice, element: el('label', {}, choice, label) };
    });
    this.said = el('p', { class: 'form-said', role: 'status' });
    this.command = el('div', { class: 'form-command' });
    const form = el('form', {
      onsubmit: (event) => {
        event.preventDefault();
        this.changed('typed');
      },
    },
    el('fieldset', { class: 'form-kinds' }, el('legend', { class: 'offscreen' }, 'What to plan'),
      this.choices.map(({ element }) => element)),
    this.said, this.kinds.map(({ element }) => element));
    this.element = el('section', { class: 'card form', 'aria-label': 'What to plan' }, form, this.command);
    /// Whether the change that goes on has its step in the page's history.
    this.hasStep = false;
    this.hasAnswer = !data.failed;
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {string | undefined} */
    this.shown = undefined;
    this.showKind();
    this.asked = this.kind.query;
    this.first = this.asked;
    this.show(data);
    window.addEventListener('popstate', () => this.goBack());
  }

  /// Requires: the element stands in the page.
  draw() {
    this.element.parentElement?.classList.add('with-form');
  }

  showKind() {
    for (const kind of this.kinds) kind.element.hidden = kind !== this.kind;
    for (const { choice } of this.choices) choice.checked = choice.value === this.kind.name;
  }

  /** @param {string} name */
  choose(name) {
    this.kind = this.kinds.find((kind) => kind.name === name) ?? this.kind;
    this.showKind();
    this.changed('chosen');
  }

  /// What is typed into one field is one step of the page's history.
  /** @param {Change} change */
  changed(change) {
    clearTimeout(this.timer);
    if (change === 'typing') {
      this.timer = setTimeout(() => this.ask(true), PAUSE);
      return;
    }
    if (change === 'chosen') this.hasStep = false;
    this.ask(true);
    this.hasStep = false;
  }

  goBack() {
    const parts = new URLSearchParams(window.location.search || this.first);
    this.kind = this.kinds.find(({ name }) => name === parts.get('kind')) ?? this.kind;
    this.kind.read(parts);
    this.showKind();
    clearTimeout(this.timer);
    this.hasStep = false;
    this.ask(false);
  }

  /// Asks for the answer to what the form says now, unless it is there already or on its way.
  /** @param {boolean} intoAddress */
  ask(intoAddress) {
    const { query } = this.kind;
    if (query === this.asked) return;
    this.asked = query;
    if (intoAddress) {
      writeQuery(query, !this.hasStep);
      this.hasStep = true;
    }
    this.get(query);
  }

  /** @param {string} query */
  async get(query) {
    this.asking?.abort();
    clearTimeout(this.retry);
    clearTimeout(this.slow);
    const asking = new AbortController();
    this.asking = asking;
    this.slow = setTimeout(() => this.say('Planning\u2026', false, true), SLOW);
    try {
      const answer = await fetch(`${this.data.document}?${query}`, { cache: 'no-store', signal: asking.signal });
      /** @type {Document | null} */
      const made = answer.ok ? await answer.json() : null;
      const line = made ? '' : (await answer.text()).trim();
      if (asking.signal.aborted) return;
      clearTimeout(this.slow);
      if (made) this.answer(made);
      else this.fail(line || `The server answered ${answer.status}.`);
      if (answer.status === 503) this.again(query);
    } catch {
      if (asking.signal.aborted) return;
      clearTimeout(this.slow);
      this.fail('The server does not answer; trying again.');
      this.again(query);
    }
  }

  /** @param {Document} made */
  answer(made) {
    this.hasAnswer = true;
    window.dispatchEvent(new CustomEvent('ebb-document', { detail: made }));
    // The same answer as before changes nothing on the page.
    if (made.form) this.show(made.form);
  }

  /** @param {string} query */
  again(query) {
    this.retry = setTimeout(() => this.get(query), RETRY);
  }

  /** @param {string} line */
  fail(line) {
    this.say(line, true);
    this.kind.mark(line);
  }

  /// `isOld`: what the page shows is no answer to what the form says.
  /** @type {(line: string, failed: boolean, isOld?: boolean) => void} */
  say(line, failed, isOld = failed) {
    const whole = failed && this.hasAnswer ? `${line}${/[.?]$/.test(line) ? '' : '.'} ${KEPT}` : line;
    if (this.said.textContent !== whole) this.said.textContent = whole;
    this.said.classList.toggle('failed', failed);
    document.body.classList.toggle('stale', isOld && this.hasAnswer);
  }

  /// What a document says of its form: what came of it, and the command that prints the same.
  /** @param {Form} data */
  show({ said = '', failed = false, command = '' }) {
    if (failed) this.fail(said);
    else this.say(said, false);
    if (!failed) this.kind.mark('');
    if (command === this.shown) return;
    this.shown = command;
    this.command.replaceChildren(...(command
      ? [el('h3', {}, 'The same in a shell'),
        el('div', { class: 'paste' }, el('code', { tabindex: 0 }, command), ...copyButton(command))]
      : []));
  }
}

/// A form whose values are the page's address. A document that follows is the answer to it.
/** @type {(data: Form) => Piece<Form>} */
export function form(data) {
  const widget = new FormWidget(data);
  return {
    element: widget.element,
    draw: () => widget.draw(),
    update(next) {
      widget.show(next);
      return true;
    },
  };
}
