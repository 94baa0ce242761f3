// SPDX-License-Identifier: Apache-2.0
// Saves tables, plots and whole pages in a real browser and looks into the files.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeBrowser, colourOf, pathOf, settled, withPage } from './browser.mjs';

after(closeBrowser);

function pageTest(title, name, use, options = {}) {
  test(title, () => withPage(name, options, use));
}

/// Presses a button by keyboard and gives the file's name, bytes and text.
async function saved(page, kind, within = 'main') {
  const coming = page.waitForEvent('download');
  await page.locator(within).getByRole('button', { name: `Save as ${kind}` }).first().press('Enter');
  const file = await coming;
  const path = await file.path();
  const bytes = readFileSync(path);
  return { name: file.suggestedFilename(), path, bytes, text: bytes.toString() };
}

const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('document').textContent));

/// Has the page show a newer document, as a server would.
async function renew(page, data) {
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })), data);
  await settled(page);
}

/// The rows of a file without quotes.
const rowsOf = (text) => text.trimEnd().split('\r\n').map((line) => line.split(','));

/// Size of a picture and how many of its pixels have each of `colours` (#rrggbb), give or take what smoothing does.
function look(page, bytes, colours) {
  return page.evaluate(async ([base64, wanted]) => {
    const raw = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const { width, height, context } = await createImageBitmap(new Blob([raw])).then((image) => {
      const drawn = new OffscreenCanvas(image.width, image.height).getContext('2d', { willReadFrequently: true });
      drawn.drawImage(image, 0, 0);
      return { width: image.width, height: image.height, context: drawn };
    });
    const { data } = context.getImageData(0, 0, width, height);
    const counts = wanted.map((hex) => {
      const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (parts.every((part, c) => Math.abs(data[i + c] - part) <= 6)) ++count;
      }
      return count;
    });
    return { width, height, counts };
  }, [bytes.toString('base64'), colours]);
}

/// What an XML parser makes of a drawing: its elements as [name, attributes, text].
async function parsed(page, text) {
  const all = await page.evaluate((xml) => {
    const drawing = new DOMParser().parseFromString(xml, 'image/svg+xml');
    return [...drawing.querySelectorAll('*')].map((element) => [element.localName,
      Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])), element.textContent]);
  }, text);
  assert.equal(all[0][0], 'svg');
  const allowed = ['svg', 'title', 'rect', 'text', 'path', 'clipPath'];
  assert.deepEqual([...new Set(all.map(([name]) => name))].filter((name) => !allowed.includes(name)), []);
  return all;
}

const paths = (all, wanted) => all.filter(([name, attributes]) => name === 'path'
  && Object.entries(wanted).every(([key, value]) => attributes[key] === value));
const texts = (all) => all.filter(([name]) => name === 'text').map(([, , text]) => text);

pageTest('a table is saved as it is searched, filtered and sorted, and after an update', 'runs', async (page) => {
  const table = '.table.searchable';
  const data = await dataOf(page);
  const { name, text } = await saved(page, 'CSV', table);
  assert.equal(name, 'runs-the-newest-first.csv');
  assert.ok(text.startsWith('Run,Name,Duration (seconds),Peak (bytes),Outcome\r\n'));
  const cells = ([run, ...rest]) => [run.text, ...rest].map(String);
  assert.deepEqual(rowsOf(text).slice(1), data.tables[1].rows.map(cells), 'all rows, though 200 are shown');

  await page.getByRole('searchbox', { name: 'Search' }).fill('GPT');
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('running');
  await page.locator(table).getByRole('columnheader', { name: 'Peak' }).getByRole('button').click();
  const found = data.tables[1].rows.filter((row) => row[1].startsWith('gpt') && row[4] === 'running');
  const sorted = found.sort((a, b) => b[3] - a[3]);
  assert.ok(sorted.length > 10);
  assert.deepEqual(rowsOf((await saved(page, 'CSV', table)).text).slice(1), sorted.map(cells));

  const added = [{ text: '=341', path: 'runs/341' }, 'gpt-small', 1.5, 2 ** 50, 'running'];
  data.tables[1].rows.unshift(added);
  await renew(page, data);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'CSV', 'the button keeps the focus');
  assert.deepEqual(rowsOf((await saved(page, 'CSV', table)).text)[1],
    ["'=341", 'gpt-small', '1.5', '1125899906842624', 'running']);
});

pageTest('a plot is saved with every point of the lines and the window that are shown', 'stacked', async (page) => {
  const { lines } = (await dataOf(page)).plots[0];
  const { name, text } = await saved(page, 'CSV');
  assert.equal(name, 'run-7-gpt-small-where-the-memory-of-process-4242-train.csv');
  const [head, ...rows] = rowsOf(text);
  assert.deepEqual(head, ['time (seconds)', ...lines.map((line) => `${line.name} (bytes)`)]);
  assert.deepEqual(rows, lines[0].x.map((x, i) => [String(x), ...lines.map(({ y }) => String(y[i] ?? ''))]));

  await page.locator('.plot-legend button').nth(1).click();
  await page.locator('.plot-area').press('+');
  const [shownHead, ...shown] = rowsOf((await saved(page, 'CSV')).text);
  assert.deepEqual(shownHead, head.filter((_, i) => i !== 2));
  assert.deepEqual(shown.map(([x]) => Number(x)), lines[0].x.filter((x) => x >= 149.75 && x <= 449.25));
});

