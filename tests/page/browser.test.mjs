// SPDX-License-Identifier: Apache-2.0
// Opens generated pages from disk in a real browser and uses them as people do.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, colourOf, countPixels, picture, settled, withPage } from './browser.mjs';

after(closeBrowser);

const SERIES = ['series-1', 'series-2', 'series-3', 'series-4'];
const PAGES = ['empty', 'report', 'large', 'rows', 'runs', 'stacked', 'heat', 'hostile', 'broken'];

/// The middle of an element on the screen, and its corners.
async function boxOf(page, selector) {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  const { x, y, width, height } = await page.locator(selector).first().boundingBox();
  return { x, y, width, height, middle: { x: x + width / 2, y: y + height / 2 } };
}

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2);
  await page.mouse.move(to.x, to.y);
  await page.mouse.up();
}

const cells = (page, column) =>
  page.locator(`.table tbody tr td:nth-child(${column})`).allInnerTexts();

function pageTest(title, name, use, options = {}) {
  test(title, () => withPage(name, options, use));
}

for (const name of PAGES) {
  pageTest(`the page '${name}' is silent, light or dark, and fits a narrow screen`, name, async (page) => {
    assert.ok(await page.locator('h1').innerText());
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 740 });
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
  });
}

pageTest('the policy lets nothing be loaded and no other script run', 'empty', async (page) => {
  const refused = await page.evaluate(async () => {
    const directives = [];
    const all = new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => {
        if (directives.push(event.effectiveDirective) === 3) resolve();
      });
    });
    await fetch('http://127.0.0.1:9/').catch(() => {});
    const script = document.createElement('script');
    script.textContent = 'window.broken = 1';
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:9/pixel.png';
    document.body.append(script, image);
    await all;
    return { directives, broken: window.broken };
  });
  assert.deepEqual(refused.directives.sort(), ['connect-src', 'img-src', 'script-src-elem']);
  assert.equal(refused.broken, undefined);
}, { loud: true });

pageTest('hostile text is shown as text wherever text goes', 'hostile', async (page) => {
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  const text = '</script><script>window.broken=1</script><!--<img src=x onerror=window.broken=1>';
  for (const place of ['h1', '.tile dt', '.verdict h2', '.paste code', '.plot h2', '.heat h2', '.flame h2',
    '.call.python', '.map h2', '.table td', '.bars h2']) {
    assert.ok((await page.locator(place).first().textContent()).startsWith(text), place);
  }
  assert.match(await page.title(), /^<\/script>/);
});

pageTest('a plot draws each line in its colour, in light and in dark', 'report', async (page) => {
  const light = await colourOf(page, 'series-1');
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const name of SERIES) {
      const drawn = await countPixels(page, '.plot canvas', await colourOf(page, name));
      assert.ok(drawn > 300, `${name} in ${colorScheme}: ${drawn} pixels`);
    }
    assert.ok(await countPixels(page, '.plot canvas', await colourOf(page, 'limit')) > 100, 'limit');
    assert.ok(await countPixels(page, '.plot canvas', await colourOf(page, 'mark')) > 100, 'marks');
  }
  assert.notEqual(await colourOf(page, 'series-1'), light);
});

pageTest('the legend hides and shows lines, by keyboard too', 'report', async (page) => {
  const button = page.locator('.plot-legend button').nth(1);
  const orange = await colourOf(page, SERIES[1]);
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.equal(await countPixels(page, '.plot canvas', orange), 0);
  await button.focus();
  await page.keyboard.press('Enter');
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  assert.ok(await countPixels(page, '.plot canvas', orange) > 300);
});

pageTest('the legend reads the exact value under the pointer', 'report', async (page) => {
  const { middle } = await boxOf(page, '.plot .u-over');
  await page.mouse.move(middle.x, middle.y);
  const where = await page.locator('.plot-legend .where').innerText();
  const index = Number(where.match(/^request ([\d,]+)$/)[1].replaceAll(',', ''));
  assert.ok(index > 9900 && index < 10100, where);
  const shown = await page.locator('.plot-legend .value').nth(3).innerText();
  const near = await page.evaluate((at) => {
    const { y } = JSON.parse(document.getElementById('document').textContent).plots[0].lines[3];
    return [y[at - 1], y[at], y[at + 1]].map((value) => `${(value / 1024 ** 3).toFixed(1)} GiB`);
  }, index);
  assert.ok(near.includes(shown), `${shown} at ${index}, expected one of ${near}`);
});

pageTest('a drag zooms 200,000 points, a double click goes back', 'large', async (page) => {
  const whole = await picture(page, '.plot canvas');
  const { x, width, middle } = await boxOf(page, '.plot .u-over');
  const reset = page.locator('.plot .reset');
  assert.ok(await reset.isHidden());
  for (let i = 0; i < 3; ++i) {
    await drag(page, { x: x + 0.4 * width, y: middle.y }, { x: x + 0.6 * width, y: middle.y });
  }
  assert.ok(await reset.isVisible());
  assert.notEqual(await picture(page, '.plot canvas'), whole);
  await page.mouse.move(x + 1, middle.y);
  const left = await page.locator('.plot-legend .where').innerText();
  assert.match(left, /^request 9\d,\d{3}$/);
  await page.mouse.dblclick(middle.x, middle.y);
  assert.ok(await reset.isHidden());
  assert.equal(await picture(page, '.plot canvas'), whole);
});

