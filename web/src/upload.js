// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { format } from './format.js';
import { isPath } from './table_cells.js';
/** @import { Upload } from './types.js' */

/** @param {DragEvent} event */
const hasFile = ({ dataTransfer }) => [...dataTransfer?.types ?? []].includes('Files');

/// Where an answer leads to; null where it is none of this server's pages.
/** @type {(request: XMLHttpRequest) => string | null} */
function pageOf(request) {
  if (request.status !== 201) return null;
  try {
    const { page } = JSON.parse(request.responseText);
    return isPath(page) ? page : null;
  } catch {
    return null;
  }
}

/// Takes a file, chosen or dropped anywhere on the page, sends it to the server and goes to the page that answers. What
/// is wrong with it is said in one line.
/** @param {Upload} data */
export function upload({ title, note, path, most }) {
  const said = el('p', { class: 'upload-said', role: 'alert' });
  const how = el('span', { role: 'status' });
  const bar = el('progress', { max: 1, hidden: true, 'aria-label': 'Upload' });
  const input = el('input', { type: 'file', class: 'offscreen', 'aria-label': `${title}: choose a file`, onchange: chosen });
  const choose = el('label', { class: 'button' }, input, 'Choose a file');
  const cancel = el('button', { type: 'button', hidden: true, onclick: () => request?.abort() }, 'Cancel');
  const element = el('section', { class: 'card upload', 'aria-label': title },
    el('div', { class: 'upload-what' }, el('h2', {}, title), el('p', { class: 'note' }, note)),
    el('div', { class: 'upload-how' }, choose, cancel, bar, how), said);
  /** @type {XMLHttpRequest | null} */
  let request = null;

  /** @param {string} line */
  function rest(line) {
    request = null;
    said.textContent = line;
    how.textContent = '';
    input.value = '';
    [bar.hidden, cancel.hidden, choose.hidden] = [true, true, false];
  }

  /** @param {XMLHttpRequest} done */
  function answered(done) {
    const page = pageOf(done);
    if (page !== null) window.location.href = page;
    rest(page !== null ? '' : done.responseText.trim().slice(0, 1000) || `The server answered ${done.status}.`);
  }

  /** @param {File | null | undefined} file */
  function send(file) {
    if (request || !file || !isPath(path)) return;
    if (file.size > most) {
      rest(`${file.name} has ${format(file.size, 'bytes')}: expected at most ${format(most, 'bytes')}`);
      return;
    }
    const sent = new XMLHttpRequest();
    request = sent;
    sent.open('POST', `${path}?name=${encodeURIComponent(file.name)}`);
    sent.setRequestHeader('Content-Type', 'application/octet-stream');
    sent.upload.onprogress = ({ loaded, total }) => {
      bar.value = total > 0 ? loaded / total : 0;
      how.textContent = loaded < total ? `Sending ${file.name}` : `Reading ${file.name}`;
      if (loaded >= total) bar.removeAttribute('value');
    };
    sent.onload = () => answered(sent);
    sent.onerror = () => rest('The server took no more of it, or is gone.');
    sent.onabort = () => rest('');
    said.textContent = '';
    how.textContent = `Sending ${file.name}`;
    [bar.hidden, cancel.hidden, choose.hidden] = [false, false, true];
    sent.send(file);
  }

  function chosen() {
    send(input.files?.[0]);
  }

  /** @param {boolean} over */
  const mark = (over) => element.classList.toggle('over', over);
  const heard = new AbortController();
  const { signal } = heard;
  window.addEventListener('dragover', (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  }, { signal });
  window.addEventListener('dragleave', (event) => mark(hasFile(event) && event.relatedTarget !== null), { signal });
  window.addEventListener('drop', (event) => {
    mark(false);
    if (!hasFile(event)) return;
    event.preventDefault();
    send(event.dataTransfer?.files[0]);
  }, { signal });
  return {
    element,
    close() {
      heard.abort();
      request?.abort();
    },
  };
}
