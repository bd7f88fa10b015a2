// Formulas of steps, as trees: see Formula of package layers/chapter, whose operations these are.
import { matrices, size } from './tensor.js';

/** @typedef {{ op: string, of?: Formula[], step?: string, number?: number }} Formula */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {{ rows?: [number, number], columns?: [number, number] }} Window the visible parts of the axes */
/**
 * Step is a named value: of numbers, of a formula, or of both. whole is the shape of the complete value if the numbers
 * are only a corner of it.
 * @typedef {{ name: string, text: string, formula?: string, exact?: Formula, shape?: number[],
 *   values?: ArrayLike<number> & Iterable<number>, blocks?: string[], rows?: string[], columns?: string[],
 *   window?: Window, whole?: number[], count?: boolean, learnt?: boolean, part?: boolean | string }} Step
 */

/** @type {(shape: number[], make: (i: number) => number) => Tensor} */
const tensor = (shape, make) => ({ shape, data: Float64Array.from({ length: size(shape) }, (_, i) => make(i)) });

/**
 * hides reports whether a causal mask hides element i of a tensor.
 * @param {Tensor} of
 * @param {number} i
 */
function hides(of, i) {
  const { rows, cols } = matrices(of);
  return i % cols > Math.floor(i / cols) % rows;
}

/** @type {Record<string, (f: Formula, ...of: Tensor[]) => Tensor>} */
const operations = {
  root: (f) => tensor([], () => Math.sqrt(f.number ?? 0)),
  number: (f) => tensor([], () => f.number ?? 0),
  row: (f, a) => {
    const n = a.data.length / a.shape[0];
    return { shape: a.shape.slice(1), data: a.data.slice((f.number ?? 0) * n, ((f.number ?? 0) + 1) * n) };
  },
  stack: (f, ...of) => {
    const n = of[0].data.length;
    return tensor([of.length, ...of[0].shape], (i) => of[Math.floor(i / n)].data[i % n]);
  },
  sum: (f, a) => {
    const { cols } = matrices(a);
    return tensor(a.shape.slice(0, -1), (i) => a.data.subarray(i * cols, (i + 1) * cols).reduce((x, y) => x + y, 0));
  },
  dot,
  times: (f, a, b) => elementwise(a, b, (x, y) => x * y),
  plus: (f, a, b) => elementwise(a, b, (x, y) => x + y),
  over: (f, a, b) =>
    b.shape.length && b.shape.length < a.shape.length
      ? tensor(a.shape, (i) => a.data[i] / b.data[Math.floor(i / matrices(a).cols)])
      : elementwise(a, b, (x, y) => x / y),
  transpose: (f, a) => {
    const { rows, cols } = matrices(a);
    return tensor([...a.shape.slice(0, -2), cols, rows], (i) => {
      const at = i % (rows * cols);
      return a.data[i - at + (at % rows) * cols + Math.floor(at / rows)];
    });
  },
  exp: (f, a) => tensor(a.shape, (i) => Math.exp(a.data[i])),
  log: (f, a) => tensor(a.shape, (i) => Math.log(a.data[i])),
  tanh: (f, a) => tensor(a.shape, (i) => Math.tanh(a.data[i])),
  sigmoid: (f, a) => tensor(a.shape, (i) => 1 / (1 + Math.exp(-a.data[i]))),
  tril: (f, a) => tensor(a.shape, (i) => (hides(a, i) ? 0 : a.data[i])),
  fill: (f, a, shown) => tensor(a.shape, (i) => ((shown ? !shown.data[i] : hides(a, i)) ? -Infinity : a.data[i])),
  best: (f, a) => tensor(a.shape, (i) => isBest(a, i)),
  softmax,
  join: (f, ...of) => {
    const width = of.reduce((n, a) => n + a.shape[1], 0);
    return tensor([of[0].shape[0], width], (i) => {
      const [part, col] = joined(of, i % width);
      return of[part].data[Math.floor(i / width) * of[part].shape[1] + col];
    });
  },
  split: (f, a) => {
    const [t, width] = a.shape;
    const heads = f.number ?? 1;
    const d = width / heads;
    return tensor(
      [heads, t, d],
      (i) => a.data[(Math.floor(i / d) % t) * width + Math.floor(i / (t * d)) * d + (i % d)],
    );
  },
  merge: (f, a) => {
    const [h, t, d] = a.shape;
    return tensor(
      [t, h * d],
      (i) => a.data[(Math.floor((i % (h * d)) / d) * t + Math.floor(i / (h * d))) * d + (i % d)],
    );
  },
  additive: (f, q, k, v) => {
    const [t, n] = q.shape;
    const s = k.shape[0];
    return tensor([t, s], (i) => {
      let sum = 0;
      for (let d = 0; d < n; d++) {
        sum += v.data[d] * Math.tanh(q.data[Math.floor(i / s) * n + d] + k.data[(i % s) * n + d]);
      }
      return sum;
    });
  },
};

/**
 * isBest returns 1 if element i is above 0 and is the first maximum of its row.
 * @param {Tensor} of
 * @param {number} i
 */
