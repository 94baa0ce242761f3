// SPDX-License-Identifier: Apache-2.0
// Plans in `ebb serve`, in a real browser: a form whose values are the page's address, and the answer beside it. The
// program comes in $EBB_PROGRAM.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, settled, withPage } from '../page/browser.mjs';
import { cleanUp, serve } from './served.mjs';

const { address } = await serve();
const folder = mkdtempSync(join(tmpdir(), 'ebb-plan-'));
symlinkSync(process.env.EBB_PROGRAM, join(folder, 'ebb'));
after(async () => {
  cleanUp();
  rmSync(folder, { recursive: true });
  await closeBrowser();
});

const start = 'plan?kind=transformer&preset=gpt2&batch=4&cap=24GiB';
const said = (page) => page.locator('.form-said');
const command = (page) => page.locator('.form-command code');
const field = (page, label) => page.getByLabel(label, { exact: true }).and(page.locator('input:visible, select:visible'));
const tile = (page, label) => page.locator('.tile', { hasText: label }).locator('dd').innerText();
/// What a shell makes of a command.
const printed = (line) => execFileSync('bash', ['-c', line], { env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } }).toString();
const answerOf = async (path) => (await fetch(address + path)).text();

/// Waits until the answer to the form is there: its command says so.
const answered = (page, text) => command(page).getByText(text, { exact: true }).waitFor();

test('the first page leads to an example, and back', () => withPage(address, { site: address }, async (page) => {
  await page.getByRole('link', { name: 'Plan a training step' }).click();
  await page.waitForURL(`${address}plan`);
  assert.equal(await page.locator('h1').innerText(), 'Plan');
  assert.match(await page.locator('.subtitle').innerText(), /^gpt2: 12 layers of width 768/);
  assert.equal(await command(page).innerText(), 'ebb plan transformer gpt2');
  await page.getByRole('link', { name: 'All runs' }).click();
  await page.waitForURL(address);
}));

