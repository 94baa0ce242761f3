// SPDX-License-Identifier: Apache-2.0
import { copyButton } from './copy.js';
import { el } from './dom.js';
/** @import { Fix, Verdict } from './types.js' */

const TONES = ['neutral', 'good', 'warning', 'bad'];
const SIGNS = { neutral: '\u2022', good: '\u2713', warning: '!', bad: '\u2715' };

/** @type {(heading: string, fix: Fix) => HTMLElement} */
function fixOf(heading, { text, paste }) {
  return el('div', { class: 'fix' },
    el('h3', {}, heading),
    text ? el('p', {}, text) : null,
    paste
      ? el('div', { class: 'paste' }, el('code', { tabindex: 0 }, paste), ...copyButton(paste))
      : null);
}

/** @type {(label: string, heading: string, found: Verdict) => HTMLElement} */
function card(label, heading, { name, headline, tone, confidence, also = [], evidence = [], fix }) {
  const kind = TONES.includes(tone) ? tone : 'neutral';
  return el('section', { class: `card verdict ${kind}`, 'aria-label': label },
    el('p', { class: 'verdict-name' },
      el('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[kind]),
      el('strong', {}, name),
      confidence ? el('span', { class: 'confidence' }, confidence) : null),
    headline ? el('h2', {}, headline) : null,
    evidence.length ? el('ul', { class: 'evidence' }, evidence.map((line) => el('li', {}, line))) : null,
    also.length ? el('p', { class: 'note' }, `Also found: ${also.join(', ')}`) : null,
    fix && (fix.text || fix.paste) ? fixOf(heading, fix) : null);
}

/// The card that says what was found, how sure that is, why, and what to do.
/** @param {Verdict} data */
export const verdict = (data) => card('Verdict', 'What would fix it', data);

/// The same for what would be better.
/** @param {Verdict} data */
export const advice = (data) => card('Advice', 'What to do', data);
