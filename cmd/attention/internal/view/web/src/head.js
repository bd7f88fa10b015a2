// The weights of one head, computed from its scores.
import { dot, Scores } from './score.js';

/** Head has the numbers of a head: its scores, their log-sum-exp lse (T), and the keys that each query sees. */
export class Head extends Scores {
  /**
   * @param {import('./pass.js').Layer} layer
   * @param {import('./score.js').Parts} parts
   */
  constructor(layer, parts) {
    super(layer, parts);
    this.rawQ = parts.rawQ ?? null; // (T, D), before queries were normalised or turned
    this.rawK = parts.rawK ?? null;
    this.lse = parts.lse;
    this.most = parts.most; // the largest weights of queries
    this.start = parts.start; // (T + 1), the beginning of each query's ranges of keys
    this.keys = parts.keys ?? new Uint32Array(0); // the first key and the end of each range
    /** @type {import('./tiles.js').Field['overview']} */
    this.overview = null;
    this.scratch = new Float64Array(this.S); // scores of a query
  }

  /**
   * path returns the numbers from which the score of a pair is computed, by the names of scores.
   * @param {number} t
   * @param {number} s
   */
  path(t, s) {
    /** @type {Record<string, number>} */
    const path = {};
    this.scores(t, s, s + 1, this.scratch, (name) => {
      path[name] = path.score = this.scratch[s];
    });
    return path;
  }

  /**
   * share returns the weight of a score of a query.
   * @param {number} score
   * @param {number} t
   */
  share(score, t) {
    return this.layer.sigmoid ? 1 / (1 + Math.exp(-score)) : Math.exp(score - this.lse[t]);
  }

  /**
   * score returns the input of the softmax for a pair, hidden or not.
   * @param {number} t
   * @param {number} s
   */
  score(t, s) {
    this.scores(t, s, s + 1, this.scratch);
    return this.scratch[s];
  }

  /**
   * rawProduct returns the product of a pair before queries and keys were normalised or turned, if they were.
   * @param {number} t
   * @param {number} s
   */
  rawProduct(t, s) {
    const { rawQ, rawK, D } = this;
    return rawQ && rawK ? dot(rawQ, t * D, rawK, s * D, D) : undefined;
  }

  /**
   * shown reports whether a query sees a key.
   * @param {number} t
   * @param {number} s
   */
  shown(t, s) {
    for (let i = this.start[t]; i < this.start[t + 1]; i++) {
      if (s >= this.keys[2 * i] && s < this.keys[2 * i + 1]) return true;
    }
    return false;
  }

  /**
   * weight returns the weight of a pair, NaN if the mask hides it.
   * @param {number} t
   * @param {number} s
   */
  weight(t, s) {
    return this.shown(t, s) ? this.share(this.score(t, s), t) : NaN;
  }

  /** largest returns the largest weight of a query. */
  largest(/** @type {number} */ t) {
    return this.most[t];
  }

  /**
   * row writes the weights of the keys s0 ≤ s < s1 of a query to out, NaN for hidden ones.
   * @param {number} t
   * @param {number} s0
   * @param {number} s1
   * @param {Float32Array | Float64Array} out
   */
  row(t, s0, s1, out) {
    out.fill(NaN, 0, s1 - s0);
    const { scratch } = this;
    for (let i = this.start[t]; i < this.start[t + 1]; i++) {
      const to = Math.min(s1, this.keys[2 * i + 1]);
      const from = Math.max(s0, this.keys[2 * i]);
      this.scores(t, from, to, scratch);
      for (let s = from; s < to; s++) out[s - s0] = this.share(scratch[s], t);
    }
  }

  /**
   * steps returns the products of each dimension of a pair. Their sum is the product of the pair.
   * @param {number} t
   * @param {number} s
   */
  steps(t, s) {
    const { q, k, D } = this;
    return Array.from({ length: D }, (_, d) => ({ d, q: q[t * D + d], k: k[s * D + d], product: this.term(t, s, d) }));
  }
}
