// The mean of heads.
import { largestOf } from './colours.js';

/** Mean is the mean of the weights of some heads with one mask. */
export class Mean {
  constructor(/** @type {import('./head.js').Head[]} */ heads) {
    this.heads = heads;
    this.T = heads[0].T;
    this.S = heads[0].S;
    this.buffer = new Float32Array(this.S);
    this.whole = new Float32Array(this.S);
    /** @type {Map<number, number>} the largest weights of queries */
    this.most = new Map();
  }

  /** largest returns the largest weight of a query. */
  largest(/** @type {number} */ t) {
    const known = this.most.get(t);
    if (known !== undefined) return known;
    this.row(t, 0, this.S, this.whole);
    const most = largestOf(this.whole.map(Math.abs));
    this.most.set(t, most);
    return most;
  }

  /**
   * weight returns the weight of a pair, NaN if the mask hides it.
   * @param {number} t
   * @param {number} s
   */
  weight(t, s) {
    if (!this.heads[0].shown(t, s)) return NaN;
    return this.heads.reduce((sum, h) => sum + h.weight(t, s), 0) / this.heads.length;
  }

  /**
   * row writes the weights of the keys s0 ≤ s < s1 of a query to out, NaN for hidden ones.
   * @param {number} t
   * @param {number} s0
   * @param {number} s1
   * @param {Float32Array} out
   */
  row(t, s0, s1, out) {
    this.heads[0].row(t, s0, s1, out);
    for (const h of this.heads.slice(1)) {
      h.row(t, s0, s1, this.buffer);
      for (let i = 0; i < s1 - s0; i++) out[i] += this.buffer[i];
    }
    for (let i = 0; i < s1 - s0; i++) out[i] /= this.heads.length;
  }
}
