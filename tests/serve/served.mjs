// SPDX-License-Identifier: Apache-2.0
// Jobs on record and a server that shows them, for tests in a browser. The program comes in $EBB_PROGRAM.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ebb = process.env.EBB_PROGRAM;
// What ends, after this process at the latest, all that it has started by then. It is a direct child: Node closes its end
// of a pipe once the child at the other end has exited, whoever else still reads from it.
const mark = `${process.pid}-${Date.now()}/`;
const script = fileURLToPath(new URL('../support/end_left.sh', import.meta.url));
const ender = spawn('sh', [script, `EBB_TEST_OF=${mark}`, 'there'], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
ender.unref();
ender.stdin.unref();
process.env.EBB_TEST_OF = mark;
const folder = mkdtempSync(join(tmpdir(), 'ebb-serve-'));
const db = join(folder, 'runs.db');
const started = new Set();

/// Runs a command to its end, on record.
export function record(name, ...command) {
  execFileSync(ebb, ['run', '--quiet', '--db', db, '--name', name, '--', ...command]);
}

/// Starts a job that grows, on record; it ends with `end()`.
export function startJob(name) {
  const grow = 'import select, sys\nheld = []\nwhile not select.select([sys.stdin], [], [], 0.1)[0]:\n    '
    + 'held.append(bytearray(1 << 20))\n';
  const job = spawn(ebb, ['run', '--quiet', '--db', db, '--name', name, '--interval', '200ms', '--',
    '/usr/bin/python3', '-c', grow], { stdio: ['pipe', 'ignore', 'inherit'] });
  started.add(job);
  const ended = new Promise((resolve) => { job.on('exit', resolve); });
  return {
    end() {
      job.stdin.end();
      return ended;
    },
  };
}

/// Starts a comparison of small simulations, on record unless told otherwise: when it is over, its folder, and how to
/// stop it.
export function compare(...options) {
  const into = mkdtempSync(join(folder, 'compared-'));
  const place = options.includes('--no-record') ? [] : ['--db', db];
  const job = spawn(ebb, ['compare', '--dataset', 'synthetic', '--synthetic-train', '240', '--synthetic-test', '60',
    '--clients', '12', '--per-round', '3', '--backend', 'native', '--quiet', '--folder', into, ...place, ...options],
  { stdio: ['ignore', 'ignore', 'inherit'] });
  started.add(job);
  const over = new Promise((resolve) => { job.on('exit', resolve); });
  return {
    folder: into,
    over,
    stop() {
      job.kill('SIGINT');
      return over;
    },
  };
}

/// Takes a folder of simulations into the record; the numbers of its runs.
export function importInto(path) {
  return JSON.parse(execFileSync(ebb, ['runs', 'import', path, '--db', db, '--json'])).imported;
}

/// Starts a server and gives the address that it says.
export async function serve(...options) {
  const server = spawn(ebb, ['serve', '--db', db, ...(options.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']), ...options],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  started.add(server);
  for await (const line of createInterface(server.stderr)) {
    const found = /at (http:\S+)/.exec(line);
    if (found) return { server, address: found[1] };
  }
  throw new Error('it said no address');
}

/// Ends everything and leaves nothing behind.
export function cleanUp() {
  started.forEach((process) => process.kill());
  rmSync(folder, { recursive: true, force: true });
}

export const rowsOf = (page) => page.locator('tbody tr').allInnerTexts();
