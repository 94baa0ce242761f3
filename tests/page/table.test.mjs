// SPDX-License-Identifier: Apache-2.0
// A table that is searched, filtered, put side by side and given new data, in a real browser.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, settled, withPage } from './browser.mjs';

after(closeBrowser);

const TABLE = '.table.searchable';
const PHONE = { viewport: { width: 360, height: 740 } };

/// The page asks for itself again, and for what the button leads to.
const pageTest = (title, use, options = {}) => test(title, () => withPage('runs', { site: 'file:', ...options }, use));

const search = (page) => page.getByRole('searchbox', { name: 'Search' });
const count = (page) => page.locator(`${TABLE} .table-tools [role=status]`);
const rows = (page) => page.locator(`${TABLE} tbody tr`);
const column = (page, number) => page.locator(`${TABLE} tbody td:nth-child(${number})`).allInnerTexts();
const box = (page, number) => page.getByRole('checkbox', { name: `Choose Run ${number}`, exact: true });
const button = (page) => page.getByRole('button', { name: 'Side by side' });
const head = (page, name) => page.locator(TABLE).getByRole('columnheader', { name });
const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById('document').textContent));
const fragment = (page) => new URL(page.url()).hash;

/// Gives the page other data, as a server would: `change` gets the rows of the table and gives new ones.
async function renew(page, change) {
  const data = await dataOf(page);
  data.tables[1].rows = change(data.tables[1].rows);
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })), data);
  await settled(page);
}

const added = (number, name = 'gpt-small') =>
  [{ text: `${number}`, path: `runs/${number}` }, name, 60, 2 ** 30, 'running'];

pageTest('a search finds all words in any column, whatever the letters', async (page) => {
  assert.equal(await count(page).innerText(), '340 rows');
  await search(page).fill('GPT-small  KILLED');
  const found = await rows(page).allInnerTexts();
  assert.ok(found.length > 5 && found.length < 100);
  assert.ok(found.every((row) => row.includes('gpt-small') && row.includes('killed for memory')));
  assert.equal(await count(page).innerText(), `${found.length} of 340 rows`);
  assert.equal(await page.locator('.table:not(.searchable) tbody tr').count(), 2);
  await search(page).fill('');
  assert.equal(await count(page).innerText(), '340 rows');
});

pageTest('a filter offers the values of its column, and goes with the search', async (page) => {
  const outcome = page.getByRole('combobox', { name: 'Outcome' });
  assert.deepEqual(await outcome.locator('option').allInnerTexts(),
    ['all', 'exit status 0', 'exit status 1', 'killed for memory', 'running']);
  await outcome.selectOption('running');
  assert.deepEqual([...new Set(await column(page, 5))], ['running']);
  await page.getByRole('combobox', { name: 'Name' }).selectOption('vision encoder');
  await search(page).fill('3');
  const found = await rows(page).allInnerTexts();
  assert.ok(found.length > 0 && found.every((row) => row.includes('3') && /vision encoder.*running/s.test(row)));
});

pageTest('where nothing matches, it says so and can be cleared', async (page) => {
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('running');
  await search(page).fill('no such run');
  assert.equal(await rows(page).count(), 0);
  assert.equal(await count(page).innerText(), '0 of 340 rows');
  assert.match(await page.locator('.table-none').innerText(), /^No row matches\./);
  await page.getByRole('button', { name: 'Clear' }).click();
  assert.ok(await page.locator('.table-none').isHidden());
  assert.equal(await count(page).innerText(), '340 rows');
  assert.equal(await search(page).inputValue(), '');
  assert.ok(await search(page).evaluate((field) => field === document.activeElement));
  assert.equal(fragment(page), '');
});

