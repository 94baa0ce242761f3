// SPDX-License-Identifier: Apache-2.0
// Snapshots in `ebb serve`, in a real browser: dropped, chosen, named; what is wrong with one; its search stopped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowser, settled, withPage } from '../page/browser.mjs';
import { cleanUp, record, serve } from './served.mjs';

const data = (name) => `${process.env.EBB_TEST_DATA}/torch-2.11/${name}`;
const small = data('frames/prefetch_streams.default.dump.pickle');
const packed = data('runs/gpt2_varlen.captight.pickle.gz');

record('first', 'true');
const { address } = await serve();
after(async () => {
  cleanUp();
  await closeBrowser();
});

const input = (page) => page.getByLabel('choose a file');
const advice = (page) => page.locator('[aria-label="Advice"]');

/// Drops a file on the page, as a hand does.
async function drop(page, name, bytes) {
  const transfer = await page.evaluateHandle(([text, content]) => {
    const made = new DataTransfer();
    made.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], text));
    return made;
  }, [name, bytes.toString('base64')]);
  for (const kind of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('h1', kind, { dataTransfer: transfer });
}

test('a snapshot that is dropped has its verdict, timeline and map, and then better settings', () =>
  withPage(address, { site: address }, async (page) => {
    await drop(page, 'rank 0.pickle', readFileSync(small));
    await page.waitForURL(/\/snapshots\/[0-9a-f]{32}$/);
    await page.locator('[aria-label="Verdict"]').waitFor();
    assert.match(await page.locator('.subtitle').innerText(), /rank 0\.pickle/);
    await page.getByRole('heading', { name: 'Reserved and allocated over time' }).waitFor();
    await page.getByRole('heading', { name: 'Segments and blocks at the moment in question' }).waitFor();
    await page.getByRole('heading', { name: 'Who holds it', exact: true }).waitFor();
    assert.ok((await page.locator('.call').allInnerTexts()).includes('collect.py:110 prefetch_streams'));
    await advice(page).getByText('best setting').waitFor();
    await page.getByRole('heading', { name: 'Other settings', exact: true }).waitFor();
    await page.getByText('Kept while this page is open').waitFor();
    assert.equal(await page.locator('.task').count(), 0);
    const kept = page.url();
    await page.reload();
    await advice(page).waitFor();
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.waitForURL(address);
    assert.equal((await fetch(kept)).status, 200, 'for a minute, to come back to');
  }));

test('a keyboard is enough to choose one', () => withPage(address, { site: address }, async (page) => {
  const isThere = () => page.evaluate(() => document.activeElement.type === 'file');
  for (let i = 0; i < 20 && !await isThere(); ++i) await page.keyboard.press('Tab');
  assert.ok(await isThere());
  assert.notEqual(await page.locator('.button').evaluate((label) => getComputedStyle(label).outlineStyle), 'none');
  // In place of the dialog, which is none of the page's.
  await input(page).evaluate((element) => element.addEventListener('click', (event) => {
    event.preventDefault();
    window.asked = true;
  }));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => window.asked);
  await input(page).setInputFiles(small);
  await advice(page).getByText('best setting').waitFor();
}));

test('a search can be stopped, and what was found before stays', () => withPage(address, { site: address }, async (page) => {
  await input(page).setInputFiles(packed);
  await page.getByRole('button', { name: 'Stop' }).click();
  await advice(page).getByText('stopped', { exact: true }).waitFor();
  await page.locator('[aria-label="Verdict"]').waitFor();
}));

test('a search that cannot be stopped says why', () => withPage(address, { site: address, loud: true }, async (page) => {
  await page.route('**/stop', (route) => route.fulfill({ status: 403, body: 'a page from elsewhere may not ask\n' }));
  await input(page).setInputFiles(packed);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alert').getByText('a page from elsewhere may not ask', { exact: true }).waitFor();
  await page.unroute('**/stop');
  await page.route('**/stop', (route) => route.abort());
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alert').getByText('The server does not answer.', { exact: true }).waitFor();
  await page.unroute('**/stop');
  await page.getByRole('button', { name: 'Stop' }).click();
  await advice(page).getByText('stopped', { exact: true }).waitFor();
}));

// A browser has six connections for a server.
test('pages that are finished leave room for others', () => withPage(address, { site: address }, async (page) => {
  await input(page).setInputFiles(small);
  await page.getByText('Kept while this page is open').waitFor();
  const others = [];
  for (let i = 0; i < 8; ++i) {
    const other = await page.context().newPage();
    others.push(other);
    await other.goto(page.url());
    await other.getByText('Kept while this page is open').waitFor();
  }
  await others[7].getByRole('link', { name: 'All runs' }).click();
  await others[7].waitForURL(address);
}));

test('what is no snapshot is said in one line, and the next may follow', () =>
  withPage(address, { site: address, loud: true }, async (page) => {
    await drop(page, 'notes.txt', Buffer.from('not a pickle'));
    await page.locator('.upload-said').getByText('notes.txt: ').waitFor();
    assert.equal(page.url(), address);
    await input(page).setInputFiles(small);
    await page.waitForURL(/\/snapshots\//);
  }));

test('one that was named has an address of its own', async () => {
  const { address: named } = await serve(small, packed);
  await withPage(named, { site: named }, async (page) => {
    await page.getByRole('link', { name: 'prefetch_streams.default.dump.pickle' }).click();
    await page.waitForURL(`${named}snapshots/1`);
    await advice(page).waitFor();
  });
  await withPage(`${named}snapshots/1`, { site: named }, async (page) => {
    await advice(page).waitFor();
    assert.equal(await page.locator('.live').count(), 0);
  });
});

test('it fits a phone, and the dark', () =>
  withPage(address, { site: address, viewport: { width: 360, height: 740 }, colorScheme: 'dark' }, async (page) => {
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
    await input(page).setInputFiles(small);
    await advice(page).waitFor();
    await settled(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360);
  }));

test('a page from elsewhere cannot send one', async () => {
  const answer = await fetch(`${address}snapshots?name=x`, { method: 'POST', body: 'x', headers: { Origin: 'http://evil.example' } });
  assert.equal(answer.status, 403);
});
