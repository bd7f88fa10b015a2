// The difference of the weights of two heads.

/** @typedef {import('./head.js').Head | import('./mean.js').Mean} SomeHead */
/** @typedef {import('./tiles.js').Field} Field */

/** Difference is the weights of b minus those of a. */
export class Difference {
  /**
   * @param {SomeHead} a
   * @param {SomeHead} b
   */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.T = a.T;
    this.S = a.S;
    this.buffer = new Float32Array(a.S);
  }

  /**
   * row writes the differences of the keys s0 ≤ s < s1 of a query to out.
   * @param {number} t
   * @param {number} s0
   * @param {number} s1
   * @param {Float32Array} out
   */
  row(t, s0, s1, out) {
    this.b.row(t, s0, s1, out);
    this.a.row(t, s0, s1, this.buffer);
    for (let i = 0; i < s1 - s0; i++) out[i] -= this.buffer[i];
  }
}

export const mostRead = 1 << 20; // number of pairs that are read to find the largest

/** mostOf returns the largest absolute number of a field. */
export function mostOf(/** @type {Field} */ field) {
  const row = new Float32Array(field.S);
  let largest = 0;
  for (let t = 0; t < field.T; t++) {
    field.row(t, 0, field.S, row);
    for (const v of row) if (Math.abs(v) > largest) largest = Math.abs(v);
  }
  return largest;
}
