// SPDX-License-Identifier: Apache-2.0
// Opens the pages of recorded runs, and of a job that was diagnosed and tuned, in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, colourOf, countPixels, settled, withPage } from '../page/browser.mjs';

after(closeBrowser);

for (const name of ['report', 'empty']) {
  test(`the page of the run '${name}' is silent and fits a narrow screen`, () => withPage(name, {}, async (page) => {
    assert.match(await page.locator('h1').innerText(), new RegExp(`^Run \\d: ${name}$`));
    await page.setViewportSize({ width: 360, height: 740 });
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
    assert.equal(await page.evaluate(() => window.broken), undefined);
  }));
}

test('the verdict is on top, every process has its plots, and the place is beside them', () =>
  withPage('report', {}, async (page) => {
    assert.match(await page.locator('.verdict').innerText(), /leak[\s\S]*process 4242 \(train.py\)/);
    const titles = await page.locator('.plot h2').allInnerTexts();
    assert.deepEqual(titles.slice(0, 2),
      ['Process 4242 (train.py)', 'Where the memory of process 4242 (train.py) is']);
    assert.match(titles[2], /^Process 4243 /);
    assert.match(titles[3], /^Where the memory of process 4243 /);
    assert.deepEqual(titles.slice(4), ['Where it runs', 'GPU', 'Pressure']);
    const legend = await page.locator('.plot').first().locator('.plot-legend button').allInnerTexts();
    assert.deepEqual(legend.map((text) => text.trim().split(/\s/)[0]), ['rss', 'live', 'retained', 'pss']);
  }));

test('lines, limit, rounds and cleanups are drawn', () => withPage('report', {}, async (page) => {
  for (const name of ['series-1', 'series-2', 'series-3', 'limit', 'mark']) {
    const drawn = await countPixels(page, '.plot canvas', await colourOf(page, name));
    assert.ok(drawn > 100, `${name}: ${drawn} pixels`);
  }
  const { marks } = await page.evaluate(() =>
    JSON.parse(document.getElementById('document').textContent).plots[0]);
  assert.equal(marks.length, 29);
  assert.equal(marks[0].label, 'round 1, cleanup \u2212380.0 MiB');
}));

test('where the memory is adds up to rss at each moment', () => withPage('report', {}, async (page) => {
  const { plots: [whole, { stacked, lines }] } = await page.evaluate(() =>
    JSON.parse(document.getElementById('document').textContent));
  assert.ok(stacked);
  assert.deepEqual(lines.map(({ name }) => name), ['live', 'retained', 'file', 'unexplained']);
  const rss = new Map(whole.lines[0].x.map((x, i) => [x, whole.lines[0].y[i]]));
  lines[0].x.forEach((x, i) => assert.equal(lines.reduce((sum, { y }) => sum + y[i], 0), rss.get(x)));
  assert.match(await page.locator('.plot-legend').nth(1).innerText(), /at the peak.*total/s);
}));

test('the page of a tuned job draws the futures of the answer and of the default as fans', () =>
  withPage('tuning', {}, async (page) => {
    const titles = await page.locator('.plot h2').allInnerTexts();
    assert.equal(titles[0], 'As the job goes on');
    const { lines } = await page.evaluate(() =>
      JSON.parse(document.getElementById('document').textContent).plots[0]);
    const [answer, ...others] = lines.map(({ name }) => name);
    assert.match(answer, /^reserved, expandable_segments:True(,|$)/);
    assert.deepEqual(others, ['reserved, (default)', 'live, at the most']);
    for (const name of ['series-1', 'series-2', 'series-3']) {
      const drawn = await countPixels(page, '.plot canvas', await colourOf(page, name));
      assert.ok(drawn > 100, `${name}: ${drawn} pixels`);
    }
  }));

test('the page of a snapshot says which lines hold the memory of the device', () => withPage('doctor', {}, async (page) => {
  const flame = page.locator('.flame');
  assert.equal(await flame.locator('h2').innerText(), 'Who holds it');
  const calls = await flame.locator('.call').allInnerTexts();
  for (const name of ['device 0', 'collect.py:249 <module>', 'collect.py:110 prefetch_streams', 'no stack recorded'])
    assert.ok(calls.includes(name), name);
  await flame.locator('.call', { hasText: 'collect.py:110' }).click();
  assert.equal(await flame.locator('.flame-said').innerText(), 'collect.py:110 prefetch_streams: 161.0 MiB, 37.3 %');
  await page.setViewportSize({ width: 500, height: 900 });
  await settled(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 500);
}));

test('what a device came to hold more is shown between two moments of the plot above', () =>
  withPage('doctor', {}, async (page) => {
    const said = page.locator('.flame-said');
    await page.getByRole('button', { name: 'growth between two moments' }).click();
    assert.match(await said.innerText(), /^grown between 0 and 1,\d+ allocations and frees: /);
    assert.match(await page.locator('.flame-between .hint').innerText(), /drag over allocations and frees in a plot above\.$/);
    const slider = page.getByRole('slider', { name: 'to' });
    for (let i = 0; i < 3; ++i) await slider.press('ArrowLeft');
    const before = await said.innerText();
    await page.locator('.plot', { hasText: 'Reserved and allocated over time' }).locator('.plot-area').press('+');
    assert.notEqual(await said.innerText(), before);
    assert.match(await said.innerText(), / between \d{3} and [\d,]+ allocations and frees/);
  }));