pageTest('a picture has title, legend and chart, as sharp as the screen and in its colours', 'stacked', async (page) => {
  const { name, bytes } = await saved(page, 'PNG');
  assert.match(name, /^run-7-gpt-small-where.*\.png$/);
  const colours = await Promise.all(['card', 'text', 'limit', 'mark', ...[1, 2, 3, 4, 5, 6].map((i) => `series-${i}`)]
    .map((colour) => colourOf(page, colour)));
  const { width, height, counts } = await look(page, bytes, colours);
  const area = await page.locator('.plot-area').evaluate((element) => element.clientWidth);
  assert.equal(width, 2 * (area + 32));
  assert.ok(height > 2 * 390 && height < 2 * 450, `${height}`);
  assert.ok(counts[0] > 0.3 * width * height, 'the ground');
  counts.slice(1).forEach((count, i) => assert.ok(count > 400, `${count} pixels of ${colours[i + 1]}`));
  await page.locator('.plot-legend button').first().click();
  const { counts: [without] } = await look(page, (await saved(page, 'PNG')).bytes, [colours[4]]);
  assert.equal(without, 0, 'a part that is hidden is neither drawn nor named');
}, { colorScheme: 'dark', deviceScaleFactor: 2 });

/// Ten lines, of which one has a band and one a gap.
function tenLines() {
  const x = Array.from({ length: 100 }, (_, i) => i);
  const values = (n) => x.map((i) => (n + 1) * 2 ** 20 + i * 1e4);
  const lines = x.slice(0, 10).map((n) => ({ name: `line ${n}`, x, y: values(n), step: n < 5 }));
  Object.assign(lines[0], { band_low: lines[0].y.map((y) => y - 1e5), band_high: lines[0].y.map((y) => y + 1e5) });
  lines[9].y = lines[9].y.map((y, i) => (i === 50 ? null : y));
  return {
    title: 'Ten', x_label: 'request', x_unit: 'count', y_label: 'memory', y_unit: 'bytes', lines,
    limit: { name: 'card', value: 11 * 2 ** 20 }, marks: [{ x: 30, label: 'here' }, { x: 60, label: 'there' }],
  };
}

pageTest('a drawing has a path for each line, band, limit and mark', 'empty', async (page) => {
  await renew(page, { title: 'Lines', plots: [tenLines()] });
  const { name, text } = await saved(page, 'SVG');
  assert.equal(name, 'lines-ten.svg');
  const all = await parsed(page, text);
  const drawn = paths(all, { 'stroke-width': '1.75' });
  assert.equal(drawn.length, 10);
  const series = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 1, 2].map((i) => colourOf(page, `series-${i}`)));
  assert.deepEqual(drawn.map(([, { stroke }]) => stroke), series);
  assert.deepEqual(drawn.map(([, attributes]) => attributes['stroke-dasharray']),
    [...Array(8).fill(undefined), '8 4', '8 4']);
  const corners = (path) => path.match(/[ML]/g).length;
  assert.ok(corners(drawn[0][1].d) > 150, 'steps');
  assert.equal(corners(drawn[8][1].d), 100, 'no steps');
  assert.equal(drawn[9][1].d.match(/M/g).length, 2, 'a gap');
  assert.equal(paths(all, { opacity: '0.16', fill: series[0] }).length, 1);
  assert.equal(paths(all, { stroke: await colourOf(page, 'limit'), 'stroke-dasharray': '7 5' }).length, 1);
  assert.equal(paths(all, { stroke: await colourOf(page, 'mark') }).length, 2);
  const said = texts(all);
  for (const wanted of ['Ten', 'line 0', 'line 9', 'card 11.0 MiB', 'here', 'there', 'request', 'memory', '0', '20',
    '80', '0 MiB', '8 MiB']) assert.ok(said.includes(wanted), `${wanted} among ${said}`);

  await page.locator('.plot-legend button').nth(3).click();
  await page.locator('.plot-area').press('+');
  const zoomed = await parsed(page, (await saved(page, 'SVG')).text);
  assert.equal(paths(zoomed, { 'stroke-width': '1.75' }).length, 9);
  assert.ok(texts(zoomed).includes('here') && !texts(zoomed).includes('line 3') && !texts(zoomed).includes('80'));
});