test('what is typed is answered, and is the address', () => withPage(address + start, { site: address }, async (page) => {
  assert.match(await said(page).innerText(), /^fits: Needs \d.* of the device's 24\.0 GiB$/);
  const before = await tile(page, 'peak');
  const batch = field(page, 'batch');
  assert.equal(await batch.inputValue(), '4');
  await batch.fill('');
  await batch.pressSequentially('64');
  await answered(page, 'ebb plan transformer gpt2 --batch 64 --cap 24GiB --fit');
  assert.notEqual(await tile(page, 'peak'), before);
  assert.match(await said(page).innerText(), /^does not fit: /);
  await page.getByRole('heading', { name: 'What would make it fit' }).waitFor();
  assert.equal(page.url(), `${address}plan?kind=transformer&preset=gpt2&cap=24GiB&batch=64`);
  assert.ok(await batch.evaluate((element) => element === document.activeElement && element.selectionStart === 2),
    'the cursor stays where it was');
  const peak = await tile(page, 'peak');
  await page.reload();
  assert.equal(await tile(page, 'peak'), peak);
  assert.equal(await batch.inputValue(), '64');
}));

test('what is usual is not in the address', () => withPage(address + start, { site: address }, async (page) => {
  await field(page, 'precision').selectOption('bf16');
  await answered(page, 'ebb plan transformer gpt2 --batch 4 --precision bf16 --cap 24GiB --fit');
  await field(page, 'precision').selectOption('amp');
  await field(page, 'batch').fill('1');
  await field(page, 'accumulate').check();
  await answered(page, 'ebb plan transformer gpt2 --accumulate --cap 24GiB --fit');
  assert.equal(page.url(), `${address}plan?kind=transformer&preset=gpt2&cap=24GiB&accumulate=true`);
}));

test('back and forward go through changes, not through letters', () =>
  withPage(address + start, { site: address }, async (page) => {
    const length = await page.evaluate(() => window.history.length);
    const batch = field(page, 'batch');
    await batch.fill('');
    for (const text of ['1', '12', '128']) {
      await batch.fill(text);
      await answered(page, `ebb plan transformer gpt2 ${text === '1' ? '' : `--batch ${text} `}--cap 24GiB --fit`);
    }
    await field(page, 'optimizer').selectOption('sgd');
    await answered(page, 'ebb plan transformer gpt2 --batch 128 --optimizer sgd --cap 24GiB --fit');
    assert.equal(await page.evaluate(() => window.history.length), length + 2);
    await page.goBack();
    await answered(page, 'ebb plan transformer gpt2 --batch 128 --cap 24GiB --fit');
    assert.equal(await field(page, 'optimizer').inputValue(), 'adamw');
    await page.goBack();
    await answered(page, 'ebb plan transformer gpt2 --batch 4 --cap 24GiB --fit');
    assert.equal(await batch.inputValue(), '4');
    await page.goForward();
    await page.goForward();
    await answered(page, 'ebb plan transformer gpt2 --batch 128 --optimizer sgd --cap 24GiB --fit');
  }));

test('what is wrong is one line, and the last answer stays, marked', () =>
  withPage(address + start, { site: address, loud: true }, async (page) => {
    const peak = await tile(page, 'peak');
    await field(page, 'batch').fill('4x');
    await said(page).getByText("--batch '4x': expected a whole number").waitFor();
    assert.match(await said(page).innerText(), /Shown is the last plan that could be made\.$/);
    assert.equal(await said(page).getAttribute('role'), 'status');
    assert.equal(await field(page, 'batch').getAttribute('aria-invalid'), 'true');
    assert.equal(await tile(page, 'peak'), peak);
    assert.ok(await page.locator('.verdict').evaluate((element) => Number(getComputedStyle(element).opacity) < 0.6));
    assert.equal(page.url(), `${address}plan?kind=transformer&preset=gpt2&cap=24GiB&batch=4x`);
    await field(page, 'batch').fill('4');
    await said(page).getByText('fits: ').waitFor();
    assert.equal(await page.locator('.verdict').evaluate((element) => getComputedStyle(element).opacity), '1');
    assert.equal(await page.locator('[aria-invalid]').count(), 0);
    await field(page, 'preset').selectOption('');
    await said(page).getByText('what to plan is missing').waitFor();
    await field(page, 'arch').selectOption('llama');
    await said(page).getByText('--layers is missing').waitFor();
    assert.ok(await field(page, 'layers').isVisible(), 'its group has opened');
    await page.reload();
    assert.equal(await said(page).innerText(), '--layers is missing');
    assert.equal(await page.locator('.verdict, .table, .bars').count(), 0);
    for (const [label, value] of [['layers', '2'], ['d-model', '64'], ['heads', '4'], ['vocab', '100']])
      await field(page, label).fill(value);
    await answered(page, 'ebb plan transformer --arch llama --layers 2 --d-model 64 --heads 4 --vocab 100 --batch 4 --cap 24GiB --fit');
  }));

test('only the newest answer is shown, however late an older one is', () =>
  withPage(address + start, { site: address }, async (page) => {
    let release;
    const held = new Promise((resolve) => { release = resolve; });
    let answeredLate;
    const late = new Promise((resolve) => { answeredLate = resolve; });
    await page.route(/plan\/document\?.*batch=8$/, async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response }).catch(() => {});
      answeredLate();
    });
    await field(page, 'batch').fill('8');
    await page.waitForRequest(/plan\/document\?.*batch=8$/);
    await field(page, 'batch').fill('16');
    await answered(page, 'ebb plan transformer gpt2 --batch 16 --cap 24GiB --fit');
    release();
    await late;
    await settled(page);
    assert.match(await page.locator('.subtitle').innerText(), /batch 16 x/);
  }));

