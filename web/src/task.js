// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { isPath } from './table_cells.js';
/** @import { Task } from './types.js' */

/** @param {number} share */
const percent = (share) => `${Math.floor(100 * share)} %`;

/// The share of a task that is done, between 0 and 1; null where it is not known.
/** @param {unknown} share */
const shareOf = (share) => (typeof share === 'number' && Number.isFinite(share) && share > 0 ? Math.min(1, share) : null);

/// Something that goes on at the server, how far it is, and a button that ends it.
/** @param {Task} data */
export function task({ name, share, stop }) {
  const bar = el('progress', { max: 1, 'aria-label': name });
  const value = el('span', { class: 'value' });
  const said = el('p', { class: 'task-said', role: 'alert' });
  const button = isPath(stop) ? el('button', { type: 'button', onclick: ask }, 'Stop') : null;

  /** @param {unknown} now */
  function show(now) {
    const known = shareOf(now);
    if (known === null) bar.removeAttribute('value');
    else bar.value = known;
    value.textContent = known === null ? '' : percent(known);
  }

  async function ask() {
    if (!button || !stop) return;
    button.disabled = true;
    said.textContent = '';
    try {
      const answer = await fetch(stop, { method: 'POST', cache: 'no-store' });
      if (answer.ok) {
        button.textContent = 'Stopping';
        return;
      }
      said.textContent = (await answer.text()).trim().slice(0, 1000) || `The server answered ${answer.status}.`;
    } catch {
      said.textContent = 'The server does not answer.';
    }
    button.disabled = false;
  }

  /** @param {Event} event */
  const hear = (event) => show(/** @type {CustomEvent} */ (event).detail);
  window.addEventListener('ebb-share', hear);
  show(share);
  return {
    element: el('section', { class: 'card task', 'aria-label': 'In progress' },
      el('span', { class: 'name', role: 'status' }, name), bar, value, button, said),
    close: () => window.removeEventListener('ebb-share', hear),
  };
}
