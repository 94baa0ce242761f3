// SPDX-License-Identifier: Apache-2.0

/**
 * What draws a picture: a canvas's context, or an SVG file (SvgCanvas).
 * @typedef {Pick<CanvasRenderingContext2D, 'save' | 'restore' | 'translate' | 'rotate' | 'setLineDash' | 'beginPath'
 *   | 'moveTo' | 'lineTo' | 'rect' | 'arc' | 'stroke' | 'fill' | 'fillRect' | 'fillText' | 'fillStyle' | 'strokeStyle'
 *   | 'lineWidth' | 'lineJoin' | 'globalAlpha' | 'font' | 'textAlign' | 'textBaseline'>
 *   & { clip(): void, measureText(text: string): { width: number } }} Pen
 */
/** @typedef {Record<string, string | null>} Attributes */

/** @type {Record<string, string>} */
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/// What XML does not allow at all.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** @type {(text: string) => string} */
export function escaped(text) {
  return String(text).replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
}

/// To the hundredth of a pixel.
/** @type {(number: number) => string} */
const short = (number) => String(Math.round(number * 100) / 100);

/// How far below its place a text's own line is, in shares of its size.
/** @type {Record<string, number>} */
const BASELINES = { alphabetic: 0, bottom: -0.22, middle: 0.35, top: 0.8 };
/** @type {Record<string, string>} */
const ANCHORS = { center: 'middle', right: 'end' };

/// A colour, and how much of it covers what is below: not every program knows #rrggbbaa.
/** @type {(name: string, style: string) => Attributes} */
function paint(name, style) {
  const isThrough = /^#[0-9a-f]{8}$/i.test(style);
  const [colour, alpha] = isThrough ? [style.slice(0, 7), parseInt(style.slice(7), 16) / 255] : [style, 1];
  return { [name]: colour, [`${name}-opacity`]: alpha < 1 ? short(alpha) : null };
}

const START = {
  fillStyle: '#000000',
  strokeStyle: '#000000',
  lineWidth: 1,
  lineJoin: 'miter',
  globalAlpha: 1,
  font: '12px sans-serif',
  textAlign: 'left',
  textBaseline: 'alphabetic',
  dashes: [],
  clipped: null,
  moved: '',
};

/// Takes what plots draw on a canvas, and is an SVG file in the end. `measure(font, text)` returns a width in pixels.
export class SvgCanvas {
  /** @type {string} */ fillStyle;
  /** @type {string} */ strokeStyle;
  /** @type {number} */ lineWidth;
  /** @type {CanvasLineJoin} */ lineJoin;
  /** @type {number} */ globalAlpha;
  /** @type {string} */ font;
  /** @type {CanvasTextAlign} */ textAlign;
  /** @type {CanvasTextBaseline} */ textBaseline;
  /** @type {number[]} */ dashes;
  /** @type {string | null} */ clipped;
  /** @type {string} */ moved;
  /** @type {string} */ path;
  /** @type {string | null} */ last;
  /** @type {string} */ start;

  /** @param {(font: string, text: string) => number} measure */
  constructor(measure) {
    this.measure = measure;
    /** @type {string[]} */
    this.elements = [];
    this.clips = 0;
    /** @type {object[]} */
    this.kept = [];
    Object.assign(this, START);
    this.beginPath();
  }

  save() {
    this.kept.push(Object.fromEntries(/** @type {(keyof typeof START)[]} */ (Object.keys(START))
      .map((name) => [name, this[name]])));
  }

  restore() {
    Object.assign(this, this.kept.pop());
  }

  /** @type {(x: number, y: number) => void} */
  translate(x, y) {
    this.moved += `translate(${short(x)} ${short(y)})`;
  }

  /** @param {number} angle */
  rotate(angle) {
    this.moved += `rotate(${short((angle * 180) / Math.PI)})`;
  }

