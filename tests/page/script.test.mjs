// SPDX-License-Identifier: Apache-2.0
// The parts of web/ that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxesOf, neighbour, pathTo, treeOf } from '../../web/src/flame_layout.js';
import { bytes, format, increments, seconds, ticks } from '../../web/src/format.js';
import { Line, windowOf } from '../../web/src/line.js';
import { readEvent } from '../../web/src/live.js';
import { Layout, readSegments } from '../../web/src/map_layout.js';
import { MapView } from '../../web/src/map_view.js';
import { View } from '../../web/src/plot_view.js';
import { fragmentOf, readFragment } from '../../web/src/table_address.js';
import { isPath, keyOf, sortedBy } from '../../web/src/table_cells.js';
import { numberOf, pathOf } from '../../web/src/table_choice.js';
import { countText, passes, textsOf, valuesOf, wordsOf } from '../../web/src/table_search.js';

const GiB = 1024 ** 3;

test('bytes read as the program prints them', () => {
  assert.equal(bytes(0), '0 B');
  assert.equal(bytes(512), '512 B');
  assert.equal(bytes(1536), '1.5 KiB');
  assert.equal(bytes(24 * GiB), '24.0 GiB');
  assert.equal(bytes(1024 * 1024 - 1), '1.0 MiB');
  assert.equal(bytes(-2 * GiB), '-2.0 GiB');
});

test('numbers follow their unit, and what is missing is a dash', () => {
  assert.equal(format(1234567, 'count'), '1,234,567');
  assert.equal(format(12.345, 'percent'), '12.3 %');
  assert.equal(format(1.03, 'number'), '1.03');
  assert.equal(format('as it is', 'bytes'), 'as it is');
  assert.equal(format(null, 'bytes'), '\u2013');
  assert.equal(format(NaN, 'count'), '\u2013');
});

test('an event says the revision, and how far a task is', () => {
  assert.deepEqual(readEvent('a1f'), { revision: 'a1f', share: null });
  assert.deepEqual(readEvent('3 41'), { revision: '3', share: 0.41 });
});

test('seconds go from microseconds to hours', () => {
  assert.equal(seconds(0.0000123), '12.3 \u00b5s');
  assert.equal(seconds(0.93), '930 ms');
  assert.equal(seconds(2.61), '2.61 s');
  assert.equal(seconds(150), '2 min 30 s');
  assert.equal(seconds(7500), '2 h 05 min');
  assert.equal(seconds(-150), '\u22122 min 30 s');
});

test('labels of an axis share a unit and show their step', () => {
  assert.deepEqual(ticks([0, 8 * GiB, 16 * GiB], 'bytes'), ['0 GiB', '8 GiB', '16 GiB']);
  assert.deepEqual(ticks([GiB, 1.25 * GiB], 'bytes'), ['1.00 GiB', '1.25 GiB']);
  assert.deepEqual(ticks([0, 2000], 'count'), ['0', '2,000']);
  assert.deepEqual(ticks([3600, 7200], 'seconds'), ['1:00 h', '2:00 h']);
  assert.ok(increments('count').every((step) => step >= 1));
});

test('a step holds its value, a line is straight between points', () => {
  const data = { name: 'a', x: [0, 10, 20], y: [1, 3, null] };
  const step = new Line({ ...data, step: true });
  assert.equal(step.at(9.5), 1);
  assert.equal(step.at(10), 3);
  assert.ok(Number.isNaN(step.at(-1)) && Number.isNaN(step.at(21)));
  assert.equal(new Line({ ...data, step: false }).at(5), 2);
  assert.equal(step.high, 3);
});

test('a window with few points holds each of them', () => {
  const a = new Line({ x: [0, 2, 4], y: [1, 2, 3] });
  const b = new Line({ x: [1, 2, 9], y: [5, 6, 7] });
  assert.deepEqual(windowOf([a, b], 0, 9, 100),
    [[0, 1, 2, 4, 9], [1, 1, 2, 3, null], [null, 5, 6, 6, 7]]);
});

