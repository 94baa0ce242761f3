// SPDX-License-Identifier: Apache-2.0
// What pages save, as far as it needs no browser: values separated by commas, names of files, drawings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOf, field, plotCsv, tableCsv } from '../../web/src/csv.js';
import { stepsIn, ticks } from '../../web/src/format.js';
import { Line } from '../../web/src/line.js';
import { fitted, wrapped } from '../../web/src/plot_text.js';
import { fileName } from '../../web/src/save.js';
import { escaped, SvgCanvas } from '../../web/src/svg_canvas.js';

const MiB = 1024 ** 2;

test('fields are quoted where they must be, and lines end as RFC 4180 says', () => {
  assert.equal(csvOf([['a', 'b c'], ['1,5', 'say "hi"'], ['two\nlines', 'and\r\nmore']]),
    'a,b c\r\n"1,5","say ""hi"""\r\n"two\nlines","and\r\nmore"\r\n');
  assert.equal(csvOf([['', null, undefined, NaN, 0]]), ',,,,0\r\n');
});

test('numbers are plain', () => {
  assert.deepEqual([1.5 * MiB, -19.8, 0.000001, 2 ** 53, -0].map(field),
    ['1572864', '-19.8', '0.000001', '9007199254740992', '0']);
});

test('text is no formula to a spreadsheet', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx'];
  assert.deepEqual(formulas.map(field), formulas.map((text) => `'${text}`));
  assert.equal(field('=HYPERLINK("x","y")'), `"'=HYPERLINK(""x"",""y"")"`);
  assert.equal(field('\r=1'), `"'\r=1"`);
  assert.deepEqual(['a=1', ' =1', '\u2212450.0 MiB', "'x"].map(field), ['a=1', ' =1', '\u2212450.0 MiB', "'x"]);
});

test('a table names its units and gives links by their text', () => {
  const columns = [{ name: 'Run', unit: 'text' }, { name: 'Peak', unit: 'bytes' }, { name: 'Time', unit: 'seconds' },
    { name: 'Share', unit: 'percent' }, { name: '=n', unit: 'count' }];
  const rows = [[{ text: '7', path: 'runs/7' }, 3 * MiB, 61.5, 12.5, 4], [{ text: '-x' }, null, 'n/a']];
  assert.equal(tableCsv(columns, rows),
    "Run,Peak (bytes),Time (seconds),Share (percent),'=n\r\n7,3145728,61.5,12.5,4\r\n'-x,,n/a,,\r\n");
});

const plot = { x_label: 'time', x_unit: 'seconds', y_unit: 'bytes' };
const lines = (...all) => all.map((line) => new Line(line));

test('a plot has a row for each place that has a point, and nothing where a line has none', () => {
  const both = lines({ name: 'a', x: [0, 1, 2, 3], y: [5, null, 7, 8] }, { name: 'b', x: [1, 1.5, 9], y: [1, 2, 3] });
  assert.equal(plotCsv(plot, both, [0, 9]),
    'time (seconds),a (bytes),b (bytes)\r\n0,5,\r\n1,,1\r\n1.5,,2\r\n2,7,\r\n3,8,\r\n9,,3\r\n');
  assert.equal(plotCsv(plot, both, [1, 2]), 'time (seconds),a (bytes),b (bytes)\r\n1,,1\r\n1.5,,2\r\n2,7,\r\n');
  assert.equal(plotCsv({}, [], [0, 9]), 'x\r\n');
});

test('several points at one place all stay, and odd lines come to an end', () => {
  const twice = lines({ name: 'a', x: [1, 1, 2], y: [3, 4, 5] }, { name: 'b', x: [1], y: [9] });
  assert.equal(plotCsv({}, twice, [0, 9]), 'x,a,b\r\n1,3,9\r\n1,4,\r\n2,5,\r\n');
  const odd = lines({ name: 'c', x: [3, 2, null, 1], y: [1, 2, 3, 4] }, { name: 'd', x: [NaN], y: [1] });
  assert.equal(plotCsv({}, odd, [0, 9]), 'x,c,d\r\n3,1,\r\n2,2,\r\n1,4,\r\n');
});

test('files are named after the page and its part', () => {
  assert.equal(fileName('Run 7', 'Process 4242 (train.py)', 'CSV'), 'run-7-process-4242-train-py.csv');
  assert.equal(fileName('gpt-small', '', 'JSON'), 'gpt-small.json');
  assert.equal(fileName('', undefined, 'SVG'), 'ebb.svg');
  assert.equal(fileName('\u8bad\u7ec3', '../../etc/passwd', 'PNG'), 'etc-passwd.png');
  assert.equal(fileName('\u00dcber Gr\u00f6\u00dfe', 'd\u00e9j\u00e0 vu', 'CSV'), 'uber-gro-e-deja-vu.csv');
  assert.equal(fileName('Run 7: gpt-small', 'Where the memory of process 4242 (train.py) is', 'CSV'),
    'run-7-gpt-small-where-the-memory-of-process-4242-train.csv');
});