test('a network of the simulator is planned, too', () => withPage(address + start, { site: address }, async (page) => {
  await page.getByRole('radio', { name: 'Network' }).check();
  await answered(page, 'ebb plan model CNN-MNIST');
  await field(page, 'name').selectOption('CNN-MNIST (FedAvg)');
  await field(page, 'size').fill('32');
  await field(page, 'cap').fill('8 GiB');
  await answered(page, "ebb plan model 'CNN-MNIST (FedAvg)' --size 32 --cap '8 GiB' --fit");
  assert.ok(Number(await tile(page, 'largest batch')) > 0);
  await page.goBack();
  await page.goBack();
  await page.goBack();
  await answered(page, 'ebb plan model CNN-MNIST');
  await page.goBack();
  await answered(page, 'ebb plan transformer gpt2 --batch 4 --cap 24GiB --fit');
  assert.ok(await page.getByRole('radio', { name: 'Transformer' }).isChecked());
}));

test('the command prints in a shell what the page is made of', async () => {
  for (const query of ['kind=transformer&preset=gpt2&batch=4&cap=24GiB', 'kind=transformer&preset=llama-3-8b&lora=16&precision=bf16',
    'kind=model&name=CNN-MNIST+(FedAvg)&size=32&cap=8+GiB', 'kind=transformer&preset=gpt2-xl&zero=3&gpus=8&cap=16GiB&batch=8']) {
    await withPage(`${address}plan?${query}`, { site: address }, async (page) => {
      const line = await command(page).innerText();
      assert.equal(printed(`${line} --json`), await answerOf(`plan/json?${query}`), line);
      printed(`${line} --html '${folder}/plan.html'`);
      const html = readFileSync(join(folder, 'plan.html'), 'utf8');
      const made = JSON.parse(/<script type="application\/json" id="document">(.*?)<\/script>/s.exec(html)[1]);
      const { form, up, up_is_here: isHere, ...shown } = JSON.parse(await answerOf(`plan/document?${query}`));
      assert.deepEqual(shown, made);
      assert.equal(form.command, line);
      assert.ok(up && isHere);
    });
  }
});

test('the command is copied', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  await withPage(address + start, { site: address, permissions }, async (page) => {
    await page.locator('.form-command').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'ebb plan transformer gpt2 --batch 4 --cap 24GiB --fit');
  });
});

test('tables and the page are saved as they are now', () => withPage(address + start, { site: address }, async (page) => {
  await field(page, 'batch').fill('8');
  await answered(page, 'ebb plan transformer gpt2 --batch 8 --cap 24GiB --fit');
  const saved = async (within, kind) => {
    const coming = page.waitForEvent('download');
    await page.locator(within).getByRole('button', { name: `Save as ${kind}` }).first().click();
    return readFileSync(await (await coming).path(), 'utf8');
  };
  const document = JSON.parse(await saved('footer', 'JSON'));
  assert.match(document.subtitle, /batch 8 x/);
  const text = await saved('.table', 'CSV');
  assert.equal(text.split('\r\n')[0], document.tables[0].columns.map(({ name, unit }) =>
    (unit === 'bytes' ? `${name} (bytes)` : name)).join(','));
}));

test('a keyboard is enough', () => withPage(`${address}plan`, { site: address }, async (page) => {
  const at = () => page.evaluate(() => document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent);
  const goTo = async (label) => {
    for (let i = 0; i < 60 && await at() !== label; ++i) await page.keyboard.press('Tab');
    assert.equal(await at(), label);
    assert.notEqual(await page.evaluate(() => {
      const focused = document.activeElement;
      return getComputedStyle(focused.type === 'radio' ? focused.parentElement : focused).outlineStyle;
    }), 'none', `${label} shows that it has the focus`);
  };
  await goTo('Transformer');
  await goTo('preset');
  await page.keyboard.type('gpt2-l');
  await answered(page, 'ebb plan transformer gpt2-large');
  await goTo('Shape');
  await page.keyboard.press('Enter');
  await goTo('layers');
  await page.keyboard.type('12');
  await goTo('cap');
  await page.keyboard.type('16GiB');
  await page.keyboard.press('Enter');
  await goTo('batch');
  await page.keyboard.type('2');
  await goTo('accumulate');
  await page.keyboard.press('Space');
  await answered(page, 'ebb plan transformer gpt2-large --layers 12 --batch 2 --accumulate --cap 16GiB --fit');
}));

