// One head: weights from queries and keys, as the server's package look says.

import { largestOf } from './colours.js';

/** each applies f to the numbers of some keys of a query. */
const each = (f) => (t, from, to, x) => {
  for (let s = from; s < to; s++) x[s] = f(x[s], t, s);
};

/** stages are the steps from the products of a head to its scores: the name of what comes out, and how. */
function stages(/** @type {Head} */ { layer, bias, gateSums, T, S }) {
  const { scale, softcap } = layer;
  const all = [];
  if (!layer.additive) all.push(['scaled', each((x) => x * scale)]);
  if (softcap) all.push(['capped', each((x) => softcap * Math.tanh(x / softcap))]);
  if (bias) all.push(['biased', each((x, t, s) => x + bias[t - s + S - 1])]);
  if (gateSums) {
    const n = gateSums.length; // of which the queries are the last
    all.push(['forgotten', each((x, t, s) => (s < n ? x + gateSums[n - T + t] - gateSums[s] : x))]);
  }
  if (layer.sigmoid_bias) all.push(['shifted', each((x) => x + layer.sigmoid_bias)]);
  return all;
}

/** sumsOf returns the sums of log-gates up to each, null of none. */
function sumsOf(gates) {
  if (!gates) return null;
  let sum = 0;
  return Float64Array.from(gates, (gate) => (sum += gate));
}

/** dot returns the product of D numbers of a from i on and of b from j on. */
function dot(a, i, b, j, D) {
  let sum = 0;
  for (let d = 0; d < D; d++) sum += a[i + d] * b[j + d];
  return sum;
}

/** Head has the numbers of a head: queries q (T, D), keys k (S, D), lse (T), and the keys that each query sees. */
export class Head {
  constructor(layer, parts) {
    this.layer = layer;
    this.T = layer.t;
    this.S = layer.s;
    this.D = layer.width;
    /** @type {Float32Array} (T, D) */
    this.q = parts.q;
    /** @type {Float32Array} (S, D) */
    this.k = parts.k;
    /** @type {Float64Array | null} k as numbers that need no conversion */
    this.k64 = null;
    /** @type {Float32Array | null} (T, D), before queries were normalised or turned */
    this.rawQ = parts.rawQ ?? null;
    /** @type {Float32Array | null} */
    this.rawK = parts.rawK ?? null;
    /** @type {Float32Array | null} of additive attention */
    this.vector = parts.vector ?? null;
    /** @type {Float32Array | null} by the distance of query and key */
    this.bias = parts.bias ?? null;
    /** @type {Float64Array | null} of log-gates up to each key but those that are added; of forgetting attention */
    this.gateSums = sumsOf(parts.logGates);
    /** @type {Float32Array} (T) */
    this.lse = parts.lse;
    /** @type {Float32Array} (T), the largest weights */
    this.most = parts.most;
    /** @type {Uint32Array} (T + 1), where the ranges of keys of each query begin */
    this.start = parts.start;
    /** @type {Uint32Array} the first key and the end of each range */
    this.keys = parts.keys ?? new Uint32Array(0);
    /** @type {{ level: number, rows: number, cols: number, weights: Float32Array } | null} */
    this.overview = null;
    this.signed = false;
    this.stages = stages(this);
    this.scratch = new Float64Array(this.S); // scores of a query
  }

  /**
   * scores writes what the softmax sees of the keys from ≤ s < to of a query, hidden or not. On the way it calls
   * after(name) with each name of what is written: 'product', then those of the stages.
   */
  scores(t, from, to, out, after = (/** @type {string} */ _name) => {}) {
    if (this.layer.additive) this.sums(t, from, to, out);
    else this.products(t, from, to, out);
    after('product');
    for (const [name, apply] of this.stages) {
      apply(t, from, to, out);
      after(name);
    }
  }

