// SPDX-License-Identifier: Apache-2.0
import { copyButton } from './copy.js';
import { el, items } from './dom.js';
import { Kind } from './form_kind.js';
/** @import { Document, Form } from './types.js' */
/** @import { Piece } from './sheet.js' */

/// While somebody types, an answer is asked for after such a pause, in milliseconds.
const PAUSE = 200;
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
    /** @type {(typing: boolean) => void} */
    const changed = (typing) => this.changed(typing);
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
        this.changed(false);
      },
    },
    el('fieldset', { class: 'form-kinds' }, el('legend', { class: 'offscreen' }, 'What to plan'),
      this.choices.map(({ element }) => element)),
    this.kinds.map(({ element }) => element), this.said);
    this.element = el('section', { class: 'card form', 'aria-label': 'What to plan' }, form, this.command);
    /// Whether the change that goes on has its step in the page's history.
    this.hasStep = false;
    this.hasAnswer = !data.failed;
    /** @type {AbortController | null} */
    this.asking = null;
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
    this.changed(false);
  }

  /// While somebody types, all of it is one step of the page's history.
  /** @param {boolean} typing */
  changed(typing) {
    clearTimeout(this.timer);
    if (typing) {
      this.timer = setTimeout(() => this.ask(true), PAUSE);
      return;
    }
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
    const asking = new AbortController();
    this.asking = asking;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(`${this.data.document}?${query}`, { cache: 'no-store', signal: asking.signal });
      if (answer.ok) {
        /** @type {Document} */
        const made = await answer.json();
        if (asking.signal.aborted) return;
        this.hasAnswer = true;
        window.dispatchEvent(new CustomEvent('ebb-document', { detail: made }));
      } else {
        const line = (await answer.text()).trim();
        if (asking.signal.aborted) return;
        this.fail(line || `The server answered ${answer.status}.`);
        if (answer.status === 503) this.again(query);
      }
    } catch {
      if (asking.signal.aborted) return;
      this.fail('The server does not answer; trying again.');
      this.again(query);
    }
    this.element.removeAttribute('aria-busy');
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

  /** @type {(line: string, failed: boolean) => void} */
  say(line, failed) {
    const whole = failed && this.hasAnswer ? `${line}${/[.?]$/.test(line) ? '' : '.'} ${KEPT}` : line;
    if (this.said.textContent !== whole) this.said.textContent = whole;
    this.said.classList.toggle('failed', failed);
    document.body.classList.toggle('stale', failed && this.hasAnswer);
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