test('every field has a name and its help', () => withPage(address + start, { site: address }, async (page) => {
  const nameless = await page.locator('.form input:not([type=radio]), .form select').evaluateAll((controls) => controls
    .filter((control) => !control.labels.length || !document.getElementById(control.getAttribute('aria-describedby'))?.textContent)
    .map((control) => control.outerHTML));
  assert.deepEqual(nameless, []);
}));

for (const [name, viewport] of [['a phone', { width: 360, height: 740 }], ['a tablet', { width: 820, height: 1180 }]]) {
  test(`it fits ${name}, and the dark`, () =>
    withPage(address + start, { site: address, viewport, colorScheme: 'dark' }, async (page) => {
      await settled(page);
      const isWithin = async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= viewport.width);
      await isWithin();
      await field(page, 'batch').fill('512');
      await page.getByRole('heading', { name: 'What would make it fit' }).waitFor();
      await isWithin();
      for (const label of ['batch', 'cap', 'lora']) {
        await field(page, label).focus();
        const isSeen = (element) => {
          const { top, bottom } = element.getBoundingClientRect();
          return top >= -1 && bottom <= window.innerHeight + 1;
        };
        assert.ok(await said(page).evaluate(isSeen), `what came of it is seen at ${label}`);
      }
      const light = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
      const [back, text] = await field(page, 'batch').evaluate((element) => {
        const style = getComputedStyle(element);
        return [style.backgroundColor, style.color];
      });
      assert.ok(light(back) < 200 && light(text) > 500, `${back} ${text}`);
    }));
}

test('text that tries to be markup stays text', async () => {
  const query = `kind=transformer&preset=${encodeURIComponent('</script><img src=x onerror=alert(1)>')}`;
  await withPage(`${address}plan?${query}`, { site: address, loud: true }, async (page) => {
    assert.match(await said(page).innerText(), /^preset '<\/script><img src=x onerror=alert\(1\)>'/);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await field(page, 'preset').inputValue(), '</script><img src=x onerror=alert(1)>');
  });
});

test('what no form sends is refused in one line', async () => {
  for (const query of ['kind=transformer&preset=gpt2&measured=/etc/passwd', 'kind=transformer&config=/etc/passwd', 'batch=4',
    'kind=model&name=ResNet18&batch=1&batch=2', 'kind=transformer&preset=gpt2%', 'kind=transformer&preset=gpt2&batch=1000000000000000000',
    'kind=transformer&arch=gpt2&layers=1000000000&d_model=64&heads=4&vocab=100']) {
    for (const path of ['plan/document', 'plan/json']) {
      const answer = await fetch(`${address}${path}?${query}`);
      assert.equal(answer.status, 400, query);
      assert.match(await answer.text(), /^[^\n]{1,200}\n$/);
    }
  }
  const page = await fetch(`${address}plan?${start.slice(5)}`, { headers: { Origin: 'http://evil.example' } });
  assert.equal(page.status, 403);
});

test('a server that goes away is said, and one that comes back answers', async () => {
  const { server, address: passing } = await serve();
  await withPage(passing + start, { site: passing, loud: true }, async (page) => {
    const gone = new Promise((resolve) => { server.on('exit', resolve); });
    server.kill();
    await gone;
    await field(page, 'batch').fill('2');
    await said(page).getByText('The server does not answer; trying again').waitFor();
    await serve('--listen', `127.0.0.1:${new URL(passing).port}`);
    await answered(page, 'ebb plan transformer gpt2 --batch 2 --cap 24GiB --fit');
  });
});

test('under the path of a proxy it asks there, and leads back there', async () => {
  const { address: below } = await serve('--base', '/user/ebb');
  await withPage(`${below}plan`, { site: below }, async (page) => {
    await field(page, 'batch').fill('2');
    await answered(page, 'ebb plan transformer gpt2 --batch 2');
    assert.equal(page.url(), `${below}plan?kind=transformer&preset=gpt2&batch=2`);
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.waitForURL(below);
  });
});