pageTest('keys zoom and move a plot', 'report', async (page) => {
  const whole = await picture(page, '.plot canvas');
  await page.locator('.plot-area').focus();
  await page.keyboard.press('+');
  const zoomed = await picture(page, '.plot canvas');
  assert.notEqual(zoomed, whole);
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await picture(page, '.plot canvas'), zoomed);
  await page.keyboard.press('0');
  assert.equal(await picture(page, '.plot canvas'), whole);
});

pageTest('a map draws blocks by state, in light and in dark', 'report', async (page) => {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const state of ['active', 'pending', 'free', 'unmapped']) {
      const drawn = await countPixels(page, '.map canvas', await colourOf(page, `map-${state}`));
      assert.ok(drawn > 1000, `${state} in ${colorScheme}: ${drawn} pixels`);
    }
  }
});

pageTest('a map tells the block under the pointer', 'report', async (page) => {
  const before = await page.locator('.block-facts').innerText();
  const { x, y, width, height } = await boxOf(page, '.map-stage');
  await page.mouse.move(x + width * 0.5, y + height - 12);
  const facts = await page.locator('.block-facts').innerText();
  assert.notEqual(facts, before);
  assert.match(facts, /address\s+0x7f[0-9a-f]+/);
  const size = Number(facts.match(/\(([\d,]+) B\)/)[1].replaceAll(',', ''));
  const address = BigInt(facts.match(/0x[0-9a-f]+/)[0]);
  const known = await page.evaluate(({ at, bytes }) => {
    const [map] = JSON.parse(document.getElementById('document').textContent).maps;
    return map.segments.some((segment) => segment.blocks.some(([offset, length]) =>
      length === bytes && (BigInt(segment.address) + BigInt(offset)).toString() === at));
  }, { at: address.toString(), bytes: size });
  assert.ok(known, `${facts} names a block of the document`);
});

pageTest('a map of 100,000 blocks zooms by wheel once it was clicked, and moves by dragging', 'large', async (page) => {
  const count = await page.evaluate(() => {
    const [map] = JSON.parse(document.getElementById('document').textContent).maps;
    return map.segments.reduce((sum, segment) => sum + segment.blocks.length, 0);
  });
  assert.ok(count >= 100000);
  const whole = await picture(page, '.map canvas');
  const { middle } = await boxOf(page, '.map-stage');
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -300);
  assert.equal(await picture(page, '.map canvas'), whole, 'the page scrolls past it');
  await page.mouse.wheel(0, 300);
  const { middle: again } = await boxOf(page, '.map-stage');
  await page.mouse.click(again.x, again.y);
  for (let i = 0; i < 20; ++i) await page.mouse.wheel(0, -240);
  const zoomed = await picture(page, '.map canvas');
  assert.notEqual(zoomed, whole);
  assert.match(await page.locator('.map-shown').innerText(), /^[\d.]+ [KM]iB across/);
  await drag(page, again, { x: again.x - 300, y: again.y });
  assert.notEqual(await picture(page, '.map canvas'), zoomed);
  await page.locator('.map').getByRole('button', { name: 'Show all' }).click();
  await settled(page);
  assert.equal(await page.locator('.map-shown').innerText(), '');
});

pageTest('keys choose blocks, also those out of sight', 'report', async (page) => {
  await page.locator('.map-stage').focus();
  const first = await page.locator('.block-facts').innerText();
  await page.keyboard.press('ArrowRight');
  const second = await page.locator('.block-facts').innerText();
  assert.notEqual(second, first);
  for (let i = 0; i < 8; ++i) await page.keyboard.press('+');
  for (let i = 0; i < 40; ++i) await page.keyboard.press('ArrowRight');
  const outlined = await countPixels(page, '.map canvas.above', await colourOf(page, 'text'));
  assert.ok(outlined > 20, 'the chosen block is in sight');
  assert.match(await page.locator('.map [role=status]').textContent(), /address 0x/);
  await page.keyboard.press('Escape');
  assert.equal(await countPixels(page, '.map canvas.above', await colourOf(page, 'text')), 0);
});

pageTest('a map can be ordered by address and coloured by size and by stack', 'report', async (page) => {
  const bySize = await picture(page, '.map canvas');
  await page.getByLabel('Order by').selectOption('address');
  const byAddress = await picture(page, '.map canvas');
  assert.notEqual(byAddress, bySize);
  await page.getByLabel('Colour by').selectOption('size');
  assert.match(await page.locator('.map .legend').innerText(), /to 100\.0 MiB/);
  assert.notEqual(await picture(page, '.map canvas'), byAddress);
  await page.getByLabel('Colour by').selectOption('stack');
  assert.match(await page.locator('.map .legend').innerText(), /attention\.py:118/);
});

