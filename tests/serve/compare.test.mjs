// SPDX-License-Identifier: Apache-2.0
// Simulations side by side, while they go on and afterwards, in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, withPage } from '../page/browser.mjs';
import { cleanUp, compare, importInto, rowsOf, serve } from './served.mjs';

const SMALL = ['--methods', 'heuristic.random,system_aware.poc', '--seeds', '1,2'];
const ended = compare(...SMALL, '--rounds', '4');
await ended.over;
const { address } = await serve();
after(async () => {
  cleanUp();
  await closeBrowser();
});

const tile = (page, label) => page.locator('.tile', { hasText: label }).locator('dd');

test('a run of the simulator leads to all that it was simulated with', () =>
  withPage(`${address}runs/2`, { site: address }, async (page) => {
    await page.getByRole('link', { name: 'What was simulated' }).click();
    await page.waitForURL('**/runs/compare-2');
    assert.equal(await page.locator('h1').innerText(), 'Comparison of selection methods');
    for (const title of ['Accuracy', 'Accuracy over simulated time', 'Memory at the end of each round', 'Who took part',
      'Time of a round', 'Ranking', 'Results'])
      await page.getByRole('heading', { name: title, exact: true }).waitFor();
    assert.equal(await tile(page, 'simulated').innerText(), '4 of 4');
    const results = page.locator('section', { has: page.getByRole('heading', { name: 'Results', exact: true }) });
    assert.equal(await results.locator('tbody tr').count(), 4);
    assert.equal(await page.locator('.live').count(), 0, 'it is over');
    await results.getByRole('link', { name: '3', exact: true }).click();
    await page.waitForURL('**/runs/3');
  }));

test('a comparison that goes on is drawn round by round', async () => {
  const going = compare('--methods', 'heuristic.random,system_aware.poc', '--rounds', '1000000'); // more than anybody waits for
  let number = '';
  await withPage(address, { site: address }, async (page) => {
    const row = page.locator('tbody tr', { hasText: 'running' });
    await row.waitFor();
    number = await row.locator('a').first().innerText();
  });
  // It runs before it is recorded what it simulates.
  while ((await fetch(`${address}runs/compare-${number}`)).status !== 200)
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  await withPage(`${address}runs/compare-${number}`, { site: address }, async (page) => {
    assert.equal(await page.locator('.live [role=status]').innerText(), 'Live');
    const rounds = async () => Number((await rowsOf(page)).at(-1).split('\t')[3]?.replaceAll(/\D/g, '') || 0);
    const before = await rounds();
    while (await rounds() <= before) await new Promise((resolve) => { setTimeout(resolve, 100); });
    assert.equal(await page.getByRole('heading', { name: 'Ranking', exact: true }).count(), 0, 'none is whole');
    assert.equal(await tile(page, 'simulated').innerText(), '0 of 2');
  });
  await going.stop();
});

test('a folder from elsewhere is compared as if it had been simulated here', async () => {
  const elsewhere = compare(...SMALL, '--rounds', '3', '--no-record');
  await elsewhere.over;
  const [run] = importInto(elsewhere.folder);
  await withPage(`${address}runs/compare-${run}`, { site: address }, async (page) => {
    assert.equal(await tile(page, 'simulated').innerText(), '4 of 4');
    assert.equal(await page.locator('.tile', { hasText: 'rounds' }).locator('dd').innerText(), '3');
  });
});

test('what simulates nothing cannot be compared', async () => {
  const answer = await fetch(`${address}runs/compare-999`);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /no simulation 999 in the record/);
});