pageTest('what is found is sorted, and shown in full on request', async (page) => {
  assert.equal(await rows(page).count(), 200);
  await head(page, 'Peak').getByRole('button').click();
  await search(page).fill('exit');
  assert.ok(await rows(page).count() < 200);
  assert.equal(await page.getByRole('button', { name: /^Show all/ }).count(), 0);
  await search(page).fill('');
  await page.getByRole('button', { name: 'Show all 340 rows' }).click();
  assert.equal(await rows(page).count(), 340);
  const bars = await page.locator(`${TABLE} .cell-bar`).evaluateAll((all) => all.map((bar) => bar.offsetWidth));
  assert.equal(bars.length, 340);
  assert.deepEqual(bars, bars.toSorted((a, b) => b - a));
  assert.ok(await page.locator(`${TABLE} .scroll`).evaluate((area) => area === document.activeElement));
});

pageTest('the address can be passed on', async (page) => {
  const steps = () => page.evaluate(() => window.history.length);
  const before = await steps();
  await search(page).fill('gpt 1');
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('killed for memory');
  await head(page, 'Peak').getByRole('button').click();
  assert.equal(fragment(page), '#q=gpt+1&outcome=killed+for+memory&sort=-Peak');
  const found = await rows(page).allInnerTexts();
  await page.reload();
  assert.deepEqual(await rows(page).allInnerTexts(), found);
  assert.equal(await search(page).inputValue(), 'gpt 1');
  assert.equal(await page.getByRole('combobox', { name: 'Outcome' }).inputValue(), '=killed for memory');
  assert.equal(await head(page, 'Peak').getAttribute('aria-sort'), 'descending');
  assert.equal(await steps(), before, 'it leaves no steps behind');
});

pageTest('letters reach the address when typing pauses', async (page) => {
  await search(page).pressSequentially('vision');
  await page.waitForFunction(() => window.location.hash === '#q=vision');
});

pageTest('an address is followed in an open page, and garbage in it is ignored', async (page) => {
  const go = async (hash) => {
    await page.evaluate((text) => { window.location.hash = text; }, hash);
    await settled(page);
  };
  await go('q=gpt&outcome=running&sort=Run');
  assert.ok((await rows(page).allInnerTexts()).every((row) => row.includes('gpt') && row.includes('running')));
  for (const garbage of ['outcome=never&sort=Weight&x=1', '%', '%ff%00=&&&=', '__proto__=1', 'section-1', 'sort=-']) {
    await go(garbage);
    assert.equal(await count(page).innerText(), '340 rows', garbage);
    await page.reload();
    assert.equal(await rows(page).count(), 200, garbage);
    assert.equal(await page.locator('th[aria-sort]').count(), 0);
    assert.equal(await page.locator('footer').count(), 1);
  }
});

pageTest('two rows and more go side by side, eight at most', async (page) => {
  assert.ok(await button(page).isDisabled());
  await box(page, 338).check();
  assert.ok(await button(page).isDisabled());
  await search(page).fill('33');
  await box(page, 33).check();
  await search(page).fill('');
  assert.match(await page.locator('.table-choice').innerText(), /Chosen: 33, 338/);
  assert.ok(await box(page, 338).isChecked());
  for (const number of [340, 339, 337, 336, 335, 334]) await box(page, number).check();
  assert.ok(await box(page, 300).isDisabled());
  await page.getByRole('button', { name: 'Choose none' }).click();
  assert.equal(await page.locator(`${TABLE} input:checked`).count(), 0);
  assert.ok(await box(page, 300).isEnabled());
  await box(page, 300).check();
  await box(page, 20 + 200).check();
  const asked = page.waitForRequest(/runs\/\d/);
  await button(page).click();
  assert.match((await asked).url(), /\/runs\/220,300$/);
});

