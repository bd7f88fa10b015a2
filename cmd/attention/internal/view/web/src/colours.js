// Colours of numbers: those of the program's pictures, which the server sends. Both scales have a legend with numbers.

/** @typedef {{ weights: string, signed: string }} Palette */
/** @typedef {{ weights: number[][], signed: number[][] }} Tables */

/** @type {{ light: Tables, dark: Tables }} */
const tables = { light: { weights: [], signed: [] }, dark: { weights: [], signed: [] } };

/**
 * setPalettes sets the colours of pictures on light and on dark paper: hexadecimal bytes, 256 colours of each kind.
 * @param {{ light: Palette, dark: Palette }} view
 */
export function setPalettes(view) {
  const table = (text) =>
    text.match(/.{6}/g).map((c) => [0, 2, 4].map((at) => Number.parseInt(c.slice(at, at + 2), 16)));
  for (const paper of ['light', 'dark']) {
    for (const kind of ['weights', 'signed']) tables[paper][kind] = table(view[paper][kind]);
  }
}

/** largestOf returns the largest of some numbers, of which hidden ones are NaN; 0 if none is larger. */
export function largestOf(values) {
  let most = 0;
  for (const v of values) if (v > most) most = v;
  return most;
}

/** dark reports whether the page is dark. */
export function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/** hidden is the colour of what a mask hides: a quiet grey, which is in neither scale. */
export function hidden() {
  return dark() ? [38, 43, 50] : [236, 238, 241];
}

/** word is a colour as four bytes of memory: red, green, blue and opaque. */
function word(/** @type {number[]} */ [r, g, b]) {
  return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
}

/** Scale maps numbers to colours: from 0 to most, or from -most to most. */
export class Scale {
  constructor(most, isSigned = false) {
    this.most = most > 0 ? most : 1;
    this.signed = isSigned;
    this.perRow = false;
  }

  /** rows returns a scale of weights that are divided by the largest of their row. */
  static rows(isSigned = false) {
    const scale = new Scale(1, isSigned);
    scale.perRow = true;
    return scale;
  }

  /** part returns the number that a weight of a field's row t is coloured by. */
  part(v, field, t) {
    return this.perRow ? v / (field.largest(t) || 1) : v;
  }

  get table() {
    return tables[dark() ? 'dark' : 'light'][this.signed ? 'signed' : 'weights'];
  }

  index(v) {
    const x = this.signed ? (v / this.most + 1) / 2 : v / this.most;
    return Math.max(0, Math.min(255, Math.round(x * 255)));
  }

  colour(v) {
    return this.table[this.index(v)];
  }

  /** paint writes the colours of values to the pixels of a picture, and that of hidden ones of NaN. */
  paint(values, image) {
    const words = this.table.map(word);
    const mask = word(hidden());
    const pixels = new Uint32Array(image.data.buffer);
    for (let p = 0; p < values.length; p++) {
      const v = values[p];
      pixels[p] = v === v ? words[this.index(v)] : mask;
    }
  }

  css(v) {
    return `rgb(${this.colour(v).join(' ')})`;
  }

  /** ink is black or white, whichever is read better on the colour of v. */
  ink(v) {
    const [r, g, b] = this.colour(v).map((c) => (c / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff';
  }
}
