// SPDX-License-Identifier: Apache-2.0

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/// What XML does not allow at all.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

export function escaped(text) {
  return String(text).replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
}

/// To the hundredth of a pixel.
const short = (number) => String(Math.round(number * 100) / 100);

/// How far below its place a text's own line is, in shares of its size.
const BASELINES = { alphabetic: 0, bottom: -0.22, middle: 0.35, top: 0.8 };
const ANCHORS = { center: 'middle', right: 'end' };

/// A colour, and how much of it covers what is below: not every program knows #rrggbbaa.
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
  constructor(measure) {
    this.measure = measure;
    this.elements = [];
    this.clips = 0;
    this.kept = [];
    Object.assign(this, START);
    this.beginPath();
  }

  save() {
    this.kept.push(Object.fromEntries(Object.keys(START).map((name) => [name, this[name]])));
  }

  restore() {
    Object.assign(this, this.kept.pop());
  }

  translate(x, y) {
    this.moved += `translate(${short(x)} ${short(y)})`;
  }

  rotate(angle) {
    this.moved += `rotate(${short((angle * 180) / Math.PI)})`;
  }

  setLineDash(dashes) {
    this.dashes = dashes;
  }

  beginPath() {
    this.path = '';
    this.last = null;
    this.start = '';
  }

  /// Like a canvas, paths pass over places that are no numbers.
  moveTo(x, y) {
    if (!Number.isFinite(x + y)) return;
    this.last = `${short(x)} ${short(y)}`;
    this.start = `M${this.last}`;
  }

  lineTo(x, y) {
    if (!Number.isFinite(x + y)) return;
    const point = `${short(x)} ${short(y)}`;
    if (this.last === null) return this.moveTo(x, y);
    if (point !== this.last) this.extend(`L${point}`);
    this.last = point;
  }

  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.extend(`h${short(width)}v${short(height)}h${short(-width)}Z`);
  }

  /// A whole circle, whatever the angles.
  arc(x, y, radius) {
    const half = `a${short(radius)} ${short(radius)} 0 1 0 `;
    this.moveTo(x - radius, y);
    this.extend(`${half}${short(2 * radius)} 0${half}${short(-2 * radius)} 0Z`);
  }

  /// A place from which nothing goes is left out.
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

  fillRect(x, y, width, height) {
    this.add('rect', {
      x: short(x), y: short(y), width: short(width), height: short(height), ...paint('fill', this.fillStyle),
    });
  }

  measureText(text) {
    return { width: this.measure(this.font, text) };
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
    this.add('text', {
      x: short(x),
      y: short(y + BASELINES[this.textBaseline] * size),
      'font-family': family,
      'font-size': size,
      'font-weight': weight,
      'text-anchor': ANCHORS[this.textAlign],
      ...paint('fill', this.fillStyle),
    }, escaped(text));
  }

  add(tag, attributes, content) {
    const all = {
      ...attributes,
      opacity: this.globalAlpha < 1 ? short(this.globalAlpha) : null,
      transform: this.moved || null,
      'clip-path': this.clipped,
    };
    const text = Object.entries(all).filter(([, value]) => value != null)
      .map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
    this.elements.push(content == null ? `<${tag}${text}/>` : `<${tag}${text}>${content}</${tag}>`);
  }

  /// The file; `title` is its name for those who do not see it.
  fileOf(width, height, title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${
      short(width)} ${short(height)}" role="img">\n${
      [`<title>${escaped(title)}</title>`, ...this.elements].join('\n')}\n</svg>\n`;
  }
}