pageTest('a table sorts by a click on a name, and the highlight stays with its row', 'report', async (page) => {
  const head = page.getByRole('columnheader', { name: 'peak reserved' });
  await head.getByRole('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  assert.deepEqual(await cells(page, 2), ['27.5 GiB', '23.0 GiB', '21.0 GiB', '18.6 GiB', '14.6 GiB']);
  await head.getByRole('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  assert.deepEqual(await cells(page, 2), ['14.6 GiB', '18.6 GiB', '21.0 GiB', '23.0 GiB', '27.5 GiB']);
  await page.getByRole('columnheader', { name: 'setting' }).getByRole('button').press('Enter');
  assert.equal((await cells(page, 1))[0], '(default)');
  assert.equal(await page.locator('tr.highlight td').first().innerText(), 'expandable_segments:True');
});

pageTest('a long table shows its beginning first', 'rows', async (page) => {
  assert.equal(await page.locator('.table tbody tr').count(), 200);
  await page.getByRole('button', { name: 'Show all 1,000 rows' }).click();
  assert.equal(await page.locator('.table tbody tr').count(), 1000);
});

for (const clipboard of ['granted', 'missing']) {
  pageTest(`the setting is copied where the clipboard is ${clipboard}`, 'report', async (page) => {
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    await page.evaluate(() => document.body.append(document.createElement('textarea')));
    await page.locator('textarea').focus();
    await page.keyboard.press('Control+V');
    assert.equal(await page.locator('textarea').inputValue(),
      'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True');
  }, {
    permissions: ['clipboard-read', 'clipboard-write'],
    before: clipboard === 'missing'
      ? () => Object.defineProperty(navigator, 'clipboard', { value: undefined })
      : null,
  });
}

pageTest('a flame graph is as wide as its shares, and a click widens a call', 'report', async (page) => {
  const widths = () => page.locator('.call').evaluateAll((calls) => {
    const whole = calls[0].parentElement.getBoundingClientRect().width;
    return Object.fromEntries(calls.map((call) =>
      [call.textContent, Math.round((100 * call.getBoundingClientRect().width) / whole)]));
  });
  const at = await widths();
  assert.equal(at['4242 (train.py)'], 90);
  assert.equal(at['loader.py:42 load_batch'], 60);
  assert.equal(at['4243 (worker)'], 10);
  await page.locator('.call', { hasText: 'model.py:18' }).click();
  assert.equal((await widths())['model.py:18 build'], 100);
  assert.equal((await widths())['loader.py:42 load_batch'], undefined);
  assert.match(await page.locator('.flame-said').innerText(), /^model\.py:18 build: 300\.0 MiB, 30\.0 %$/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  assert.deepEqual(await widths(), at);
});

pageTest('a flame graph goes by keyboard, and by growth', 'report', async (page) => {
  await page.locator('.call').first().focus();
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  assert.match(await page.locator('.flame-said').innerText(), /^loader\.py:42 load_batch: 600\.0 MiB, 60\.0 %$/);
  await page.keyboard.press('Enter');
  await page.locator('.flame-choice button').nth(1).click();
  assert.match(await page.locator('.flame-said').innerText(), /^loader\.py:42 load_batch: 90\.0 MiB, 90\.0 %$/);
  assert.equal(await page.locator('.flame-choice button').nth(1).getAttribute('aria-pressed'), 'true');
  assert.equal(await page.locator('.call', { hasText: 'model.py:18' }).count(), 0);
});

pageTest('bars share one scale with their limit', 'report', async (page) => {
  const totals = await page.locator('.row').evaluateAll((rows) => rows.map((row) => {
    const parts = [...row.querySelectorAll('.part')].map((part) => part.getBoundingClientRect());
    const limit = row.querySelector('.limit').getBoundingClientRect();
    return { end: Math.max(...parts.map(({ right }) => right)), start: parts[0].left, limit: limit.left };
  }));
  const share = totals.map(({ start, end, limit }) => ((end - start) / (limit - start)) * 24);
  [7.8, 17.2, 24.5, 10.8].forEach((total, i) => assert.ok(Math.abs(share[i] - total) < 0.1, `${share[i]}`));
  assert.equal(new Set(totals.map(({ limit }) => Math.round(limit))).size, 1);
  assert.match(await page.locator('.row').nth(2).innerText(), /over card/);
  await page.locator('.bars summary').click();
  assert.match(await page.locator('.bars table').innerText(), /14\.1 GiB/);
});

pageTest('all that can be used has a name and can be reached by keyboard', 'report', async (page) => {
  const nameless = await page.locator('button, select, [tabindex], section').evaluateAll((elements) =>
    elements.filter((element) => !(element.getAttribute('aria-label') || element.textContent.trim()
      || element.getAttribute('aria-labelledby'))).map((element) => element.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.className || document.activeElement.tagName));
  }
  for (const name of ['copy', 'plot-area', 'map-stage', 'SELECT', 'scroll', 'SUMMARY']) {
    assert.ok(reached.has(name), `${name} among ${[...reached]}`);
  }
});