pageTest('a drawing opens in a browser by itself and shows the colours of what it shows', 'stacked', async (page) => {
  const { path, text } = await saved(page, 'SVG');
  const all = await parsed(page, text);
  const colours = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => colourOf(page, `series-${i}`)));
  for (const colour of colours) {
    assert.equal(paths(all, { stroke: colour, 'stroke-linejoin': 'round' }).length, 1, 'an edge');
    assert.equal(paths(all, { fill: colour, 'fill-opacity': '0.55' }).length, 2, 'an area and its swatch');
  }
  const named = pathOf('drawing').replace(/html$/, 'svg');
  copyFileSync(path, named);
  await page.goto(pathToFileURL(named).href);
  assert.equal(await page.evaluate(() => document.documentElement.localName), 'svg');
  const { counts } = await look(page, await page.screenshot(), colours);
  counts.forEach((count, i) => assert.ok(count > 300, `${count} pixels of ${colours[i]}`));
}, { site: 'file:' });

pageTest('text that tries to be markup stays text in files', 'hostile', async (page) => {
  const { title } = (await dataOf(page)).plots[0];
  const { name, text } = await saved(page, 'SVG', '.plot');
  assert.match(name, /^[a-z0-9-]{1,56}\.svg$/);
  const all = await parsed(page, text);
  assert.equal(texts(all)[0], title.replace(/\s+/g, ' '));
  assert.equal((await saved(page, 'CSV', '.table')).text.split('\r\n')[1], `"${title.replaceAll('"', '""')}"`);
  await saved(page, 'PNG', '.plot');
  assert.equal(await page.evaluate(() => window.broken), undefined);
});

// A page may save ten files in one second; the browser drops the rest.
for (const [part, saves, drawn] of [['.plot', 2 * 3, 2], ['.heat, .table, footer', 3 + 2 + 1, 1]]) {
  pageTest(`odd numbers and shapes are saved without a word: ${part}`, 'broken', async (page) => {
    const files = [];
    page.on('download', (file) => files.push(file));
    const buttons = await page.locator(part).getByRole('button', { name: /^Save as/ }).all();
    for (const button of buttons) await button.press('Space');
    while (files.length < buttons.length) await settled(page);
    const drawings = files.filter((file) => file.suggestedFilename().endsWith('.svg'));
    assert.deepEqual([drawings.length, files.length], [drawn, saves]);
    for (const file of drawings) {
      const text = readFileSync(await file.path(), 'utf8');
      await parsed(page, text);
      assert.doesNotMatch(text, /NaN|Infinity|undefined/);
    }
  });
}

pageTest('the whole page is saved as the document that is shown now', 'runs', async (page) => {
  const data = await dataOf(page);
  const first = await saved(page, 'JSON', 'footer');
  assert.equal(first.name, 'runs.json');
  assert.deepEqual(JSON.parse(first.text), data);
  const newer = { ...data, title: 'Newer', tables: data.tables.slice(1) };
  await renew(page, newer);
  const second = await saved(page, 'JSON', 'footer');
  assert.equal(second.name, 'newer.json');
  assert.deepEqual(JSON.parse(second.text), newer);
});

pageTest('buttons are grouped, named, reached by keyboard, and not printed', 'stacked', async (page) => {
  await page.locator('.plot-area').focus();
  const reached = [];
  for (let i = 0; i < 4; ++i) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement.getAttribute('aria-label')));
  }
  assert.deepEqual(reached, ['Save as CSV', 'Save as PNG', 'Save as SVG', 'Save as JSON']);
  assert.equal(await page.locator('.plot').getByRole('group', { name: 'Save' }).getByRole('button').count(), 3);
  const plot = (await dataOf(page)).plots[0];
  await page.locator('.plot').getByRole('button', { name: 'Save as PNG' }).focus();
  await renew(page, { plots: [{ ...plot, note: 'Newer.' }] });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'PNG', 'the focus stays');
  await renew(page, { plots: [{ ...plot, lines: [] }] });
  assert.equal(await page.locator('.plot').getByRole('button').count(), 0, 'there is nothing to save');
  await renew(page, { plots: [plot] });
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.locator('.save').evaluateAll((rows) => rows.every((row) => row.offsetHeight === 0)));
});

test('a page from a server saves its files under the same policy, and asks the server for nothing', async () => {
  const html = readFileSync(pathOf('stacked'), 'utf8');
  const policy = html.match(/http-equiv="Content-Security-Policy" content="([^"]*)"/)[1].replaceAll('&#39;', "'");
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Content-Security-Policy', `${policy}; frame-ancestors 'none'`);
    response.end(html);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  await withPage(`http://127.0.0.1:${server.address().port}/`, {}, async (page) => {
    for (const kind of ['CSV', 'PNG', 'SVG']) assert.ok((await saved(page, kind)).bytes.length > 1000);
    assert.deepEqual(JSON.parse((await saved(page, 'JSON', 'footer')).text), await dataOf(page));
  });
  assert.deepEqual(asked, ['/']);
  server.close();
});
