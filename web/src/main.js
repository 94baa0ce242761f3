// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './styles/page.css';
import './styles/verdict.css';
import './styles/plot.css';
import './styles/flame.css';
import './styles/map.css';
import './styles/table.css';
import './styles/bars.css';
import './styles/live.css';
import { el } from './dom.js';
import { follow } from './live.js';
import { Sheet } from './sheet.js';

const main = el('main');
const data = JSON.parse(document.getElementById('document').textContent);
const program = document.querySelector('meta[name=generator]').content;
document.body.append(main, el('footer', {}, data.live
  ? `Shown by ${program}.`
  : `Made by ${program}. Everything is in this file; nothing is sent anywhere.`));
const sheet = new Sheet(main);
sheet.show(data);
// A newer document of the same page, from whoever has one.
window.addEventListener('ebb-document', ({ detail }) => sheet.show(detail));
if (data.live) document.body.prepend(follow(data.live, (newer) => sheet.show(newer)));
