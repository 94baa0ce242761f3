// SPDX-License-Identifier: Apache-2.0
// Stacked plots, and plots that take in newer data, in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, colourOf, countPixels, picture, settled, withPage } from './browser.mjs';

after(closeBrowser);

const MiB = 1024 ** 2;
const SERIES = [1, 2, 3, 4, 5, 6].map((number) => `series-${number}`);
const CANVAS = '.plot canvas';

function pageTest(title, name, use, options = {}) {
  test(title, () => withPage(name, options, use));
}

/// How many pixels have a series' colour, filled so that what is below shines through.
async function countFilled(page, series) {
  return countPixels(page, CANVAS, await colourOf(page, series), [81, 199]);
}

/// Moves the pointer to a share of the plot's width.
async function pointAt(page, share) {
  await page.locator('.plot .u-over').scrollIntoViewIfNeeded();
  const { x, y, width, height } = await page.locator('.plot .u-over').boundingBox();
  await page.mouse.move(x + share * width, y + height / 2);
  await settled(page);
}

async function zoom(page, from, to) {
  await pointAt(page, from);
  await page.mouse.down();
  await pointAt(page, (from + to) / 2);
  await pointAt(page, to);
  await page.mouse.up();
  await settled(page);
}

/// What the legend says: where, and the bytes of each part and of the total.
async function legend(page) {
  const values = await page.locator('.plot-legend .value').allInnerTexts();
  const bytes = values.map((text) => {
    const [number, unit] = text.split(' ');
    return Number(number) * { B: 1, KiB: 1024, MiB, GiB: 1024 * MiB }[unit];
  });
  return { where: await page.locator('.plot-legend .where').innerText(), bytes };
}

/// The plot that the page shows from the start.
const plotOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('document').textContent).plots[0]);

/// Has the page show newer data of it, as a server would.
async function renew(page, plot) {
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })), { plots: [plot] });
  await settled(page);
}

/// The same plot some seconds later: each line goes on at its last value.
function later(plot, seconds) {
  const lines = plot.lines.map(({ x, y, ...line }) => {
    const more = Array.from({ length: seconds }, (_, i) => x.at(-1) + i + 1);
    return { ...line, x: [...x, ...more], y: [...y, ...more.map(() => y.at(-1))] };
  });
  return { ...plot, lines };
}

pageTest('a stack fills each part in its colour, with a solid edge, in light and in dark', 'stacked', async (page) => {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const name of SERIES) {
      const edge = await countPixels(page, CANVAS, await colourOf(page, name));
      assert.ok(edge > 200, `edge of ${name} in ${colorScheme}: ${edge} pixels`);
      const filled = await countFilled(page, name);
      assert.ok(filled > 5000, `${name} in ${colorScheme}: ${filled} pixels`);
    }
    assert.ok(await countPixels(page, CANVAS, await colourOf(page, 'mark')) > 100, 'marks');
    assert.ok(await countPixels(page, CANVAS, await colourOf(page, 'limit')) > 100, 'limit');
  }
});

pageTest('the legend of a stack reads each part and the total, not the heights', 'stacked', async (page) => {
  const { lines } = await plotOf(page);
  const peak = await legend(page);
  assert.equal(peak.where, 'at the peak');
  await pointAt(page, 430 / 599);
  const { where, bytes } = await legend(page);
  assert.match(where, /^time 7 min (09|10|11) s$/);
  const total = bytes[lines.length];
  lines.forEach(({ name, y }, i) => assert.ok(Math.abs(bytes[i] - y[430]) < 40 * MiB, `${name}: ${bytes[i]}, ${y[430]}`));
  const sum = bytes.slice(0, lines.length).reduce((all, one) => all + one, 0);
  assert.ok(Math.abs(sum - total) < 52 * MiB, `${sum} and ${total}, which is told in tenths of a GiB`);
  assert.ok(peak.bytes[lines.length] > total);
  await pointAt(page, 0.1);
  assert.equal(await page.locator('.plot-legend .value').nth(2).innerText(), '\u2013', 'not known yet');
});

pageTest('a part that is hidden is taken out of the stack', 'stacked', async (page) => {
  const before = await legend(page);
  const heights = await countFilled(page, 'series-6');
  const button = page.locator('.plot-legend button').first();
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.equal(await countPixels(page, CANVAS, await colourOf(page, 'series-1')), 0);
  assert.equal(await countFilled(page, 'series-1'), 0);
  assert.match(await page.locator('.sum-entry').innerText(), /^total of those shown/);
  assert.ok((await legend(page)).bytes[6] < before.bytes[6] - 250 * MiB);
  assert.notEqual(await countFilled(page, 'series-6'), heights);
  await button.click();
  assert.deepEqual(await legend(page), before);
  assert.equal(await countFilled(page, 'series-6'), heights);
});

pageTest('a stack is described, zoomed and moved like other plots', 'stacked', async (page) => {
  const area = page.locator('.plot-area');
  assert.match(await area.getAttribute('aria-label'), /Areas that add up, to 1\.\d GiB at most\. live: peak/);
  const whole = await picture(page, CANVAS);
  await area.focus();
  await page.keyboard.press('+');
  const zoomed = await picture(page, CANVAS);
  assert.notEqual(zoomed, whole);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await picture(page, CANVAS), zoomed);
  await page.keyboard.press('0');
  assert.equal(await picture(page, CANVAS), whole);
});