test('names of files are never too long, and both titles are in them', () => {
  for (const [page, part] of [['a'.repeat(500), 'b'.repeat(500)], ['a'.repeat(500), 'b'], ['a', 'b '.repeat(500)],
    ['a'.repeat(500), ''], ['', 'b'.repeat(500)], ['a-'.repeat(30), 'b-'.repeat(30)]]) {
    const name = fileName(page, part, 'JSON');
    assert.ok(name.length <= 60 && name.length > 45, name);
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*\.json$/);
    assert.equal(name.includes('b'), part !== '');
    assert.equal(name.includes('a'), page !== '');
  }
});

/// Each element of a file as [name, attributes], once it is sure that they are closed in order.
function elementsOf(xml) {
  const [open, all] = [[], []];
  const attributes = (text) => Object.fromEntries(
    [...text.matchAll(/ ([a-zA-Z-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const rest = xml.replace(/<(\/?)([a-zA-Z]+)((?: [a-zA-Z-]+="[^"<>]*")*)(\/?)>/g, (_, end, name, given, empty) => {
    if (end) assert.equal(open.pop(), name);
    else all.push([name, attributes(given)]);
    if (!end && !empty) open.push(name);
    return '';
  });
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest, /[<>]|&(?!(amp|lt|gt|quot);)/);
  return all;
}

const canvas = () => new SvgCanvas((font, text) => text.length * 7);

test('what is drawn on a canvas becomes elements, with its dashes and what shines through', () => {
  const drawn = canvas();
  drawn.save();
  drawn.beginPath();
  drawn.rect(0, 0, 100, 50);
  drawn.clip();
  drawn.strokeStyle = '#0072b2';
  drawn.setLineDash([8, 4]);
  drawn.beginPath();
  drawn.lineTo(1, 2);
  drawn.lineTo(1, 2);
  drawn.lineTo(NaN, 3);
  drawn.lineTo(3.14159, 4);
  drawn.stroke();
  drawn.globalAlpha = 0.16;
  drawn.fillStyle = '#d55e008c';
  drawn.fill();
  drawn.restore();
  drawn.fillRect(0, 0, 5, 5);
  const all = elementsOf(drawn.fileOf(100, 50, 'Two'));
  assert.deepEqual(all.map(([name]) => name), ['svg', 'title', 'clipPath', 'path', 'path', 'path', 'rect']);
  assert.deepEqual(all[4][1], {
    d: 'M1 2L3.14 4', fill: 'none', stroke: '#0072b2', 'stroke-width': '1', 'stroke-dasharray': '8 4',
    'clip-path': 'url(#clip-1)',
  });
  assert.deepEqual([all[5][1].fill, all[5][1]['fill-opacity'], all[5][1].opacity], ['#d55e00', '0.55', '0.16']);
  assert.equal(all[6][1]['clip-path'], undefined, 'as before');
});

test('text in a drawing is text', () => {
  const drawn = canvas();
  drawn.font = '600 12px system-ui, sans-serif';
  drawn.textAlign = 'right';
  drawn.fillText('</text><script>"&amp;"\u0000\ud800\uffff', 10, 20);
  const file = drawn.fileOf(100, 50, '<b>&');
  assert.deepEqual(elementsOf(file).map(([name]) => name), ['svg', 'title', 'text']);
  assert.ok(file.includes('&lt;/text&gt;&lt;script&gt;&quot;&amp;amp;&quot;\ufffd\ufffd\ufffd<'));
  assert.ok(file.includes('font-size="12" font-weight="600" text-anchor="end"'));
  assert.equal(escaped('\u{1f600}\t\u2028'), '\u{1f600}\t\u2028');
});

test('labels of an axis are at round places, far enough apart', () => {
  assert.deepEqual(stepsIn(0, 2.2 * 1024 * MiB, 'bytes', 270, 40).map((at) => at / MiB), [0, 512, 1024, 1536, 2048]);
  assert.deepEqual(ticks(stepsIn(90, 400, 'seconds', 500, 90), 'seconds'),
    ['0:02 h', '0:03 h', '0:04 h', '0:05 h', '0:06 h']);
  assert.deepEqual(stepsIn(-0.3, 0.3, 'number', 300, 40), [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  assert.deepEqual(stepsIn(0, 1e300, 'number', 300, 40), []);
});

test('text is made to fit', () => {
  const ctx = { measureText: (text) => ({ width: [...text].length }) };
  assert.equal(fitted(ctx, 'short', 5), 'short');
  assert.equal(fitted(ctx, 'longer', 5), 'long\u2026');
  assert.deepEqual(wrapped(ctx, ' one two  three four five ', 8, 2), ['one two', 'three f\u2026']);
  assert.deepEqual(wrapped(ctx, '', 8, 2), []);
});