test('a window with many points keeps every peak and stays small', () => {
  const count = 200000;
  const y = Array.from({ length: count }, (_, i) => (i * 37) % 1000);
  y[123456] = 9999;
  y[150000] = -9999;
  const line = new Line({ x: y.map((_, i) => i), y });
  const [x, values] = windowOf([line], 0, count - 1, 800);
  assert.equal(x.length, 1600);
  assert.ok(x.every((at, i) => i === 0 || at > x[i - 1]));
  assert.equal(Math.max(...values), 9999);
  assert.equal(Math.min(...values), -9999);
  assert.ok(Math.abs(x[values.indexOf(9999)] - 123456) <= count / 800);
  const [, zoomed] = windowOf([line], 123400, 123500, 800);
  assert.ok(zoomed.includes(9999) && zoomed.includes(y[123457]));
});

test('a plot begins at zero and takes in a limit that is near', () => {
  const line = new Line({ x: [0, 1], y: [5, 10] });
  assert.ok(new View([line], { value: 20 }).y[1] > 20);
  const far = new View([line], { value: 2000 });
  assert.equal(far.y[0], 0);
  assert.ok(far.y[1] < 20);
  far.scale(0.5);
  far.shift(-9);
  assert.deepEqual(far.x, [0, 0.5]);
  assert.ok(far.zoomed);
  far.reset();
  assert.ok(!far.zoomed);
});

test('a band is kept where it is as long as its line, and fits in height', () => {
  const banded = new Line({ x: [0, 1], y: [5, 10], band_low: [-2, 8], band_high: [6, 30] });
  assert.ok(banded.hasBand);
  assert.equal(banded.high, 10);
  const { y } = new View([banded]);
  assert.ok(y[0] < -2 && y[1] > 30);
  assert.ok(!new Line({ x: [0, 1], y: [5, 10], band_low: [4], band_high: [6, 7] }).hasBand);
});

const segment = (address, size, blocks) => ({ address, size, kind: 'large', blocks });

test('every byte of a segment belongs to one block', () => {
  const [read] = readSegments({
    segments: [segment('0x1000', 4096, [[1024, 512, 500, 1, 0], [1280, 512, 0, 0, -1], [4000, 9999, 0, 9, -1]])],
  });
  assert.deepEqual(read.blocks, [
    [0, 1024, 0, 3, -1],
    [1024, 512, 500, 1, 0],
    [1536, 256, 0, 0, -1],
    [1792, 2208, 0, 3, -1],
    [4000, 96, 0, 3, -1],
  ]);
});

test('segments lie by size or by address, beyond what numbers can tell apart', () => {
  const segments = readSegments({
    segments: [
      segment('0xffffffffffffff00', 100, []),
      segment('0xfffffffffffffe00', 200, []),
      segment('0xfffffffffffffeff', 300, []),
    ],
  });
  const sizes = (order) => new Layout(segments, order).segments.map(({ size }) => size);
  assert.deepEqual(sizes('size'), [300, 200, 100]);
  assert.deepEqual(sizes('address'), [200, 300, 100]);
  const layout = new Layout(segments, 'address');
  assert.equal(layout.address(layout.blockAt(250)).toString(16), 'fffffffffffffeff');
  assert.equal(layout.blockAt(600), -1);
});

test('zooming a map keeps the byte under the pointer', () => {
  const view = new MapView(16 * GiB, 1000);
  const byte = view.byteAt(400, 100);
  for (let i = 0; i < 10; ++i) view.zoomAt(400, 100, 1.5);
  assert.ok(Math.abs(view.byteAt(400, 100) - byte) < view.bytesPerPixel);
  view.zoomAt(400, 100, 1e-9);
  assert.equal(view.zoom, 1);
  view.zoomAt(0, 0, 1e12);
  view.reveal(10 * GiB, 512);
  const [from, to] = [view.visibleRows()[0], view.visibleRows().at(-1)];
  assert.ok(from.from <= 10 * GiB && 10 * GiB < to.to);
  view.pan(-1e12, -1e12);
  assert.ok(view.visibleRows().at(-1).to <= view.total * (1 + 1e-12));
});

