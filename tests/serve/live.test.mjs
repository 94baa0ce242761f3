// SPDX-License-Identifier: Apache-2.0
// Pages of `ebb serve` that go on while somebody looks at them, in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, withPage } from '../page/browser.mjs';
import { cleanUp, record, rowsOf, serve, startJob } from './served.mjs';

record('before', 'true');
const { address } = await serve();
after(async () => {
  cleanUp();
  await closeBrowser();
});

const status = (page) => page.locator('.live [role=status]');
const row = (page, name) => page.locator('tbody tr', { hasText: name });

test('the list shows a job as it begins, goes on and ends', () =>
  withPage(address, { site: address }, async (page) => {
    assert.equal((await rowsOf(page)).length, 1);
    assert.equal(await status(page).innerText(), 'Live');
    const job = startJob('grows');
    await row(page, 'grows').getByText('running').waitFor();
    const before = await row(page, 'grows').innerText();
    await page.waitForFunction(([text, name]) => [...document.querySelectorAll('tbody tr')].some((element) =>
      element.innerText.includes(name) && element.innerText !== text), [before, 'grows']);
    await job.end();
    await row(page, 'grows').getByText('exit status 0').waitFor();
    await row(page, 'before').getByText('not_enough_data').waitFor();
  }));

test('a run goes on under the eyes of who looks, and says when it has ended', async () => {
  const job = startJob('watched');
  let number = '';
  await withPage(address, { site: address }, async (page) => {
    await row(page, 'watched').waitFor();
    number = await row(page, 'watched').locator('a').innerText();
  });
  await withPage(`${address}runs/${number}`, { site: address }, async (page) => {
    await page.locator('.plot').first().waitFor();
    const recorded = () => page.locator('.tile', { hasText: 'recorded' }).locator('dd').innerText();
    const before = await recorded();
    await page.locator('.plot-area').first().focus();
    await page.waitForFunction((text) => ![...document.querySelectorAll('.tile dd')].some((tile) =>
      tile.innerText === text), before);
    assert.ok(await page.evaluate(() => document.activeElement.className.includes('plot-area')), 'it kept the focus');
    assert.match(await page.locator('.live .when').innerText(), /updated \d+:\d+:\d+/);
    await job.end();
    await page.getByText('Ended', { exact: true }).waitFor();
    assert.match(await page.locator('.tile', { hasText: 'outcome' }).innerText(), /exit status 0/);
  });
});

test('runs that are chosen in the list stand side by side', async () => {
  const job = startJob('third');
  const samples = async () => {
    const { runs } = await (await fetch(`${address}runs/json`)).json();
    return runs.find(({ name }) => name === 'third')?.samples ?? 0;
  };
  while (await samples() < 10) await new Promise((resolve) => { setTimeout(resolve, 100); });
  await job.end();
  await withPage(address, { site: address }, async (page) => {
    for (const name of ['third', 'watched']) await row(page, name).locator('input[type=checkbox]').check();
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.waitForURL(/runs\/\d+,\d+$/);
    assert.equal(await page.locator('h1').innerText(), 'Runs side by side');
    assert.equal((await rowsOf(page)).length, 2);
    const lines = await page.locator('.plot').first().locator('button .name').allInnerTexts();
    assert.deepEqual(lines.map((text) => text.replace(/^\d+: /, '')).toSorted(), ['third', 'watched']);
  });
});

test('a server that goes away is said, and one that comes back goes on', async () => {
  const { server, address: passing } = await serve();
  await withPage(passing, { site: passing, loud: true }, async (page) => {
    assert.equal(await status(page).innerText(), 'Live');
    const port = new URL(passing).port;
    const gone = new Promise((resolve) => { server.on('exit', resolve); });
    server.kill();
    await page.getByText('Connection lost; trying again').waitFor();
    await gone; // and its port is free
    await serve('--listen', `127.0.0.1:${port}`);
    await page.locator('.live:not(.lost)').waitFor();
    record('after the break', 'true');
    await row(page, 'after the break').waitFor();
  });
});
