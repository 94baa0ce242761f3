// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';

/** @type {(text: string) => Promise<boolean>} */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/// The way without permission, for browsers that keep the clipboard from pages on disk.
/** @type {(text: string) => boolean} */
function copySelected(text) {
  const area = el('textarea', { readonly: true, class: 'offscreen' });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

/// A button that copies `text` and says whether it did.
/** @type {(text: string) => HTMLElement[]} */
export function copyButton(text) {
  const status = el('span', { role: 'status', class: 'copied' });
  const button = el('button', {
    type: 'button',
    class: 'copy',
    async onclick() {
      status.textContent = (await toClipboard(text)) ? 'Copied' : 'Select the text and copy it by hand';
      button.focus();
    },
  }, 'Copy');
  return [button, status];
}