pageTest('a keyboard is enough', async (page) => {
  await search(page).focus();
  await page.keyboard.type('vision encoder');
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label')
    ?? document.activeElement.closest('label, button, a, div').innerText.split('\n')[0].trim());
  const pass = async (name) => {
    for (let i = 0; i < 20; ++i) {
      await page.keyboard.press('Tab');
      if ((await focused()).startsWith(name)) return;
    }
    assert.fail(`Tab does not reach ${name}`);
  };
  await pass('Outcome');
  await page.keyboard.type('run');
  assert.deepEqual([...new Set(await column(page, 5))], ['running']);
  await pass('Peak');
  await page.keyboard.press('Enter');
  assert.equal(await head(page, 'Peak').getAttribute('aria-sort'), 'descending');
  await pass('Choose Run');
  await page.keyboard.press('Space');
  await pass('Choose Run');
  await page.keyboard.press('Space');
  const chosen = (await page.locator('.table-choice [role=status]').innerText()).match(/\d+/g).map(Number);
  assert.equal(chosen.length, 2);
  await button(page).focus();
  const asked = page.waitForRequest(/runs\/\d/);
  await page.keyboard.press('Enter');
  assert.ok((await asked).url().endsWith(`/runs/${chosen.join(',')}`));
});

pageTest('it fits a phone, and fields are large enough', async (page) => {
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(await width() <= 360);
  await page.getByRole('combobox', { name: 'Name' }).selectOption('federated client of hospital 7');
  await box(page, (await column(page, 1))[0].trim()).check();
  assert.ok(await width() <= 360);
  const { width: field } = await search(page).boundingBox();
  assert.ok(field > 220, `${field}`);
  const target = await page.locator('.choose').first().boundingBox();
  assert.ok(target.width >= 24 && target.height >= 24, JSON.stringify(target));
}, PHONE);

pageTest('everything that can be used has a name', async (page) => {
  const nameless = await page.locator(`${TABLE} :is(input, select, button)`).evaluateAll((all) => all
    .filter((one) => !one.getAttribute('aria-label') && !(one.labels?.[0] ?? one).textContent.trim())
    .map((one) => one.outerHTML));
  assert.deepEqual(nameless, []);
});

pageTest('new data leaves sort, search, filter and choice as they are', async (page) => {
  await search(page).fill('gpt');
  await page.getByRole('combobox', { name: 'Outcome' }).selectOption('running');
  await head(page, 'Run').getByRole('button').click();
  const first = (await column(page, 1)).map((text) => text.trim());
  await box(page, first[0]).check();
  await box(page, first[1]).check();
  const address = page.url();
  await renew(page, (all) => [added(341), added(342, 'vision encoder'), ...all]);
  const now = (await column(page, 1)).map((text) => text.trim());
  assert.deepEqual(now, [...first, '341']);
  assert.equal(await count(page).innerText(), `${now.length} of 342 rows`);
  assert.ok(await box(page, first[0]).isChecked() && await box(page, first[1]).isChecked());
  assert.ok(await button(page).isEnabled());
  assert.equal(page.url(), address);
  await renew(page, (all) => all.filter(([run]) => run.text !== first[1]));
  assert.ok(await button(page).isDisabled(), 'a row that is gone is not chosen');
  await renew(page, (all) => all.filter((row) => row[4] !== 'running'));
  assert.equal(await rows(page).count(), 0);
  assert.equal(await page.getByRole('combobox', { name: 'Outcome' }).inputValue(), '=running');
});

pageTest('new data leaves focus on its row, and letters in the field', async (page) => {
  const link = () => page.locator(`${TABLE} a`, { hasText: /^330$/ });
  const has = (locator) => locator.evaluate((element) => element === document.activeElement);
  await link().focus();
  await page.evaluate(() => {
    window.blurred = 0;
    document.activeElement.addEventListener('blur', () => { ++window.blurred; });
  });
  await renew(page, (all) => [added(341), ...all.map((row) => [row[0], row[1], row[2] + 1, row[3], row[4]])]);
  assert.ok(await has(link()));
  assert.equal(await page.evaluate(() => window.blurred), 0, 'it never lost it');
  await renew(page, (all) => all.toReversed());
  assert.equal(await link().count(), 0, 'it is not among the first 200');
  await renew(page, (all) => all);
  await box(page, 335).focus();
  await renew(page, (all) => [...all.slice(1, 20), all[0], ...all.slice(20)].map((row) =>
    (row[0].text === '335' ? [{ ...row[0], text: '335 again' }, ...row.slice(1)] : row)));
  assert.ok(await has(page.getByRole('checkbox', { name: 'Choose Run 335 again' })));
  await search(page).focus();
  await page.keyboard.type('gp');
  await renew(page, (all) => [added(341), ...all]);
  await page.keyboard.type('t');
  assert.equal(await search(page).inputValue(), 'gpt');
});