pageTest('a stack of 100,000 moments is zoomed to single ones', 'stacked_large', async (page) => {
  const whole = await picture(page, CANVAS);
  for (let i = 0; i < 4; ++i) await zoom(page, 0.45, 0.55);
  assert.notEqual(await picture(page, CANVAS), whole);
  await pointAt(page, 0);
  const { where } = await legend(page);
  assert.match(where, /^time 13 h 5\d min$/);
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  await page.mouse.move(0, 0);
  assert.equal(await picture(page, CANVAS), whole);
});

pageTest('newer data keeps the zoom, what is hidden and the focus', 'stacked', async (page) => {
  const plot = await plotOf(page);
  await page.locator('.plot-legend button').nth(1).click();
  await zoom(page, 0.5, 0.6);
  await page.locator('.plot-area').focus();
  await pointAt(page, 0);
  const left = (await legend(page)).where;
  const zoomed = await picture(page, CANVAS);
  await renew(page, { ...later(plot, 300), note: 'Newer.' });
  assert.equal(await page.locator('.plot > .note').first().innerText(), 'Newer.');
  assert.ok(await page.locator('.plot .reset').isVisible());
  assert.equal((await legend(page)).where, left);
  assert.equal(await picture(page, CANVAS), zoomed);
  assert.equal(await page.locator('.plot-legend button').nth(1).getAttribute('aria-pressed'), 'false');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'plot-area');
  await page.keyboard.press('0');
  await pointAt(page, 0.999);
  assert.match((await legend(page)).where, /^time 1[45] min/);
});

pageTest('newer data is shown up to its end where nothing was zoomed', 'stacked', async (page) => {
  const plot = await plotOf(page);
  const before = await page.locator('.plot-area').getAttribute('aria-label');
  const button = page.locator('.plot-legend button').nth(2);
  await button.focus();
  const newer = later(plot, 300);
  newer.lines[0].y.fill(3000 * MiB, -10);
  newer.lines.unshift({ ...newer.lines.pop(), name: 'python' });
  newer.limit = { name: 'the limit', value: 4096 * MiB };
  await renew(page, newer);
  assert.equal(await page.locator('.plot canvas').count(), 1);
  assert.ok(await page.locator('.plot .reset').isHidden());
  assert.match(await page.locator('.plot-legend').innerText(), /python.*live.*the limit\s+4\.0 GiB/s);
  assert.ok(await button.evaluate(() => document.activeElement.textContent.startsWith('private')));
  assert.notEqual(await page.locator('.plot-area').getAttribute('aria-label'), before);
  await pointAt(page, 0.999);
  const { where, bytes } = await legend(page);
  assert.match(where, /^time 1[45] min/);
  assert.equal(bytes[1], 2.9 * 1024 * MiB);
});

pageTest('a plot may become empty and fill again', 'stacked', async (page) => {
  const plot = await plotOf(page);
  const whole = await picture(page, CANVAS);
  await renew(page, { ...plot, lines: [] });
  assert.equal(await page.locator(CANVAS).count(), 0);
  assert.match(await page.locator('.plot').innerText(), /There is nothing to show\./);
  await renew(page, plot);
  assert.equal(await picture(page, CANVAS), whole);
});

function countListeners() {
  window.held = 0;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const isInPage = (target) => target instanceof Node && target !== document;
  EventTarget.prototype.addEventListener = function add(...given) {
    if (!isInPage(this)) {
      ++window.held;
      if (given[2]?.signal) addEventListener.call(given[2].signal, 'abort', () => { --window.held; });
    }
    return addEventListener.apply(this, given);
  };
  EventTarget.prototype.removeEventListener = function remove(...given) {
    if (!isInPage(this)) --window.held;
    return removeEventListener.apply(this, given);
  };
  const Observer = window.ResizeObserver;
  window.ResizeObserver = class extends Observer {
    constructor(...given) {
      super(...given);
      ++window.held;
    }

    disconnect() {
      --window.held;
      super.disconnect();
    }
  };
}

pageTest('two hundred updates leave no listeners, observers or elements behind', 'stacked', async (page) => {
  const counts = () => page.evaluate(() => [window.held, document.querySelectorAll('*').length]);
  const before = await counts();
  await page.evaluate(async () => {
    const { plots: [plot] } = JSON.parse(document.getElementById('document').textContent);
    const send = (newer) => window.dispatchEvent(new CustomEvent('ebb-document', { detail: { plots: [newer] } }));
    for (let i = 0; i < 200; ++i) {
      // Without marks it is a chart of another shape, which is made anew.
      const marks = i % 10 === 0 ? [] : plot.marks;
      send({ ...plot, marks, lines: plot.lines.map((line) => ({ ...line, y: line.y.map((y) => y && y + i) })) });
      if (i % 50 === 0) await new Promise(requestAnimationFrame);
      if (i % 50 === 25) window.dispatchEvent(new CustomEvent('ebb-document', { detail: {} }));
    }
    send(plot);
  });
  await settled(page);
  assert.deepEqual(await counts(), before);
}, { before: countListeners });
