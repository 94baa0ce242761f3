// SPDX-License-Identifier: Apache-2.0
// `ebb serve` in a real browser. The program comes in $EBB_PROGRAM.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, settled, withPage } from '../page/browser.mjs';
import { cleanUp, record, rowsOf, serve } from './served.mjs';

record('first', 'true');
record('<b>second</b>', 'sleep', '1');
const { address } = await serve();
after(async () => {
  cleanUp();
  await closeBrowser();
});

test('the list has every run, the newest first, as text', () => withPage(address, { site: address }, async (page) => {
  assert.equal(await page.locator('h1').innerText(), 'Runs');
  const rows = await rowsOf(page);
  assert.equal(rows.length, 2);
  assert.match(rows[0], /^2\s+<b>second<\/b>\s.*exit status 0/s);
  assert.match(rows[1], /^1\s+first\s/s);
}));

test('a click leads to the run, and back leads to the list', () =>
  withPage(address, { site: address }, async (page) => {
    await page.locator('tbody a').first().click();
    await page.waitForURL(`${address}runs/2`);
    assert.match(await page.locator('h1').innerText(), /^Run 2: <b>second<\/b>$/);
    assert.ok(await page.locator('.verdict').innerText());
    await page.goBack();
    assert.equal((await rowsOf(page)).length, 2);
  }));

test('a keyboard is enough', () => withPage(address, { site: address }, async (page) => {
  await page.locator('tbody a').nth(1).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${address}runs/1`);
}));

test('sorting by a column keeps links', () => withPage(address, { site: address }, async (page) => {
  await page.locator('th button', { hasText: 'Run' }).click();
  const rows = await page.locator('tbody a').allInnerTexts();
  assert.deepEqual(rows.toSorted(), rows);
}));

test('it fits a phone, and the dark', () =>
  withPage(address, { site: address, viewport: { width: 360, height: 740 }, colorScheme: 'dark' }, async (page) => {
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
    const light = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    const [back, link] = await page.evaluate(() => [document.body, document.querySelector('tbody a')].map((element) =>
      getComputedStyle(element)).map((style, i) => (i === 0 ? style.backgroundColor : style.color)));
    assert.ok(light(back) < 200 && light(link) > 350, `${back} ${link}`);
  }));

test('what is not there is said in one line', async () => {
  for (const [path, status, line] of [['runs/99', 404, 'no run 99 in the record\n'],
    ['nothing', 404, 'nothing here; expected /, /runs/NUMBER, /runs/compare-NUMBER, /snapshots/KEY, /plan or /metrics\n']]) {
    const answer = await fetch(address + path);
    assert.equal(answer.status, status);
    assert.equal(await answer.text(), line);
  }
});

test('under the path of a proxy links still lead somewhere', async () => {
  const { address: below } = await serve('--base', '/user/ebb');
  assert.match(below, /\/user\/ebb\/$/);
  await withPage(below, { site: below }, async (page) => {
    await page.locator('tbody a').first().click();
    await page.waitForURL(`${below}runs/2`);
  });
});
