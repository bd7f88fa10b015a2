// Vectors as strips of colours: a line for each head, a cell for each number.
import { Scale } from './colours.js';
import { h } from './dom.js';

const mostCells = 1024; // most cells of a line: if it has more numbers, each cell shows the one farthest from 0
const tall = 40; // of a strip of several lines, in pixels

/**
 * rangeOf returns the smallest and the largest number, and the largest distance from 0. Hidden ones are NaN.
 * @param {Float32Array} values
 */
export function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return { low, high, most: Math.max(Math.abs(low), Math.abs(high)) };
}

/** thinned shortens a line to mostCells numbers: it keeps the number farthest from 0 in each part. */
function thinned(/** @type {Float32Array} */ line) {
  const each = Math.ceil(line.length / mostCells);
  if (each < 2) return line;
  return Float32Array.from({ length: Math.ceil(line.length / each) }, (_, i) =>
    line.subarray(i * each, (i + 1) * each).reduce((a, b) => (Math.abs(b) > Math.abs(a) || Number.isNaN(a) ? b : a)),
  );
}

/** Strip is a picture of numbers (N), or (lines, N). */
export class Strip {
  /**
   * @param {Float32Array} values
   * @param {number} lines
   * @param {{ most?: number, shares?: boolean, marked?: number }} options most is the number of the strongest colour,
   *   without which that is the largest of each line; shares are from 0 on; marked is the chosen line
   */
  constructor(values, lines = 1, { most, shares = false, marked } = {}) {
    this.values = values;
    this.lines = lines;
    this.most = most;
    this.shares = shares;
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.element = h('span', { class: 'cells' }, this.canvas);
    const height = lines > 1 ? Math.max(3, Math.min(12, tall / lines)) * lines : 16;
    this.element.style.height = `${height}px`;
    if (lines > 1 && marked !== undefined) {
      const mark = h('span', { class: lines > 6 ? 'marked fine' : 'marked' });
      mark.style.top = `${(100 * marked) / lines}%`;
      mark.style.height = `${100 / lines}%`;
      this.element.append(mark);
    }
  }

  paint() {
    const { lines, values } = this;
    const n = values.length / lines;
    const rows = Array.from({ length: lines }, (_, i) => thinned(values.subarray(i * n, (i + 1) * n)));
    const cells = rows[0].length;
    const all = new Float32Array(cells * lines);
    rows.forEach((row, i) => {
      const most = this.most ?? (rangeOf(row).most || 1); // each head has its own scale
      row.forEach((v, at) => {
        all[i * cells + at] = v / most;
      });
    });
    new Scale(1, !this.shares).draw(this.canvas, all, lines, cells);
  }
}
