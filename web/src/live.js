// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
/** @import { Document, Live } from './types.js' */

/// Between two tries to get a document that could not be had.
const RETRY = 3000;

/** @param {Date} date */
const clock = (date) => date.toLocaleTimeString([], { hour12: false });

/// Within the server that the page came from.
/** @param {unknown} path */
const isAddress = (path) => typeof path === 'string' && /^[a-z0-9,/-]+$/.test(path);

/// The revision that an event is about, and the share of a task that is done; null where there is none.
/** @type {(data: unknown) => { revision: string, share: number | null }} */
export function readEvent(data) {
  const [revision, done] = String(data).split(' ');
  return { revision, share: done === undefined ? null : Number(done) / 100 };
}

/// Asks now and then for a page that does not change any more, which keeps it, until it is gone: without a connection
/// that stays open, of which a browser has few.
/** @type {(live: Live, say: (kind: string, text: string) => void) => void} */
function keep({ events, said, keep_seconds: seconds = 0 }, say) {
  async function ask() {
    try {
      const answer = await fetch(events, { method: 'HEAD', cache: 'no-store' });
      if (answer.status === 404) return say('over', 'No longer there');
      say('', said || 'Live');
    } catch {
      say('lost', 'The server does not answer; trying again');
    }
    setTimeout(ask, 1000 * seconds);
  }
  setTimeout(ask, 1000 * seconds);
}

/// Follows a page that goes on: gets each newer document from the server and has it shown, until one says
/// that it is the last. How far a task is goes to whoever listens for it. Returns what says how all that stands.
/** @type {(live: Live, show: (data: Document) => void) => HTMLElement} */
export function follow(live, show) {
  const state = el('span', { role: 'status' }, live.said || 'Live');
  const when = el('span', { class: 'when' });
  const element = el('p', { class: 'live' }, el('span', { class: 'pulse', 'aria-hidden': 'true' }), state, when);
  if (!isAddress(live.events) || !isAddress(live.document)) return element;
  if (live.keep_seconds) {
    keep(live, say);
    return element;
  }
  /** @type {string | undefined} */
  let shown = live.revision;
  /** @type {string | null | undefined} */
  let asked = shown;
  let newest = shown;
  let asking = false;
  let well = live.said || 'Live';
  const source = new EventSource(live.events);

  /** @type {(kind: string, text: string) => void} */
  function say(kind, text) {
    element.className = `live ${kind}`;
    if (state.textContent !== text) state.textContent = text;
  }

  /** @param {string} text */
  function end(text) {
    source.close();
    say('over', text);
  }

  async function ask() {
    // What came may be newer than what was asked for.
    if (asking || newest === asked || newest === shown || source.readyState === EventSource.CLOSED) return;
    asking = true;
    asked = newest;
    try {
      const points = 2 * Math.max(300, Math.min(document.body.clientWidth, 4000));
      const answer = await fetch(`${live.document}?points=${points}`, { cache: 'no-store' });
      if (answer.status === 404) return end('No longer there');
      if (!answer.ok) throw new Error(answer.statusText);
      /** @type {Document} */
      const data = await answer.json();
      shown = data.live?.revision;
      show(data);
      when.textContent = `, updated ${clock(new Date())}`;
      if (!data.live) return end('Ended');
      if (data.live.keep_seconds) {
        source.close();
        say('', data.live.said || 'Live');
        return keep(data.live, say);
      }
      well = data.live.said || 'Live';
      say('', well);
    } catch {
      asked = null;
      say('lost', 'The server does not answer; trying again');
      setTimeout(ask, RETRY);
      return;
    } finally {
      asking = false;
    }
    ask();
  }

  source.onmessage = ({ data }) => {
    const { revision, share } = readEvent(data);
    if (share !== null) window.dispatchEvent(new CustomEvent('ebb-share', { detail: share }));
    newest = revision;
    ask();
  };
  source.onopen = () => say('', well);
  source.onerror = () => say('lost', source.readyState === EventSource.CLOSED
    ? 'The server is gone; reload the page to try again' : 'Connection lost; trying again');
  return element;
}
