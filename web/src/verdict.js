// SPDX-License-Identifier: Apache-2.0
import { copyButton } from './copy.js';
import { el } from './dom.js';
/** @import { Fix, Verdict } from './types.js' */

const TONES = ['neutral', 'good', 'warning', 'bad'];
const SIGNS = { neutral: '\u2022', good: '\u2713', warning: '!', bad: '\u2715' };

/** @type {(fix: Fix) => HTMLElement} */
function fixOf({ text, paste }) {
  return el('div', { class: 'fix' },
    el('h3', {}, 'What would fix it'),
    text ? el('p', {}, text) : null,
    paste
      ? el('div', { class: 'paste' }, el('code', { tabindex: 0 }, paste), ...copyButton(paste))
      : null);
}

/// The card that says what was found, how sure that is, why, and what to do.
/** @type {(found: Verdict) => HTMLElement} */
export function verdict({ name, headline, tone, confidence, also = [], evidence = [], fix }) {
  const kind = TONES.includes(tone) ? tone : 'neutral';
  return el('section', { class: `card verdict ${kind}`, 'aria-label': 'Verdict' },
    el('p', { class: 'verdict-name' },
      el('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[kind]),
      el('strong', {}, name),
      confidence ? el('span', { class: 'confidence' }, confidence) : null),
    headline ? el('h2', {}, headline) : null,
    evidence.length ? el('ul', { class: 'evidence' }, evidence.map((line) => el('li', {}, line))) : null,
    also.length ? el('p', { class: 'note' }, `Also found: ${also.join(', ')}`) : null,
    fix && (fix.text || fix.paste) ? fixOf(fix) : null);
}
