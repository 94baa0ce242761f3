// SPDX-License-Identifier: Apache-2.0
// A real browser over the sample pages. Without one the program ends with 77: skipped.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';

const SKIPPED = 77;
// The first is Chromium without windows: the same pages for half the processor time.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

function find(names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const program = find(NAMES);
if (!program) {
  console.log(`no browser here (${NAMES.join(', ')}), expected after: scripts/setup test`);
  process.exit(SKIPPED);
}
const { chromium } = createRequire(join(process.env.EBB_WEB, 'index.js'))('playwright-core');
const folder = mkdtempSync(join(tmpdir(), 'ebb-pages-'));
if (process.env.EBB_SAMPLE_PAGES) execFileSync(process.env.EBB_SAMPLE_PAGES, [folder]);
// Only against hanging: a busy machine takes its time.
const PATIENCE = 300_000;
const browser = await chromium.launch({ executablePath: program, timeout: PATIENCE });

export async function closeBrowser() {
  await browser.close();
  rmSync(folder, { recursive: true });
}

/// Where a sample page is.
export const pathOf = (name) => join(folder, `${name}.html`);

/// Opens a sample page, or the address of one, in a window of its own, hands it to `use` and closes it. The
/// test fails if the page said anything or asked for anything but itself and what lies below `site`, unless it
/// is `loud`. `before` runs in the page ahead of its script.
export async function withPage(name, { before, loud, site, ...options }, use) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const url = name.startsWith('http:') ? name : pathToFileURL(pathOf(name)).href;
  const isOurs = (asked) => asked === url || asked.startsWith('data:') || (site && asked.startsWith(site));
  const said = [];
  page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(error.stack));
  page.on('request', (request) => {
    if (!isOurs(request.url())) said.push(`asked for ${request.url()}`);
  });
  if (before) await page.addInitScript(before);
  await page.goto(url);
  await settled(page);
  await use(page);
  if (!loud) assert.deepEqual(said, []);
  await context.close();
}

/// After what was asked for has been drawn.
export function settled(page) {
  return page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  }));
}

/// A colour of the page's style sheet, as it is now.
export function colourOf(page, name) {
  return page.evaluate((property) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${property}`).trim(), name);
}

/// How many pixels of a canvas have a colour (#rrggbb), give or take what smoothing does, and an opacity (0 to 255)
/// between two values.
export async function countPixels(page, selector, colour, opacity = [201, 255]) {
  await settled(page);
  return page.locator(selector).first().evaluate((canvas, [hex, [least, most]]) => {
    const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    // From a copy: reading would slow the page's own canvas down, and the browser would say so.
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const isSo = data[i + 3] >= least && data[i + 3] <= most;
      if (isSo && wanted.every((channel, c) => Math.abs(data[i + c] - channel) <= 6)) ++count;
    }
    return count;
  }, [colour, opacity]);
}

/// What a canvas shows, as text that is equal where the pictures are.
export async function picture(page, selector) {
  await settled(page);
  return page.locator(selector).first().evaluate((canvas) => canvas.toDataURL());
}
