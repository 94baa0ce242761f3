// SPDX-License-Identifier: Apache-2.0
// Heat maps: what they show of their data without a browser, then in a real one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { heatCsv } from '../../web/src/csv.js';
import { Grid, moved } from '../../web/src/heat_grid.js';
import { fieldText, legendText } from '../../web/src/heat_text.js';
import { closeBrowser, colourOf, countPixels, picture, settled, withPage } from './browser.mjs';

after(closeBrowser);

const FIRST = '.heat >> nth=0';
const LAST = '.heat >> nth=1';
const SMALL = {
  x_label: 'client', y_label: 'method', measured: 'rounds', unit: 'count',
  rows: [{ name: 'a', values: [1, null, 3, 4, 9] }, { name: 'b', values: [5] }, null, {}],
};

test('rows are as long as the longest, and what is missing stays so when columns are merged', () => {
  const grid = Grid.of(SMALL);
  assert.deepEqual(grid.rows.map(({ values }) => values),
    [[1, NaN, 3, 4, 9], [5, NaN, NaN, NaN, NaN], [NaN, NaN, NaN, NaN, NaN]]);
  assert.deepEqual([grid.low, grid.high, grid.hasGaps, grid.count], [1, 9, true, 5]);
  const merged = grid.merged(3);
  assert.deepEqual(merged.rows.map(({ values }) => values), [[1, 3.5, 9], [5, NaN, NaN], [NaN, NaN, NaN]]);
  assert.deepEqual([0, 1, 2].map((column) => merged.rangeOf(column)), [[0, 1], [2, 3], [4, 4]]);
  assert.deepEqual([0, 1, 4, 99].map((number) => merged.columnOf(number)), [0, 0, 2, 2]);
  assert.equal(grid.merged(5), grid);
});

test('columns that were merged before keep their numbers and weigh by how many they are', () => {
  const grid = Grid.of({ columns_each: 3, columns: 10, rows: [{ values: [1, 2, 3, 7] }] });
  assert.deepEqual(grid.rangeOf(3), [9, 9]);
  assert.deepEqual(grid.merged(2).rows[0].values, [1.5, 4]);
  assert.deepEqual(grid.merged(2).rangeOf(1), [6, 9]);
  assert.equal(Grid.of({ columns_each: 3, columns: 99, rows: [{ values: [1, 2] }] }).count, 6, 'not possible');
});

test('0 is where the scale begins, unless there is less', () => {
  const scaleOf = (...values) => values.map((value) => Grid.of({ rows: [{ values }] }).share(value));
  assert.deepEqual(scaleOf(0, 5, 10), [0, 0.5, 1]);
  assert.deepEqual(scaleOf(5, 10), [0.5, 1]);
  assert.deepEqual(scaleOf(-10, 0, 10), [0, 0.5, 1]);
  assert.deepEqual(scaleOf(0, 0), [0, 0]);
  assert.deepEqual(scaleOf(-1.5e308, 1.5e308), [0, 1]);
  assert.ok(Grid.of({}).isEmpty && Grid.of({ rows: [{ values: [null] }] }).isEmpty);
});

test('a field tells its row, its columns and its value', () => {
  const grid = Grid.of(SMALL);
  assert.equal(fieldText({ row: 0, column: 4 }, SMALL, grid), 'method a · client 4 · rounds: 9');
  assert.equal(fieldText({ row: 0, column: 1 }, SMALL, grid), 'method a · client 1 · no value');
  assert.equal(fieldText({ row: 0, column: 1 }, SMALL, grid.merged(3)),
    'method a · client 2 to 3 · rounds, mean: 3.5');
  assert.deepEqual(legendText(SMALL, grid), { measured: 'rounds', from: '0', to: '9', notes: ['smallest 1'] });
});

test('keys stay inside', () => {
  const grid = Grid.of(SMALL);
  const keys = (from, ...all) => all.reduce((field, key) => moved(field, key, grid), from);
  assert.deepEqual(keys({ row: 0, column: 0 }, 'ArrowLeft', 'ArrowUp'), { row: 0, column: 0 });
  assert.deepEqual(keys({ row: 0, column: 0 }, 'End', 'ArrowRight', 'ArrowDown'), { row: 1, column: 4 });
  assert.deepEqual(keys({ row: 2, column: 3 }, 'ArrowDown', 'Home'), { row: 2, column: 0 });
  assert.equal(moved({ row: 0, column: 0 }, 'x', grid), null);
});

test('a file has a column for each row, and its unit', () => {
  assert.equal(heatCsv(SMALL, Grid.of(SMALL)), 'client,a,b,\r\n0,1,5,\r\n1,,,\r\n2,3,,\r\n3,4,,\r\n4,9,,\r\n');
  const merged = { unit: 'bytes', columns_each: 3, columns: 4, rows: [{ name: '=x', values: [1.5, 2] }] };
  assert.equal(heatCsv(merged, Grid.of(merged)), "column (first of 3),'=x (bytes)\r\n0,1.5\r\n3,2\r\n");
});

