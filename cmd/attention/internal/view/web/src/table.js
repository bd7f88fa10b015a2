// Numbers in memory as a field of a heat map.
import { largestOf } from './colours.js';

/** Table is a matrix of numbers as a field. */
export class Table {
  /**
   * @param {Float32Array} values
   * @param {number} T
   * @param {number} S
   * @param {(t: number, s: number) => boolean} shown
   */
  constructor(values, T, S, shown) {
    this.values = values;
    this.T = T;
    this.S = S;
    this.shown = shown;
  }

  /**
   * weight returns a number, or NaN for one that is not shown.
   * @param {number} t
   * @param {number} s
   */
  weight(t, s) {
    return this.shown(t, s) ? this.values[t * this.S + s] : NaN;
  }

  /**
   * row writes the numbers of the columns s0 ≤ s < s1 of a row to out.
   * @param {number} t
   * @param {number} s0
   * @param {number} s1
   * @param {Float32Array} out
   */
  row(t, s0, s1, out) {
    for (let s = s0; s < s1; s++) out[s - s0] = this.weight(t, s);
  }

  /** largest returns the largest number of a row. */
  largest(/** @type {number} */ t) {
    return largestOf(this.values.subarray(t * this.S, (t + 1) * this.S));
  }

  /** entropy is the mean entropy of the rows, in nats. */
  entropy() {
    let sum = 0;
    for (const w of this.values) if (w > 0) sum -= w * Math.log(w);
    return sum / this.T;
  }
}
