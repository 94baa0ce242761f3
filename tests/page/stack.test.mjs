// SPDX-License-Identifier: Apache-2.0
// Stacked lines, lines that are hidden, and views that follow newer data, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Line } from '../../web/src/line.js';
import { LineSet } from '../../web/src/line_set.js';
import { View } from '../../web/src/plot_view.js';
import { Stack } from '../../web/src/stack.js';

const lines = (...all) => all.map((line) => new Line({ step: false, ...line }));

test('parts lie one on the other, and their sum has to fit', () => {
  const stack = new Stack(lines({ x: [0, 1, 2], y: [1, 2, 3] }, { x: [0, 1, 2], y: [10, 20, 30] }));
  assert.deepEqual(stack.window(0, 2, 100), [[0, 1, 2], [1, 2, 3], [11, 22, 33]]);
  assert.equal(stack.sum.top, 33);
  assert.equal(stack.sum.at(0.5), 16.5);
  assert.equal(stack.peak, 2);
});

test('a gap adds nothing, and where nothing is known there is a gap', () => {
  const stack = new Stack(lines({ x: [0, 1, 2], y: [1, null, null] }, { x: [0, 1, 2], y: [-5, 4, null] }));
  assert.deepEqual(stack.window(0, 2, 100), [[0, 1, 2], [1, 0, null], [1, 4, null]]);
  assert.equal(stack.sum.high, 4);
});

test('parts with points of their own meet at all of them', () => {
  const sloped = new Stack(lines({ x: [0, 4], y: [0, 4] }, { x: [2, 4], y: [5, 5] }));
  assert.deepEqual(sloped.window(0, 4, 100), [[0, 2, 4], [0, 2, 4], [0, 7, 9]]);
  const stepped = new Stack([new Line({ x: [0, 4], y: [0, 4] }), new Line({ x: [2, 4], y: [5, 5] })]);
  assert.deepEqual(stepped.window(0, 4, 100), [[0, 2, 4], [0, 0, 4], [0, 5, 9]]);
  assert.ok(stepped.step && !sloped.step);
});

test('what is hidden is taken out of the stack', () => {
  const stack = new Stack(lines({ x: [0, 1], y: [1, 2] }, { x: [0, 1], y: [10, 20] }, { x: [0, 1], y: [5, 5] }));
  stack.show([true, false, true]);
  assert.deepEqual(stack.window(0, 1, 100), [[0, 1], [1, 2], [null, null], [6, 7]]);
  assert.equal(stack.sum.high, 7);
  stack.show([false, false, false]);
  assert.deepEqual(stack.window(0, 1, 100), [[0, 1], [null, null], [null, null], [null, null]]);
  assert.equal(stack.peak, null);
});

test('100,000 points of nine parts are thinned by their sum, and add up exactly', () => {
  const count = 100000;
  const x = Array.from({ length: count }, (_, i) => i / 10);
  const parts = Array.from({ length: 9 }, (_, part) => x.map((_, i) => ((i * 37 + part * 11) % 1000) + part));
  parts[4][61234] = 1e9;
  const stack = new Stack(lines(...parts.map((y) => ({ x, y }))));
  const [xs, ...edges] = stack.window(0, count / 10, 1000);
  assert.ok(xs.length <= 500 + 2);
  assert.deepEqual([xs[0], xs.at(-1)], [0, x.at(-1)]);
  assert.ok(xs.every((at, i) => i === 0 || at > xs[i - 1]));
  assert.ok(edges[8].some((top) => top >= 1e9));
  xs.forEach((at, i) => {
    const index = Math.round(at * 10);
    let height = 0;
    edges.forEach((edge, part) => {
      height += parts[part][index];
      assert.equal(edge[i], height);
    });
  });
  assert.ok(xs.some((at) => Math.round(at * 10) === 61234));
  const [zoomed] = stack.window(6120, 6126, 1000);
  assert.equal(zoomed.length, 62, 'each point, and one behind the window');
});

test('what holds after many points is what was last', () => {
  const burst = Array.from({ length: 1000 }, (_, i) => ({ x: i / 1000, y: i < 999 ? i : 7 }));
  const data = [...burst, { x: 500, y: 8 }, { x: 1000, y: 9 }];
  const stack = new Stack([new Line({ x: data.map(({ x }) => x), y: data.map(({ y }) => y) })]);
  assert.deepEqual(stack.window(0, 1000, 800), [[0, 0.998, 0.999, 500, 1000], [0, 998, 7, 8, 9]]);
});

const PLOT = {
  stacked: true,
  lines: [{ name: 'live', x: [0, 1, 2], y: [5, 1, 3] }, { name: 'live', x: [0, 1, 2], y: [1, 9, 1] }, null,
    { name: 'rest', x: [0, 1, 2], y: [0, 0, 0] }],
};

test('a legend reads each part and the sum, at the pointer or where the sum is highest', () => {
  const set = new LineSet(PLOT);
  assert.deepEqual(set.read(2), { values: [3, 1, 0], sum: 4 });
  assert.deepEqual(set.read(null), { values: [1, 9, 0], sum: 10 });
  set.toggle(1);
  assert.deepEqual(set.read(null), { values: [5, 1, 0], sum: 5 });
  assert.deepEqual(set.outlines.map(({ high }) => high), [5]);
  const beside = new LineSet({ ...PLOT, stacked: false });
  assert.deepEqual(beside.read(null).values, [5, 9, 0]);
  assert.equal(beside.outlines.length, 3);
});

test('what was hidden stays hidden in newer data, by its name', () => {
  const set = new LineSet(PLOT);
  assert.equal(set.toggle(1), false);
  assert.equal(set.toggle(2), false);
  const newer = new LineSet({ ...PLOT, lines: [PLOT.lines[3], ...PLOT.lines.slice(0, 2)] }, set.hidden);
  assert.deepEqual(newer.shown, [false, true, false]);
  assert.equal(newer.stack.sum.high, 5);
  assert.equal(newer.toggle(0), true);
  assert.deepEqual(newer.shown, [true, true, false]);
});

test('a plot without numbers is empty', () => {
  assert.ok(new LineSet({ stacked: true }).isEmpty);
  assert.ok(new LineSet({ stacked: true, lines: [{ x: [0], y: [null] }] }).isEmpty);
  assert.ok(!new LineSet(PLOT).isEmpty);
});

test('a view follows newer data unless it was zoomed', () => {
  const until = (last) => lines({ x: [0, last], y: [1, last] });
  const view = new View(until(10));
  view.follow(until(20));
  view.fit(until(20));
  assert.deepEqual(view.x, [0, 20]);
  assert.ok(!view.zoomed && view.y[1] > 20);
  view.show([5, 10], null);
  view.follow(until(40));
  view.fit(until(40));
  assert.deepEqual(view.x, [5, 10]);
  assert.ok(view.zoomed && view.y[1] > 40);
  view.show(null, [2, 3]);
  view.fit(until(80));
  assert.deepEqual(view.y, [2, 3]);
  view.follow(lines({ x: [100, 200], y: [1, 2] }));
  assert.deepEqual(view.x, [100, 200], 'nothing is left of what was shown');
});
