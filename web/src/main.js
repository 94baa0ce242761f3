// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './styles/page.css';
import './styles/verdict.css';
import './styles/plot.css';
import './styles/map.css';
import './styles/table.css';
import './styles/bars.css';
import { barChart } from './bars.js';
import { el, items } from './dom.js';
import { heading } from './heading.js';
import { memoryMap } from './map.js';
import { plot } from './plot.js';
import { table } from './table.js';
import { verdict } from './verdict.js';

function show(data) {
  const drawn = [...items(data.plots).map(plot), ...items(data.maps).map(memoryMap)];
  document.body.append(el('main', {},
    heading(data),
    data.verdict ? verdict(data.verdict) : null,
    drawn.map(({ element }) => element),
    items(data.bars).map(barChart),
    items(data.tables).map(table)));
  drawn.forEach(({ draw }) => draw());
  const program = document.querySelector('meta[name=generator]').content;
  document.body.append(el('footer', {}, `Made by ${program}. Everything is in this file; nothing is sent anywhere.`));
}

show(JSON.parse(document.getElementById('document').textContent));
