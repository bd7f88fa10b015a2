// Colours of numbers. They are the colours of the program's pictures, and the server sends them. Both scales have a
// legend with numbers.

/** @typedef {{ weights: string, signed: string }} Palette */
/** @typedef {{ weights: Colour[], signed: Colour[] }} Tables */
/** @typedef {ReturnType<typeof colourOf>} Colour */

/** @type {{ light: Tables, dark: Tables }} */
const tables = { light: { weights: [], signed: [] }, dark: { weights: [], signed: [] } };

/** preference is the browser's colour scheme, for pages without a chosen theme. */
const preference = matchMedia('(prefers-color-scheme: dark)');

/** colourOf returns a colour of red, green and blue, each 0 to 255, in the formats of pages and of pictures. */
function colourOf(/** @type {number[]} */ rgb) {
  const [r, g, b] = rgb.map((c) => (c / 255) ** 2.2);
  return {
    css: `rgb(${rgb})`,
    ink: 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff', // the text colour that is easier to read on it
    word: new Uint32Array(new Uint8Array([...rgb, 255]).buffer)[0], // as four opaque bytes
  };
}

const greys = { light: colourOf([236, 238, 241]), dark: colourOf([38, 43, 50]) };

/**
 * setPalettes sets the colours of pictures on light and on dark paper: hexadecimal bytes, 256 colours of each kind.
 * @param {{ light: Palette, dark: Palette }} view
 */
export function setPalettes(view) {
  const table = (/** @type {string} */ text) =>
    (text.match(/.{6}/g) ?? []).map((c) => colourOf([0, 2, 4].map((at) => Number.parseInt(c.slice(at, at + 2), 16))));
  for (const paper of /** @type {('light' | 'dark')[]} */ (['light', 'dark'])) {
    const { weights, signed } = view[paper];
    tables[paper] = { weights: table(weights), signed: table(signed) };
  }
}

/** largestOf returns the largest of some numbers, ignoring NaN for hidden ones; 0 if none is larger. */
export function largestOf(/** @type {Iterable<number>} */ values) {
  let most = 0;
  for (const v of values) if (v > most) most = v;
  return most;
}

/**
 * shares divides weights by the largest of their row. Hidden weights, which are NaN or below 0, become NaN.
 * @param {Float32Array} weights
 * @param {number} cols
 */
export function shares(weights, cols) {
  const out = new Float32Array(weights.length);
  for (let at = 0; at < out.length; at += cols) {
    const row = weights.subarray(at, at + cols);
    const most = largestOf(row) || 1;
    row.forEach((w, s) => {
      out[at + s] = w < 0 ? NaN : w / most;
    });
  }
  return out;
}

/** dark reports whether the page is dark. */
export function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : preference.matches;
}

/** hidden is the colour of masked cells: a pale grey that occurs in neither scale. */
export function hidden() {
  return greys[dark() ? 'dark' : 'light'];
}

/** Scale maps numbers to colours: from 0 to most, or from -most to most. */
export class Scale {
  /**
   * @param {number} most
   * @param {boolean} isSigned
   */
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

  /**
   * part returns the number that determines the colour of a weight in row t of a field.
   * @param {number} v
   * @param {import('./tiles.js').Field} field
   * @param {number} t
   */
  part(v, field, t) {
    return this.perRow ? v / (field.largest?.(t) || 1) : v;
  }

  get table() {
    return tables[dark() ? 'dark' : 'light'][this.signed ? 'signed' : 'weights'];
  }

  index(/** @type {number} */ v) {
    const x = this.signed ? (v / this.most + 1) / 2 : v / this.most;
    return Math.max(0, Math.min(255, Math.round(x * 255)));
  }

  colour(/** @type {number} */ v) {
    return this.table[this.index(v)];
  }

  /**
   * draw draws values on a canvas, one pixel for each; NaN has the colour of masked cells.
   * @param {HTMLCanvasElement} canvas
   * @param {Float32Array} values
   * @param {number} rows
   * @param {number} cols
   */
  draw(canvas, values, rows, cols) {
    Object.assign(canvas, { width: cols, height: rows });
    const image = new ImageData(cols, rows);
    this.paint(values, image);
    canvas.getContext('2d')?.putImageData(image, 0, 0);
  }

  /**
   * paint writes the colours of values to the pixels of a picture.
   * @param {Float32Array} values
   * @param {ImageData} image
   */
  paint(values, image) {
    const { table } = this;
    const mask = hidden().word;
    const pixels = new Uint32Array(image.data.buffer);
    for (let p = 0; p < values.length; p++) {
      const v = values[p];
      pixels[p] = v === v ? table[this.index(v)].word : mask;
    }
  }
}