function pageTest(title, use, options = {}) {
  test(title, () => withPage('heat', options, use));
}

/// The heat maps that the page shows from the start.
const mapsOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('document').textContent).heat_maps);

/// Has the page show newer ones, as a server would.
async function renew(page, maps) {
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })),
    { heat_maps: maps });
  await settled(page);
}

const said = (page, map = FIRST) => page.locator(map).locator('.heat-said').innerText();
const spoken = (page, map = FIRST) => page.locator(map).locator('[role=status]').textContent();

/// Where the frame around what is chosen is, in the middle, as seen on the page.
async function cursorOf(page) {
  const { x, y, width, height } = await page.locator(FIRST).locator('.heat-frame.chosen').boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
}

/// The colour of the canvas at a place on the page.
function colourAt(page, { x, y }) {
  return page.evaluate(([left, top]) => {
    const canvas = [...document.querySelectorAll('.heat canvas')].find((one) => {
      const box = one.getBoundingClientRect();
      return top >= box.top && top < box.bottom;
    });
    const box = canvas.getBoundingClientRect();
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const ratio = canvas.width / box.width;
    const pixel = copy.getImageData(Math.floor((left - box.left) * ratio), Math.floor((top - box.top) * ratio), 1, 1);
    return `#${[...pixel.data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  }, [x, y]);
}

const brightness = (hex) => [1, 3, 5].reduce((sum, at) => sum + parseInt(hex.slice(at, at + 2), 16), 0);

pageTest('the larger a value the stronger its colour, from 0 to the largest, in light and in dark', async (page) => {
  const [{ rows: [, fastest, need] }] = await mapsOf(page);
  const stage = page.locator(FIRST).locator('.heat-stage');
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    await stage.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < 4; ++i) await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    const most = Math.max(...fastest.values);
    for (let i = 0; i < fastest.values.indexOf(most); ++i) await page.keyboard.press('ArrowRight');
    assert.equal(await colourAt(page, await cursorOf(page)), await colourOf(page, 'heat-5'), 'the largest');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    assert.equal(await colourAt(page, await cursorOf(page)), await colourOf(page, 'heat-1'), '0');
    const seen = [];
    for (let column = 0; column < 100; column += 10) {
      seen.push(brightness(await colourAt(page, await cursorOf(page))));
      for (let i = 0; i < 10; ++i) await page.keyboard.press('ArrowRight');
    }
    const sign = colorScheme === 'light' ? -1 : 1;
    seen.slice(1).forEach((one, i) => {
      const isMore = need.values[10 * (i + 1)] > need.values[10 * i];
      assert.ok(isMore ? sign * (one - seen[i]) > 0 : one === seen[i], `${colorScheme}: ${seen}`);
    });
  }
});

pageTest('the pointer reads a field, and leaves it', async (page) => {
  const [{ rows }] = await mapsOf(page);
  const stage = page.locator(FIRST).locator('.heat-stage');
  await stage.focus();
  const start = await cursorOf(page);
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowDown');
  const end = await cursorOf(page);
  await page.keyboard.press('Escape');
  assert.equal(await said(page), '');
  const before = await spoken(page);
  await page.mouse.move(start.x + ((end.x - start.x) * 40) / 99, end.y);
  assert.equal(await said(page), `method the fastest · client 40 · rounds it took part in: ${rows[1].values[40]}`);
  assert.equal(await spoken(page), before, 'not announced');
  const [map, other] = await mapsOf(page);
  const doubled = rows.map(({ name, values }) => ({ name, values: values.map((value) => 2 * value) }));
  await renew(page, [{ ...map, rows: doubled }, other]);
  assert.match(await said(page), new RegExp(`^method the fastest · client 40 · .*: ${2 * rows[1].values[40]}$`));
  await page.mouse.move(1, 1);
  assert.equal(await said(page), '');
  await page.mouse.click(start.x, start.y);
  assert.match(await said(page), /^method random · client 0 ·/);
  assert.equal(await page.evaluate(() => document.activeElement.className), 'heat-stage');
});

pageTest('keys move from field to field, and each is announced', async (page) => {
  const stage = page.locator(LAST).locator('.heat-stage');
  assert.equal(await stage.getAttribute('aria-label'), 'Peak of each client. 2 rows by 4 columns, '
    + 'rss at most from 295.5 MiB to 640.0 MiB. Arrow keys choose a field.');
  await page.locator(FIRST).getByRole('button', { name: 'Save as SVG' }).focus();
  await page.keyboard.press('Tab');
  assert.equal(await spoken(page, LAST), 'round first · client 0 · rss at most: 310.0 MiB');
  for (const key of ['ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
  assert.equal(await spoken(page, LAST), 'round second · client 1 · rss at most: 512.0 MiB');
  assert.equal(await said(page, LAST), await spoken(page, LAST));
  await page.keyboard.press('End');
  assert.equal(await spoken(page, LAST), 'round second · client 3 · no value');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'CSV', 'it is no trap');
});

pageTest('the legend tells both ends of the scale, and that a value is missing', async (page) => {
  assert.match(await page.locator(FIRST).locator('.heat-legend').innerText(), /^rounds it took part in\s+0\s+24$/);
  const legend = await page.locator(LAST).locator('.heat-legend').innerText();
  assert.match(legend, /^rss at most\s+0 B\s+640\.0 MiB\s+smallest 295\.5 MiB\s+no value$/);
});

pageTest('on a phone columns are merged where they are too many, and nothing is wider than the page', async (page) => {
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  assert.ok(await fits());
  const [map] = await mapsOf(page);
  const values = Array.from({ length: 1000 }, (_, i) => i);
  await renew(page, [{ ...map, rows: [{ name: 'a method with a very long name that does not fit here', values }] }]);
  assert.ok(await fits());
  await page.locator('.heat-stage').focus();
  const [, last] = (await said(page)).match(/ · client 0 to (\d+) · rounds it took part in, mean: /);
  assert.match(await page.locator('.heat-legend').innerText(),
    new RegExp(`each field is the mean of ${Number(last) + 1} columns`));
  await page.keyboard.press('End');
  const chosen = Number((await said(page)).match(/ · client (\d+) to 999 · /)[1]);
  await page.setViewportSize({ width: 2600, height: 900 });
  await settled(page);
  await page.locator('.heat-legend').getByText('mean of 3 columns').waitFor();
  const [, first, behind] = (await said(page)).match(/ · client (\d+) to (\d+) · /);
  assert.ok(Number(first) <= chosen && chosen <= Number(behind), `${chosen} is still chosen`);
}, { viewport: { width: 360, height: 740 }, deviceScaleFactor: 3, hasTouch: true });

pageTest('newer data is drawn in place and keeps focus and field', async (page) => {
  const maps = await mapsOf(page);
  await page.locator(FIRST).locator('.heat-stage').focus();
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  const before = await picture(page, '.heat canvas');
  const [first, second] = maps;
  const rows = first.rows.map(({ name, values }) => ({ name, values: [...values.map((value) => value + 7), 90] }));
  rows.unshift({ name: 'newest', values: [1] });
  await renew(page, [{ ...first, rows, note: 'Newer.' }, second]);
  assert.notEqual(await picture(page, '.heat canvas'), before);
  assert.equal(await page.locator(FIRST).locator('.note').first().innerText(), 'Newer.');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'heat-stage');
  const value = first.rows[1].values[2] + 7;
  assert.equal(await said(page), `method the fastest · client 2 · rounds it took part in: ${value}`);
  assert.match(await page.locator(FIRST).locator('.heat-legend').innerText(), /90/);

  await renew(page, [{ ...first, rows: [] }, second]);
  assert.match(await page.locator(FIRST).innerText(), /There is nothing to show\./);
  assert.equal(await page.locator(FIRST).locator('canvas').isVisible(), false);
  await renew(page, maps);
  assert.equal(await picture(page, '.heat canvas'), before);
});

/// Presses a button and gives the file.
async function saved(page, kind, map) {
  const coming = page.waitForEvent('download');
  await page.locator(map).getByRole('button', { name: `Save as ${kind}` }).press('Enter');
  const file = await coming;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

pageTest('a heat map is saved as figures and as pictures', async (page) => {
  const csv = await saved(page, 'CSV', LAST);
  assert.equal(csv.name, 'selection-of-clients-peak-of-each-client.csv');
  assert.equal(csv.bytes.toString(), 'client,first (bytes),second (bytes)\r\n0,325058560,346030080\r\n'
    + '1,440401920,536870912\r\n2,309854208,315621376\r\n3,671088640,\r\n');
  const drawing = (await saved(page, 'SVG', LAST)).bytes.toString();
  const texts = await page.evaluate((xml) => [...new DOMParser().parseFromString(xml, 'image/svg+xml')
    .querySelectorAll('text')].map(({ textContent }) => textContent), drawing);
  assert.deepEqual(texts, ['Peak of each client', 'rss at most, smallest 295.5 MiB', '0 B', '640.0 MiB', 'round',
    'first', 'second', '0', '1', '2', '3', 'client']);
  assert.ok(drawing.includes(`fill="${await colourOf(page, 'heat-5')}"`));
  const { name, bytes } = await saved(page, 'PNG', FIRST);
  assert.equal(name, 'selection-of-clients-who-took-part.png');
  const width = await page.locator(FIRST).locator('.heat-stage').evaluate((stage) => stage.clientWidth);
  assert.equal(bytes.readUInt32BE(16), 2 * (width + 32), 'as sharp as the screen');
  const whole = await saved(page, 'JSON', 'footer');
  assert.deepEqual(JSON.parse(whole.bytes).heat_maps, await mapsOf(page));
}, { deviceScaleFactor: 2 });

pageTest('a missing value is an empty field', async (page) => {
  const edge = await colourOf(page, 'heat-empty');
  assert.equal(await countPixels(page, `${FIRST} >> canvas`, edge), 0);
  assert.ok(await countPixels(page, `${LAST} >> canvas`, edge) > 200);
});
