// The scores of a head, which are the input of the softmax. They are computed from queries and keys as in the server's
// package forward.

/** @typedef {import('./pass.js').Layer} Layer */
/** @typedef {Float32Array | Float64Array} Numbers */
/**
 * Stage changes the numbers of some keys of a query.
 * @typedef {(t: number, from: number, to: number, x: Numbers) => void} Stage
 */
/**
 * Parts are the server's answer about a head; see its heads.go.
 * @typedef {{ q: Float32Array, k: Float32Array, rawQ?: Float32Array, rawK?: Float32Array, vector?: Float32Array,
 *   bias?: Float32Array, logGates?: Float32Array, lse: Float32Array, most: Float32Array, start: Uint32Array,
 *   keys?: Uint32Array }} Parts
 */

/**
 * each applies f to the numbers of some keys of a query.
 * @param {(x: number, t: number, s: number) => number} f
 * @returns {Stage}
 */
const each = (f) => (t, from, to, x) => {
  for (let s = from; s < to; s++) x[s] = f(x[s], t, s);
};

/** stages are the steps from the products of a head to its scores: the name of each result, and the function. */
function stages(/** @type {Scores} */ { layer, bias, gateSums, T, S }) {
  const { scale, softcap, sigmoid_bias: shift } = layer;
  /** @type {[string, Stage][]} */
  const all = [];
  if (!layer.additive) all.push(['scaled', each((x) => x * scale)]);
  if (softcap) all.push(['capped', each((x) => softcap * Math.tanh(x / softcap))]);
  if (bias) all.push(['biased', each((x, t, s) => x + bias[t - s + S - 1])]);
  if (gateSums) {
    const n = gateSums.length; // of which the queries are the last
    all.push(['forgotten', each((x, t, s) => (s < n ? x + gateSums[n - T + t] - gateSums[s] : x))]);
  }
  if (shift) all.push(['shifted', each((x) => x + shift)]);
  return all;
}

/** sumsOf returns the cumulative sums of log-gates, or null if there are none. */
function sumsOf(/** @type {Float32Array | undefined} */ gates) {
  if (!gates) return null;
  let sum = 0;
  return Float64Array.from(gates, (gate) => (sum += gate));
}

/**
 * dot returns the product of D numbers of a from i on and of b from j on.
 * @param {Numbers} a
 * @param {number} i
 * @param {Numbers} b
 * @param {number} j
 * @param {number} D
 */
export function dot(a, i, b, j, D) {
  let sum = 0;
  for (let d = 0; d < D; d++) sum += a[i + d] * b[j + d];
  return sum;
}

/** Scores are those of a head: queries q (T, D) and keys k (S, D). */
export class Scores {
  /**
   * @param {Layer} layer
   * @param {Parts} parts
   */
  constructor(layer, parts) {
    this.layer = layer;
    this.T = layer.t;
    this.S = layer.s;
    this.D = layer.width;
    this.q = parts.q;
    this.k = parts.k;
    /** @type {Float64Array | null} k as numbers that need no conversion */
    this.k64 = null;
    this.vector = parts.vector ?? null; // of additive attention
    this.bias = parts.bias ?? null; // by the distance of query and key
    this.gateSums = sumsOf(parts.logGates); // of the log-gates up to each key but those that are added
    this.stages = stages(this);
  }

  /**
   * scores writes the inputs of the softmax for the keys from ≤ s < to of a query, hidden or not. After each step it
   * calls after(name) with the name of the values: 'product', then those of the stages.
   * @param {number} t
   * @param {number} from
   * @param {number} to
   * @param {Numbers} out
   * @param {(name: string) => void} after
   */
  scores(t, from, to, out, after = () => {}) {
    if (this.layer.additive) this.sums(t, from, to, out);
    else this.products(t, from, to, out);
    after('product');
    for (const [name, apply] of this.stages) {
      apply(t, from, to, out);
      after(name);
    }
  }

  /**
   * products writes q·k, four keys at a time.
   * @type {Stage}
   */
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

  /**
   * sums writes Σ v·tanh(q + k) of additive attention.
   * @type {Stage}
   */
  sums(t, from, to, out) {
    for (let s = from; s < to; s++) {
      out[s] = 0;
      for (let d = 0; d < this.D; d++) out[s] += this.term(t, s, d);
    }
  }

  /**
   * term returns the contribution of a dimension to the product of a pair.
   * @param {number} t
   * @param {number} s
   * @param {number} d
   */
  term(t, s, d) {
    const [a, b] = [this.q[t * this.D + d], this.k[s * this.D + d]];
    return this.vector ? this.vector[d] * Math.tanh(a + b) : a * b;
  }
}