function isBest({ shape, data }, i) {
  const width = shape[shape.length - 1];
  const from = i - (i % width);
  const row = data.subarray(from, from + width);
  const most = Math.max(...row);
  return most > 0 && row.indexOf(most) === i - from ? 1 : 0;
}

/**
 * joined finds a column in tensors that are side by side: it returns the tensor, and the column within it.
 * @param {Tensor[]} of
 * @param {number} col
 */
export function joined(of, col) {
  let part = 0;
  for (; col >= of[part].shape[1]; part++) col -= of[part].shape[1];
  return [part, col];
}

/**
 * elementwise combines a with b, which is a number, of a's shape, or like a row of a.
 * @param {Tensor} a
 * @param {Tensor} b
 * @param {(x: number, y: number) => number} f
 */
function elementwise(a, b, f) {
  if (!a.shape.length) return tensor(b.shape, (i) => f(a.data[0], b.data[i]));
  return tensor(a.shape, (i) => f(a.data[i], b.data[i % b.data.length]));
}

/**
 * dot is a product of matrices, a tensor of several, or of numbers.
 * @param {Formula} _f
 * @param {...Tensor} of
 */
function dot(_f, ...of) {
  const [a, b] = of;
  if (!a.shape.length || !b.shape.length) return elementwise(a, b, (x, y) => x * y);
  const { rows, cols: inner } = matrices(a);
  const vector = b.shape.length === 1;
  const cols = vector ? 1 : matrices(b).cols;
  const blocks = vector ? 1 : matrices(b).count;
  return tensor([...a.shape.slice(0, -1), ...(vector ? [] : [cols])], (i) => {
    const row = Math.floor(i / cols);
    const block = Math.floor(row / rows) % blocks;
    let sum = 0;
    for (let n = 0; n < inner; n++) sum += a.data[row * inner + n] * b.data[(block * inner + n) * cols + (i % cols)];
    return sum;
  });
}

/**
 * softmax computes the softmax of each row; a sink is a score without a key.
 * @param {Formula} _f
 * @param {...Tensor} of
 */
function softmax(_f, ...of) {
  const [a, sink] = of;
  const { cols } = matrices(a);
  const out = new Float64Array(a.data.length);
  for (let at = 0; at < out.length; at += cols) {
    const row = a.data.subarray(at, at + cols);
    const top = row.reduce((x, y) => Math.max(x, y), sink ? sink.data[0] : -Infinity);
    if (top === -Infinity) continue; // a row that sees no key
    let sum = sink ? Math.exp(sink.data[0] - top) : 0;
    for (let i = 0; i < cols; i++) sum += out[at + i] = Math.exp(row[i] - top);
    for (let i = 0; i < cols; i++) out[at + i] /= sum;
  }
  return { shape: a.shape, data: out };
}

/**
 * names adds the names of the steps in a formula to a set.
 * @param {Formula} f
 * @param {Set<string>} to
 */
export function names(f, to = new Set()) {
  if (f.op === 'step') to.add(f.step ?? '');
  for (const g of f.of ?? []) names(g, to);
  return to;
}

/** Program computes steps, {name, exact} or {name, shape, values}, from other steps; values override exact. */
export class Program {
  constructor(/** @type {Step[]} */ steps) {
    this.steps = new Map(steps.map((s) => [s.name, s]));
    /** @type {Map<string, Tensor>} */
    this.values = new Map();
    this.reset();
  }

  /** reset gives all inputs and weights their own values. */
  reset() {
    this.values.clear();
    for (const s of this.steps.values()) {
      if (s.values) this.values.set(s.name, { shape: s.shape ?? [], data: Float64Array.from(s.values) });
    }
  }

  /** step returns the step of a name. */
  step(/** @type {string} */ name) {
    return /** @type {Step} */ (this.steps.get(name));
  }

  /** value returns the value of a step. */
  value(/** @type {string} */ name) {
    const value = this.values.get(name) ?? this.of(/** @type {Formula} */ (this.step(name).exact));
    this.values.set(name, value);
    return value;
  }

  /**
   * of returns the value of a formula.
   * @param {Formula} f
   * @returns {Tensor}
   */
  of(f) {
    if (f.op === 'step') return this.value(f.step ?? '');
    return operations[f.op](f, ...(f.of ?? []).map((g) => this.of(g)));
  }

  /**
   * set changes the numbers of an input or of weights, and discards all results that depend on them.
   * @param {string} name
   * @param {number[]} numbers
   */
  set(name, numbers) {
    this.values.set(name, { shape: this.step(name).shape ?? [], data: Float64Array.from(numbers) });
    for (const other of this.dependents(name)) this.values.delete(other);
  }

  /** dependents are the steps that depend on a step, directly or indirectly. */
  dependents(/** @type {string} */ name) {
    /** @type {Set<string>} */
    const found = new Set();
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const s of this.steps.values()) {
        if (s.exact && [...names(s.exact)].some((n) => n === name || found.has(n))) found.add(s.name);
      }
    }
    return found;
  }
}
