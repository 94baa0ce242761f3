// SPDX-License-Identifier: Apache-2.0
// Numbers as text: the same words as the program prints.

/** @import { Unit } from './types.js' */

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
const oneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @type {(value: number) => number} */
function byteUnit(value) {
  let unit = 0;
  while (unit + 1 < BYTE_UNITS.length && Math.abs(value) / 1024 ** unit >= 1023.95) ++unit;
  return unit;
}

/** @type {(value: number) => string} */
export function bytes(value) {
  const unit = byteUnit(value);
  if (unit === 0) return `${whole.format(value)} B`;
  return `${(value / 1024 ** unit).toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** @type {(value: number) => string} */
export function seconds(value) {
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${Number((value * 1e6).toPrecision(3))} \u00b5s`;
  if (size < 1) return `${Number((value * 1e3).toPrecision(3))} ms`;
  if (size < 120) return `${Number(value.toPrecision(3))} s`;
  const rounded = Math.round(size);
  const [hours, minutes, rest] = [Math.floor(rounded / 3600), Math.floor(rounded / 60) % 60, rounded % 60];
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, '0');
  const text = hours > 0 ? `${whole.format(hours)} h ${two(minutes)} min` : `${minutes} min ${two(rest)} s`;
  return value < 0 ? `\u2212${text}` : text;
}

/** @type {Record<'number', (value: number) => string> & { [unit in Unit]?: (value: number) => string }} */
const FORMATS = {
  bytes,
  seconds,
  number: (value) => decimal.format(value),
  count: (value) => whole.format(value),
  percent: (value) => `${oneDecimal.format(value)} %`,
};

/// A number in its unit; an en dash for what is not there, other things as text.
/** @type {(value: unknown, unit?: Unit) => string} */
export function format(value, unit) {
  if (value == null || Number.isNaN(value)) return '\u2013';
  if (typeof value !== 'number') return String(value);
  return (FORMATS[/** @type {Unit} */ (unit)] ?? FORMATS.number)(value);
}

/// How many digits behind the point tell apart numbers that are `step` from each other.
/** @type {(step: number) => number} */
function decimals(step) {
  let digits = 0;
  while (digits < 6 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) ++digits;
  return digits;
}

/// Labels of an axis: all in one unit, with as many decimals as the step between them needs.
/** @type {(values: number[], unit: Unit) => string[]} */
export function ticks(values, unit) {
  const largest = Math.max(...values.map(Math.abs), 0);
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : largest || 1;
  if (unit === 'bytes') {
    const power = byteUnit(largest);
    const scale = 1024 ** power;
    return values.map((value) => `${(value / scale).toFixed(decimals(step / scale))} ${BYTE_UNITS[power]}`);
  }
  if (unit === 'seconds') return values.map((value) => secondsTick(value, step));
  const suffix = unit === 'percent' ? ' %' : '';
  const digits = decimals(step);
  return values.map((value) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }) + suffix);
}

/** @type {(value: number, step: number) => string} */
function secondsTick(value, step) {
  if (step < 1 || Math.abs(value) < 60) return seconds(value);
  const rounded = Math.round(value);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, '0');
  const clock = `${Math.floor(rounded / 3600)}:${two(Math.floor(rounded / 60) % 60)}`;
  return step < 60 ? `${clock}:${two(rounded % 60)}` : `${clock} h`;
}

/** @type {(base: number, from: number, to: number) => number[]} */
const powers = (base, from, to) => Array.from({ length: to - from + 1 }, (_, i) => base ** (from + i));
const MINUTES = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const DECIMAL = powers(10, -9, 15).flatMap((power) => [power, 2 * power, 5 * power]);

/// The steps an axis may have between its labels.
/** @type {(unit: Unit) => number[]} */
export function increments(unit) {
  if (unit === 'bytes') return powers(2, 0, 60);
  if (unit === 'seconds') return [...DECIMAL.filter((step) => step <= 30), ...MINUTES];
  return unit === 'count' ? DECIMAL.filter((step) => step >= 1) : DECIMAL;
}

/// By which a place may miss its step for what numbers cannot tell.
const ROUNDING = 1e-9;

/// Where an axis from `from` to `to` has labels that are at least `space` of its `pixels` apart; nowhere if no step
/// fits.
/** @type {(from: number, to: number, unit: Unit, pixels: number, space: number) => number[]} */
export function stepsIn(from, to, unit, pixels, space) {
  const step = increments(unit).find((one) => (one * pixels) / (to - from) >= space);
  if (!step) return [];
  const first = Math.ceil(from / step - ROUNDING);
  const count = Math.max(0, Math.floor(to / step + ROUNDING) - first + 1);
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(14)));
}
