// One head: weights from queries and keys, as the server's package look says.

/** Head has the numbers of a head: queries q (T, D), keys k (S, D), lse (T), and the keys that each query sees. */
export class Head {
  constructor(layer, parts) {
    this.layer = layer;
    this.T = layer.t;
    this.S = layer.s;
    this.D = layer.width;
    Object.assign(this, { rawQ: null, rawK: null, vector: null, bias: null, keys: new Uint32Array(0) }, parts);
    this.signed = false;
  }

  /** product returns Σ q·k, or Σ v·tanh(q + k) of additive attention. */
  product(t, s) {
    const { q, k, D } = this;
    const i = t * D;
    const j = s * D;
    if (this.layer.additive) {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += this.vector[d] * Math.tanh(q[i + d] + k[j + d]);
      return sum;
    }
    let a = 0, b = 0, c = 0, e = 0, d = 0;
    for (; d + 3 < D; d += 4) {
      a += q[i + d] * k[j + d];
      b += q[i + d + 1] * k[j + d + 1];
      c += q[i + d + 2] * k[j + d + 2];
      e += q[i + d + 3] * k[j + d + 3];
    }
    for (; d < D; d++) a += q[i + d] * k[j + d];
    return a + b + (c + e);
  }

  /** score returns what the softmax sees of a pair, hidden or not. */
  score(t, s) {
    const { scale, softcap } = this.layer;
    let x = this.product(t, s) * scale;
    if (softcap) x = softcap * Math.tanh(x / softcap);
    if (this.bias) x += this.bias[t - s + this.S - 1];
    return x;
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
    return this.shown(t, s) ? Math.exp(this.score(t, s) - this.lse[t]) : NaN;
  }

  /** row writes the weights of the keys s0 ≤ s < s1 of a query to out, NaN for hidden ones. */
  row(t, s0, s1, out) {
    out.fill(NaN, 0, s1 - s0);
    const lse = this.lse[t];
    this.scores ??= new Float64Array(this.S); // of a row
    const { scores } = this;
    for (let i = this.start[t]; i < this.start[t + 1]; i++) {
      const to = Math.min(s1, this.keys[2 * i + 1]);
      const from = Math.max(s0, this.keys[2 * i]);
      this.products(t, from, to, scores);
      this.finish(t, from, to, scores);
      for (let s = from; s < to; s++) out[s - s0] = Math.exp(scores[s] - lse);
    }
  }

  /** products writes the products of the keys from ≤ s < to, four at a time. */
  products(t, from, to, out) {
    const { D } = this;
    let s = from;
    if (!this.layer.additive) {
      this.k64 ??= new Float64Array(this.k); // numbers that need no conversion
      const k = this.k64;
      const q = Float64Array.from(this.q.subarray(t * D, (t + 1) * D));
      for (; s + 3 < to; s += 4) {
        let a = 0, b = 0, c = 0, e = 0;
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
    }
    for (; s < to; s++) out[s] = this.product(t, s);
  }

  /** finish makes scores of products. */
  finish(t, from, to, out) {
    const { scale, softcap } = this.layer;
    for (let s = from; s < to; s++) out[s] *= scale;
    if (softcap) for (let s = from; s < to; s++) out[s] = softcap * Math.tanh(out[s] / softcap);
    if (this.bias) for (let s = from; s < to; s++) out[s] += this.bias[t - s + this.S - 1];
  }

  /** steps are the numbers of each dimension of a pair, whose sum is its product. */
  steps(t, s) {
    const { q, k, D } = this;
    return Array.from({ length: D }, (_, d) => {
      const a = q[t * D + d];
      const b = k[s * D + d];
      return { d, q: a, k: b, product: this.layer.additive ? this.vector[d] * Math.tanh(a + b) : a * b };
    });
  }
}

/** Mean is the mean of the weights of some heads with one mask. */
export class Mean {
  constructor(heads) {
    this.heads = heads;
    this.T = heads[0].T;
    this.S = heads[0].S;
    this.signed = false;
    this.buffer = new Float32Array(this.S);
  }

  shown(t, s) { return this.heads[0].shown(t, s); }

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
