// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './styles/page.css';
import './styles/verdict.css';
import './styles/plot.css';
import './styles/heat.css';
import './styles/flame.css';
import './styles/map.css';
import './styles/table.css';
import './styles/bars.css';
import './styles/form.css';
import './styles/live.css';
import './styles/save.css';
import './styles/task.css';
import { el } from './dom.js';
import { follow } from './live.js';
import { saveRow } from './save.js';
import { Sheet } from './sheet.js';
/** @import { Document } from './types.js' */

const main = el('main');
/** @type {Document} */
let data = JSON.parse(/** @type {HTMLElement} */ (document.getElementById('document')).textContent);
const program = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name=generator]')).content;
document.body.append(main, el('footer', {},
  el('span', {}, data.live || data.form
    ? `Shown by ${program}.`
    : `Made by ${program}. Everything is in this file; nothing is sent anywhere.`),
  saveRow(() => '', { JSON: () => `${JSON.stringify(data)}\n` })));
const sheet = new Sheet(main);
sheet.show(data);

/** @param {Document} newer */
function renew(newer) {
  data = newer;
  sheet.show(newer);
}

// A newer document of the same page, from whoever has one.
window.addEventListener('ebb-document', (event) => renew(/** @type {CustomEvent<Document>} */ (event).detail));
if (data.live) document.body.prepend(follow(data.live, renew));