test('rows without a value sort last either way', () => {
  const rows = [[2], [null], [10], [1]];
  assert.deepEqual(sortedBy(rows, 0, false), [3, 0, 2, 1]);
  assert.deepEqual(sortedBy(rows, 0, true), [2, 0, 3, 1]);
  assert.deepEqual(sortedBy([['b10'], ['b9']], 0, false), [1, 0]);
});

const RUN = (number) => ({ text: `${number}`, path: `runs/${number}` });

test('rows are searched as they are read, whatever the letters', () => {
  const columns = [{ unit: 'text' }, { unit: 'bytes' }, { unit: 'text' }];
  const texts = textsOf([[RUN(3), 1.5 * GiB, 'Killed'], [RUN(4), null]], columns);
  assert.deepEqual(texts, ['3\n1.5 gib\nkilled', '4\n\n']);
  assert.deepEqual(wordsOf('  GiB \t KILLED '), ['gib', 'killed']);
  assert.deepEqual(wordsOf(' '), []);
});

test('the values of a column come once, in their order, the empty one last', () => {
  const rows = [['b10', 2], ['b9', null], ['', 10], ['b10', 2], [null]];
  assert.deepEqual(valuesOf(rows, 0, 'text'), ['b9', 'b10', '']);
  assert.deepEqual(valuesOf(rows, 1, 'count'), ['2', '10', '']);
  const columns = [{ unit: 'text' }, { unit: 'count' }];
  assert.ok(passes(rows[0], new Map([[0, 'b10'], [1, '2']]), columns));
  assert.ok(!passes(rows[0], new Map([[0, 'b1']]), columns));
  assert.ok(passes(rows[4], new Map([[0, ''], [1, '']]), columns));
});

test('a count says how many of how many', () => {
  assert.equal(countText(1234, 1234), '1,234 rows');
  assert.equal(countText(12, 340), '12 of 340 rows');
  assert.equal(countText(1, 1), '1 row');
});

const SEARCHED = [
  { name: 'Run' }, { name: 'Peak' }, { name: 'q', filter: true, values: ['1'] },
  { name: 'Outcome', filter: true, values: ['exit status 0', 'a&b=c#d', ''] },
];

