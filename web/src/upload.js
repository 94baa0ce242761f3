// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { format } from './format.js';
import { isPath } from './table_cells.js';

const hasFile = ({ dataTransfer }) => [...dataTransfer?.types ?? []].includes('Files');

/// Where an answer leads to; null where it is none of this server's pages.
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
  let request = null;

  function rest(line) {
    request = null;
    said.textContent = line;
    how.textContent = '';
    input.value = '';
    [bar.hidden, cancel.hidden, choose.hidden] = [true, true, false];
  }

  function answered() {
    const page = pageOf(request);
    if (page !== null) window.location.href = page;
    rest(page !== null ? '' : request.responseText.trim().slice(0, 1000) || `The server answered ${request.status}.`);
  }

  function send(file) {
    if (request || !file || !isPath(path)) return;
    if (file.size > most) {
      rest(`${file.name} has ${format(file.size, 'bytes')}: expected at most ${format(most, 'bytes')}`);
      return;
    }
    request = new XMLHttpRequest();
    request.open('POST', `${path}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded, total }) => {
      bar.value = total > 0 ? loaded / total : 0;
      how.textContent = loaded < total ? `Sending ${file.name}` : `Reading ${file.name}`;
      if (loaded >= total) bar.removeAttribute('value');
    };
    request.onload = answered;
    request.onerror = () => rest('The server took no more of it, or is gone.');
    request.onabort = () => rest('');
    said.textContent = '';
    how.textContent = `Sending ${file.name}`;
    [bar.hidden, cancel.hidden, choose.hidden] = [false, false, true];
    request.send(file);
  }

  function chosen() {
    send(input.files[0]);
  }

  const mark = (over) => element.classList.toggle('over', over);
  const listeners = {
    dragover(event) {
      if (!hasFile(event)) return;
      event.preventDefault();
      mark(true);
    },
    dragleave: ({ relatedTarget }) => mark(relatedTarget !== null),
    drop(event) {
      if (!hasFile(event)) return;
      event.preventDefault();
      mark(false);
      send(event.dataTransfer.files[0]);
    },
  };
  for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener);
  return {
    element,
    close() {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener);
      request?.abort();
    },
  };
}
