// SPDX-License-Identifier: Apache-2.0
// Flame graphs over time in a real browser: what grew between two moments.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { axisOf, grownBetween, momentsOf, nearest } from '../../web/src/flame_between.js';
import { closeBrowser, settled, withPage } from './browser.mjs';

after(closeBrowser);

function pageTest(title, use) {
  test(title, () => withPage('sites', {}, use));
}

const GROWN = 'growth between two moments';
const choose = (page, name) => page.locator('.flame-choice').getByRole('button', { name }).click();
const calls = (page) => page.locator('.call').allInnerTexts();
const said = (page) => page.locator('.flame-said').innerText();
const pressed = (page) => page.locator('.flame-choice [aria-pressed=true]').innerText();

async function dragInPlot(page, from, to) {
  await page.locator('.plot .u-over').scrollIntoViewIfNeeded();
  const { x, y, width, height } = await page.locator('.plot .u-over').boundingBox();
  await page.mouse.move(x + from * width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2);
  await page.mouse.move(x + to * width, y + height / 2);
  await page.mouse.up();
  await settled(page);
}

test('the nearest moments are two, in order', () => {
  const moments = [0, 30, 60, 90];
  assert.deepEqual(nearest(moments, [28, 65]), [1, 2]);
  assert.deepEqual(nearest(moments, [-5, 500]), [0, 3]);
  assert.deepEqual(nearest(moments, [31, 32]), [0, 1]);
  assert.deepEqual(nearest(moments, [1, 2]), [0, 1]);
  assert.deepEqual(nearest(moments, [89, 90]), [2, 3]);
});

test('what is no moment, or not known at one, has not grown', () => {
  assert.deepEqual(momentsOf({ moments: [1] }), []);
  assert.deepEqual(momentsOf({ moments: 'x' }), []);
  assert.deepEqual(momentsOf({ moments: [1, 2, null] }), [1, 2]);
  const { stacks } = grownBetween({ stacks: [{ frames: [0], held: [1, 4] }, { frames: [1] }, null] }, [0, 1]);
  assert.deepEqual(stacks, [{ frames: [0], values: [3] }, { frames: [1], values: [NaN] }]);
});

test('moments are told apart by what they count', () => {
  assert.equal(axisOf(undefined, undefined), 'seconds');
  assert.equal(axisOf('seconds', 'time'), 'seconds');
  assert.equal(axisOf('count', 'allocations and frees'), 'allocations and frees');
  assert.notEqual(axisOf('count', 'steps'), axisOf('count', 'allocations and frees'));
  assert.notEqual(axisOf('count', undefined), 'seconds');
});

pageTest('a time is not taken for a number of something else', async (page) => {
  await page.evaluate(() => {
    const data = JSON.parse(document.getElementById('document').textContent);
    Object.assign(data.flames[0], { moments_unit: 'count', moments_name: 'requests' });
    window.dispatchEvent(new CustomEvent('ebb-document', { detail: data }));
  });
  await choose(page, GROWN);
  assert.equal(await said(page), 'grown between 0 and 90 requests: 100.0 MiB, 100.0 %');
  await dragInPlot(page, 0.02, 0.36);
  assert.equal(await said(page), 'grown between 0 and 90 requests: 100.0 MiB, 100.0 %');
});

pageTest('what grew is shown from the first moment to the last, and between others by the sliders', async (page) => {
  assert.equal(await page.locator('.flame-between').isVisible(), false);
  await choose(page, GROWN);
  assert.deepEqual(await calls(page), ['grown between 0 s and 90 s', '4242 (train.py)', 'loader.py:42 load_batch',
    'cache.py:3 fill']);
  assert.equal(await said(page), 'grown between 0 s and 90 s: 100.0 MiB, 100.0 %');
  const [from, to] = [page.getByRole('slider', { name: 'from' }), page.getByRole('slider', { name: 'to' })];
  await from.focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await said(page), 'grown between 30 s and 90 s: 60.0 MiB, 100.0 %');
  assert.deepEqual((await calls(page)).slice(2), ['loader.py:42 load_batch']);
  assert.equal(await from.getAttribute('aria-valuetext'), '30 s');
  await to.focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowLeft');
  assert.equal(await said(page), 'grown between 30 s and 60 s: 30.0 MiB, 100.0 %', 'one does not pass the other');
});

pageTest('a time that is dragged over in the plot is what growth is shown of', async (page) => {
  await dragInPlot(page, 0.02, 0.36);
  assert.equal(await pressed(page), GROWN);
  assert.equal(await said(page), 'grown between 0 s and 30 s: 50.0 MiB, 100.0 %');
  assert.deepEqual((await calls(page)).slice(1),
    ['4242 (train.py)', '4243 (worker)', 'cache.py:3 fill', 'read_file (libio.so)']);
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  assert.match(await said(page), /^grown between 0 s and 90 s: /);
  await choose(page, 'live');
  await page.locator('.plot-area').press('+');
  assert.equal(await pressed(page), GROWN);
  assert.equal(await said(page), 'grown between 30 s and 60 s: 30.0 MiB, 100.0 %');
});

pageTest('one process is chosen by name', async (page) => {
  assert.equal(await page.locator('.flame-process').isVisible(), false, 'one holds everything');
  await dragInPlot(page, 0.02, 0.36);
  await page.locator('.flame-process select').selectOption('4243 (worker)');
  assert.equal(await said(page), '4243 (worker): 10.0 MiB, 20.0 %');
  assert.deepEqual((await calls(page)).slice(1), ['4243 (worker)', 'read_file (libio.so)']);
  await page.locator('.call').first().click();
  assert.equal(await page.locator('.flame-process select').inputValue(), '');
});

pageTest('where nothing has grown it says so', async (page) => {
  await page.evaluate(() => {
    const data = JSON.parse(document.getElementById('document').textContent);
    data.flames[0].stacks.forEach((stack) => { stack.held = [9, 9, 9, 9]; });
    window.dispatchEvent(new CustomEvent('ebb-document', { detail: data }));
  });
  await choose(page, GROWN);
  assert.equal(await said(page), 'Nothing has grown between 0 s and 90 s.');
});

pageTest('newer data leaves what was chosen and widened as it is', async (page) => {
  await choose(page, GROWN);
  await page.getByRole('slider', { name: 'from' }).press('ArrowRight');
  await page.locator('.call', { hasText: 'loader.py:42' }).click();
  await page.evaluate(() => {
    const data = JSON.parse(document.getElementById('document').textContent);
    data.flames[0].moments.push(120);
    data.flames[0].stacks.forEach((stack) => stack.held.push(stack.held[3] + 1024 ** 2));
    window.dispatchEvent(new CustomEvent('ebb-document', { detail: data }));
  });
  assert.equal(await pressed(page), GROWN);
  assert.equal(await said(page), 'loader.py:42 load_batch: 61.0 MiB, 98.4 %');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'loader.py:42 load_batch');
});