  /** products writes q·k, four keys at a time. */
  products(t, from, to, out) {
    const { D } = this;
    this.k64 ??= new Float64Array(this.k); // numbers that need no conversion
    const k = this.k64;
    const q = Float64Array.from(this.q.subarray(t * D, (t + 1) * D));
    let s = from;
    for (; s + 3 < to; s += 4) {
      let a = 0,
        b = 0,
        c = 0,
        e = 0;
      for (let d = 0, j = s * D; d < D; d++, j++) {
        const x = q[d];
        a += x * k[j];
        b += x * k[j + D];
        c += x * k[j + 2 * D];
        e += x * k[j + 3 * D];
      }
      out[s] = a;
      out[s + 1] = b;
      out[s + 2] = c;
      out[s + 3] = e;
    }
    for (; s < to; s++) out[s] = dot(q, 0, k, s * D, D);
  }

  /** sums writes Σ v·tanh(q + k) of additive attention. */
  sums(t, from, to, out) {
    for (let s = from; s < to; s++) {
      out[s] = 0;
      for (let d = 0; d < this.D; d++) out[s] += this.term(t, s, d);
    }
  }

  /** term is what a dimension adds to the product of a pair. */
  term(t, s, d) {
    const [a, b] = [this.q[t * this.D + d], this.k[s * this.D + d]];
    return this.layer.additive ? this.vector[d] * Math.tanh(a + b) : a * b;
  }

  /** path returns the numbers on the way to the score of a pair, by the names of scores. */
  path(t, s) {
    const path = {};
    this.scores(t, s, s + 1, this.scratch, (name) => {
      path[name] = path.score = this.scratch[s];
    });
    return path;
  }

  /** share returns the weight of a score of a query. */
  share(score, t) {
    return this.layer.sigmoid ? 1 / (1 + Math.exp(-score)) : Math.exp(score - this.lse[t]);
  }

  /** score returns what the softmax sees of a pair, hidden or not. */
  score(t, s) {
    this.scores(t, s, s + 1, this.scratch);
    return this.scratch[s];
  }

  /** rawProduct returns the product of a pair before queries and keys were normalised or turned. */
  rawProduct(t, s) {
    return dot(this.rawQ, t * this.D, this.rawK, s * this.D, this.D);
  }

  /** shown reports whether a query sees a key. */
  shown(t, s) {
    for (let i = this.start[t]; i < this.start[t + 1]; i++) {
      if (s >= this.keys[2 * i] && s < this.keys[2 * i + 1]) return true;
    }
    return false;
  }

  /** weight returns the weight of a pair, NaN if the mask hides it. */
  weight(t, s) {
    return this.shown(t, s) ? this.share(this.score(t, s), t) : NaN;
  }

  /** largest returns the largest weight of a query. */
  largest(t) {
    return this.most[t];
  }

  /** row writes the weights of the keys s0 ≤ s < s1 of a query to out, NaN for hidden ones. */
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

  /** steps are the numbers of each dimension of a pair, whose sum is its product. */
  steps(t, s) {
    const { q, k, D } = this;
    return Array.from({ length: D }, (_, d) => ({ d, q: q[t * D + d], k: k[s * D + d], product: this.term(t, s, d) }));
  }
}

/** Mean is the mean of the weights of some heads with one mask. */
export class Mean {
  constructor(heads) {
    this.heads = heads;
    this.T = heads[0].T;
    this.S = heads[0].S;
    this.signed = heads.some((h) => h.signed);
    this.buffer = new Float32Array(this.S);
    this.whole = new Float32Array(this.S);
    this.most = new Map();
  }

  /** largest returns the largest weight of a query. */
  largest(t) {
    if (!this.most.has(t)) {
      this.row(t, 0, this.S, this.whole);
      this.most.set(t, largestOf(this.whole.map(Math.abs)));
    }
    return this.most.get(t);
  }

  shown(t, s) {
    return this.heads[0].shown(t, s);
  }

  weight(t, s) {
    if (!this.shown(t, s)) return NaN;
    return this.heads.reduce((sum, h) => sum + h.weight(t, s), 0) / this.heads.length;
  }

  row(t, s0, s1, out) {
    this.heads[0].row(t, s0, s1, out);
    for (const h of this.heads.slice(1)) {
      h.row(t, s0, s1, this.buffer);
      for (let i = 0; i < s1 - s0; i++) out[i] += this.buffer[i];
    }
    for (let i = 0; i < s1 - s0; i++) out[i] /= this.heads.length;
  }
}
