// SPDX-License-Identifier: Apache-2.0
import 'uplot/dist/uPlot.min.css';
import './styles/page.css';
import './styles/verdict.css';
import './styles/plot.css';
import './styles/flame.css';
import './styles/map.css';
import './styles/table.css';
import './styles/bars.css';
import { barChart } from './bars.js';
import { el, items } from './dom.js';
import { flameGraph } from './flame.js';
import { heading } from './heading.js';
import { memoryMap } from './map.js';
import { plot } from './plot.js';
import { table } from './table.js';
import { verdict } from './verdict.js';

function show(data) {
  const plots = items(data.plots).map(plot);
  const maps = items(data.maps).map(memoryMap);
  document.body.append(el('main', {},
    heading(data),
    data.verdict ? verdict(data.verdict) : null,
    plots.map(({ element }) => element),
    items(data.flames).map(flameGraph),
    maps.map(({ element }) => element),
    items(data.bars).map(barChart),
    items(data.tables).map(table)));
  [...plots, ...maps].forEach(({ draw }) => draw());
  const program = document.querySelector('meta[name=generator]').content;
  document.body.append(el('footer', {}, `Made by ${program}. Everything is in this file; nothing is sent anywhere.`));
}

show(JSON.parse(document.getElementById('document').textContent));
