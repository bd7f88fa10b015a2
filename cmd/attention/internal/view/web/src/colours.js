// Colours of numbers. Both scales are perceptually ordered and have a legend with numbers.
import { interpolateRdBu, interpolateViridis } from 'd3-scale-chromatic';

function table(interpolate) {
  return Array.from({ length: 256 }, (_, i) => {
    const text = interpolate(i / 255);
    if (text.startsWith('#')) return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
    return text.match(/\d+/g).slice(0, 3).map(Number);
  });
}

export const viridis = table(interpolateViridis);
export const signed = table((x) => interpolateRdBu(1 - x));

/** dark reports whether the page is dark. */
export function dark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

/** hidden is the colour of what a mask hides: grey, which is in neither scale. */
export function hidden() { return dark() ? [70, 74, 82] : [206, 209, 214]; }

/** word is a colour as four bytes of memory: red, green, blue and opaque. */
function word([r, g, b]) { return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0]; }

/** Scale maps numbers to colours: from 0 to most, or from -most to most. */
export class Scale {
  constructor(most, isSigned = false) {
    this.most = most > 0 ? most : 1;
    this.signed = isSigned;
    this.table = isSigned ? signed : viridis;
  }

  index(v) {
    const x = this.signed ? (v / this.most + 1) / 2 : v / this.most;
    return Math.max(0, Math.min(255, Math.round(x * 255)));
  }

  colour(v) { return this.table[this.index(v)]; }

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

  css(v) { return `rgb(${this.colour(v).join(' ')})`; }

  /** ink is black or white, whichever is read better on the colour of v. */
  ink(v) {
    const [r, g, b] = this.colour(v).map((c) => (c / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff';
  }
}