test('what is looked for goes into an address and comes back', () => {
  for (const text of SEARCHED[3].values) {
    const looked = { query: 'gpt +50% \u00e9', filters: new Map([[3, text]]), sort: { column: 1, descending: true } };
    const fragment = fragmentOf(looked, SEARCHED);
    assert.match(fragment, /^q=[^#]*&outcome=[^#]*&sort=-Peak$/);
    assert.deepEqual(readFragment(`#${fragment}`, SEARCHED), looked);
  }
  const nothing = { query: '', filters: new Map(), sort: null };
  assert.equal(fragmentOf(nothing, SEARCHED), '');
  assert.deepEqual(readFragment('', SEARCHED), nothing);
  assert.equal(fragmentOf({ ...nothing, sort: { column: 0, descending: false } }, SEARCHED), 'sort=Run');
});

test('of an address only what the table has is taken', () => {
  const nothing = { query: '', filters: new Map(), sort: null };
  for (const garbage of ['#section-2', '#outcome=never&sort=--Peak', '#sort=-&peak=1&__proto__=1&constructor', '#%',
    '#%ff%00&&&=']) {
    assert.deepEqual(readFragment(garbage, SEARCHED), nothing, garbage);
  }
  assert.deepEqual(readFragment('#q=1&q=2&sort=Peak', SEARCHED),
    { ...nothing, query: '1', sort: { column: 1, descending: false } });
  assert.equal(readFragment(`#q=${'x'.repeat(1e6)}`, SEARCHED).query.length, 200);
});

test('links lead down from the page only, and rows are known by them', () => {
  for (const path of ['runs/3', 'runs/3,5', 'a-b']) assert.ok(isPath(path), path);
  for (const path of ['', '/runs', '//other', '../x', 'javascript:1', 'a?b', 'a#b', ',3', null, {}]) {
    assert.ok(!isPath(path), String(path));
  }
  assert.equal(keyOf([RUN(3), 'x']), keyOf([{ ...RUN(3), text: 'three' }]));
  assert.notEqual(keyOf([RUN(3)]), keyOf(['runs/3']));
  assert.equal(keyOf([]), keyOf([null]));
});

test('two to eight rows with a number lead side by side, in the order of their numbers', () => {
  assert.equal(numberOf(RUN(12), 'runs/'), '12');
  for (const cell of [RUN(''), RUN('3,5'), RUN('x'), '12', null, { text: '12', path: 'other/12' }]) {
    assert.equal(numberOf(cell, 'runs/'), null);
  }
  assert.equal(pathOf(['12', '3', '5'], 'runs/'), 'runs/3,5,12');
  assert.equal(pathOf(['3'], 'runs/'), null);
  assert.ok(pathOf([...'12345678'], 'runs/'));
  assert.equal(pathOf([...'123456789'], 'runs/'), null);
});

const FLAME = {
  frames: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
  stacks: [{ frames: [0, 1], values: [3, 0] }, { frames: [0, 2], values: [5, 1] }, { frames: [2], values: [2, NaN] }],
};

test('stacks that begin alike share their calls, the larger first', () => {
  const root = treeOf(FLAME, 0, 'all');
  assert.equal(root.value, 10);
  assert.deepEqual(root.children.map(({ name, value }) => [name, value]), [['a', 8], ['c', 2]]);
  assert.deepEqual(root.children[0].children.map(({ name }) => name), ['c', 'b']);
  assert.deepEqual(pathTo(root.children[0].children[1]).map(({ name }) => name), ['all', 'a', 'b']);
  assert.equal(treeOf(FLAME, 1, 'all').value, 1);
  assert.equal(treeOf(FLAME, 2, 'all').value, 0);
  assert.equal(treeOf({ frames: null, stacks: [{ frames: [4], values: [1] }, null] }, 0, 'all').children.length, 0);
});

test('boxes fill the width of what they are in, and the narrowest are left out', () => {
  const root = treeOf(FLAME, 0, 'all');
  assert.deepEqual(boxesOf(root).map(({ call, left, width, row }) => [call.name, left, width, row]),
    [['all', 0, 1, 0], ['a', 0, 0.8, 1], ['c', 0.8, 0.2, 1], ['c', 0, 0.5, 2], ['b', 0.5, 0.3, 2]]);
  const widened = boxesOf(root.children[0]);
  assert.deepEqual(widened.map(({ call, width }) => [call.name, width]),
    [['all', 1], ['a', 1], ['c', 0.625], ['b', 0.375]]);
  const dust = { frames: [{ name: 'a' }, { name: 'b' }], stacks: [{ frames: [0], values: [1e6] }, { frames: [1], values: [1] }] };
  assert.equal(boxesOf(treeOf(dust, 0, 'all')).length, 2);
});

test('arrow keys go from call to call', () => {
  const root = treeOf(FLAME, 0, 'all');
  const [a, c] = root.children;
  assert.equal(neighbour(root, 'ArrowDown'), a);
  assert.equal(neighbour(a, 'ArrowRight'), c);
  assert.equal(neighbour(c, 'ArrowLeft'), a);
  assert.equal(neighbour(c, 'ArrowUp'), root);
  for (const [call, key] of [[root, 'ArrowUp'], [c, 'ArrowDown'], [c, 'ArrowRight'], [a, 'ArrowLeft'], [a, 'x']]) {
    assert.equal(neighbour(call, key), null);
  }
});