pageTest('new data leaves all rows shown, and what is looked at in its place', async (page) => {
  await page.getByRole('button', { name: 'Show all 340 rows' }).click();
  const link = page.locator(`${TABLE} a`, { hasText: /^170$/ });
  await link.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const before = await link.boundingBox();
  await renew(page, (all) => [added(343), added(342), added(341), ...all]);
  assert.equal(await rows(page).count(), 343);
  assert.ok(Math.abs((await link.boundingBox()).y - before.y) <= 1);
});

pageTest('a change of a cell is seen, and bars follow the largest', async (page) => {
  const bar = page.locator(`${TABLE} .cell-bar`).first();
  const before = await bar.evaluate((element) => element.offsetWidth);
  await renew(page, (all) => [...all.slice(0, -1), [...all.at(-1).slice(0, 3), 2 ** 40, 'exit status 2']]);
  assert.ok(await bar.evaluate((element) => element.offsetWidth) < before / 4);
  const offered = await page.getByRole('combobox', { name: 'Outcome' }).locator('option').allInnerTexts();
  assert.ok(offered.includes('exit status 2'));
  await head(page, 'Peak').getByRole('button').click();
  assert.match(await rows(page).first().innerText(), /1\.0 TiB.*exit status 2/s);
});

pageTest('a table of other columns takes the place of the old one', async (page) => {
  const data = await dataOf(page);
  data.tables[1].columns.pop();
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })), data);
  await settled(page);
  assert.equal(await page.locator(`${TABLE} th`).count(), 4);
  assert.equal(await page.locator('.table').count(), 2);
});

pageTest('of two tables that are searched the first has the address', async (page) => {
  const data = await dataOf(page);
  data.tables[0].search = true;
  await page.evaluate((detail) => window.dispatchEvent(new CustomEvent('ebb-document', { detail })), data);
  const [first, second] = [search(page).nth(0), search(page).nth(1)];
  await second.fill('gpt');
  await second.press('Enter');
  assert.equal(fragment(page), '');
  await first.fill('node-2');
  await first.press('Enter');
  assert.equal(fragment(page), '#q=node-2');
  assert.equal(await second.inputValue(), 'gpt');
});

pageTest('two thousand changes leave nothing behind', async (page) => {
  const data = await dataOf(page);
  const devtools = await page.context().newCDPSession(page);
  const change = (from, to) => page.evaluate(({ detail, begin, end }) => {
    const [hosts, table] = detail.tables;
    const all = table.rows;
    for (let i = begin; i < end; ++i) {
      hosts.search = i % 2 === 0; // another shape: the table is replaced
      table.rows = [[{ text: `${i}`, path: `runs/${i}` }, `name ${i}`, i, i, `outcome ${i}`], ...all.slice(0, 50)];
      window.dispatchEvent(new CustomEvent('ebb-document', { detail }));
    }
  }, { detail: data, begin: from, end: to });
  const held = async () => {
    await settled(page);
    await devtools.send('HeapProfiler.collectGarbage');
    const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters');
    return { nodes, listeners: jsEventListeners };
  };
  await change(1000, 1100);
  const first = await held();
  await change(1100, 3100);
  const last = await held();
  assert.ok(last.nodes <= first.nodes + 200, `${first.nodes} nodes, then ${last.nodes}`);
  assert.ok(last.listeners <= first.listeners + 50, `${first.listeners} listeners, then ${last.listeners}`);
});
