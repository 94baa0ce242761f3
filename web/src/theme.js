// SPDX-License-Identifier: Apache-2.0
// Colours live in page.css, once for light and once for dark; canvases read them from there.

/** @typedef {[red: number, green: number, blue: number]} Colour */

const dark = window.matchMedia('(prefers-color-scheme: dark)');

/** @type {(name: string) => string} */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const SERIES = 8;

/// The colour of the n-th line or part; after the last one they begin again.
/** @type {(index: number) => string} */
export function seriesColour(index) {
  return colour(`series-${(index % SERIES) + 1}`);
}

/// The same for an area, through which the grid is seen.
/** @type {(index: number) => string} */
export function seriesFill(index) {
  return `${seriesColour(index)}8c`;
}

const STYLES = [
  { dash: [], border: 'solid' },
  { dash: [8, 4], border: 'dashed' },
  { dash: [2, 3], border: 'dotted' },
];

/// Lines that share a colour differ in their dashes.
/** @param {number} index */
export function seriesStyle(index) {
  return STYLES[Math.floor(index / SERIES) % STYLES.length];
}

/// Until `signal`, where there is one.
/** @type {(action: () => void, signal?: AbortSignal) => void} */
export function onThemeChange(action, signal) {
  dark.addEventListener('change', action, { signal });
}

/// "#rrggbb" as three numbers.
/** @type {(hex: string) => Colour} */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