  /** @param {number[]} dashes */
  setLineDash(dashes) {
    this.dashes = dashes;
  }

  beginPath() {
    this.path = '';
    this.last = null;
    this.start = '';
  }

  /// Like a canvas, paths pass over places that are no numbers.
  /** @type {(x: number, y: number) => void} */
  moveTo(x, y) {
    if (!Number.isFinite(x + y)) return;
    this.last = `${short(x)} ${short(y)}`;
    this.start = `M${this.last}`;
  }

  /** @type {(x: number, y: number) => void} */
  lineTo(x, y) {
    if (!Number.isFinite(x + y)) return;
    const point = `${short(x)} ${short(y)}`;
    if (this.last === null) return this.moveTo(x, y);
    if (point !== this.last) this.extend(`L${point}`);
    this.last = point;
  }

  /** @type {(x: number, y: number, width: number, height: number) => void} */
  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.extend(`h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  /// A whole circle, whatever the angles.
  /** @type {(x: number, y: number, radius: number) => void} */
  arc(x, y, radius) {
    const half = `a${short(radius)} ${short(radius)} 0 1 0 `;
    this.moveTo(x - radius, y);
    this.extend(`${half}${short(2 * radius)} 0${half}${short(-2 * radius)} 0Z`);
  }

  /// A place from which nothing goes is left out.
  /** @param {string} piece */
  extend(piece) {
    this.path += this.start + piece;
    this.start = '';
  }

  clip() {
    const id = `clip-${++this.clips}`;
    this.elements.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.clipped = `url(#${id})`;
  }

  stroke() {
    if (this.path === '') return;
    this.add('path', {
      d: this.path,
      fill: 'none',
      ...paint('stroke', this.strokeStyle),
      'stroke-width': short(this.lineWidth),
      'stroke-linejoin': this.lineJoin === 'miter' ? null : this.lineJoin,
      'stroke-dasharray': this.dashes.length > 0 ? this.dashes.map(short).join(' ') : null,
    });
  }

  fill() {
    if (this.path === '') return;
    this.add('path', { d: this.path, ...paint('fill', this.fillStyle) });
  }

  /** @type {(x: number, y: number, width: number, height: number) => void} */
  fillRect(x, y, width, height) {
    this.add('rect', {
      x: short(x), y: short(y), width: short(width), height: short(height), ...paint('fill', this.fillStyle),
    });
  }

  /** @param {string} text */
  measureText(text) {
    return { width: this.measure(this.font, text) };
  }

  /** @type {(text: string, x: number, y: number) => void} */
  fillText(text, x, y) {
    const [, weight, size, family] = /** @type {string[]} */ (/^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font));
    this.add('text', {
      x: short(x),
      y: short(y + BASELINES[this.textBaseline] * Number(size)),
      'font-family': family,
      'font-size': size,
      'font-weight': weight,
      'text-anchor': ANCHORS[this.textAlign],
      ...paint('fill', this.fillStyle),
    }, escaped(text));
  }

  /** @type {(tag: string, attributes: Attributes, content?: string) => void} */
  add(tag, attributes, content) {
    const all = {
      ...attributes,
      opacity: this.globalAlpha < 1 ? short(this.globalAlpha) : null,
      transform: this.moved || null,
      'clip-path': this.clipped,
    };
    const text = Object.entries(all).filter(([, value]) => value != null)
      .map(([name, value]) => ` ${name}="${escaped(/** @type {string} */ (value))}"`).join('');
    this.elements.push(content == null ? `<${tag}${text}/>` : `<${tag}${text}>${content}</${tag}>`);
  }

  /// The file; `title` is its name for those who do not see it.
  /** @type {(width: number, height: number, title: string) => string} */
  fileOf(width, height, title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${
      short(width)} ${short(height)}" role="img">\n${
      [`<title>${escaped(title)}</title>`, ...this.elements].join('\n')}\n</svg>\n`;
  }
}
