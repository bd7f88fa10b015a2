// The steps of one head, from queries, keys and values to context vectors, as the chapter's sections have them.
import { shown as textOf } from './dom.js';

/** @typedef {import('./formula.js').Formula} Formula */
/** @typedef {import('./formula.js').Step} Step */
/** @typedef {import('./head.js').Head} Head */
/** @typedef {import('./pass.js').Token} Token */

const most = 16; // number of tokens of a sequence that are shown at once

/** @type {(name: string) => Formula} */
const step = (name) => ({ op: 'step', step: name });
/** @type {(op: string, ...of: Formula[]) => Formula} */
const call = (op, ...of) => ({ op, of });
/** @type {(value: number) => Formula} */
const by = (value) => ({ op: 'number', number: value });

/**
 * around returns the part [from, to) of n tokens that holds one of them.
 * @param {number} at
 * @param {number} n
 * @returns {[number, number]}
 */
export function around(at, n) {
  const from = Math.floor(at / most) * most;
  return [from, Math.min(n, from + most)];
}

/**
 * numbersOf returns two things for the queries t0 ≤ t < t1: the intermediate numbers of the scores, by the names of
 * Head.scores, and the weights, with 0 for hidden keys.
 * @param {Head} head
 * @param {number} t0
 * @param {number} t1
 */
function numbersOf(head, t0, t1) {
  const { S } = head;
  /** @type {Record<string, Float64Array>} */
  const all = { weights: new Float64Array((t1 - t0) * S) };
  const row = new Float64Array(S);
  for (let t = t0; t < t1; t++) {
    head.scores(t, 0, S, row, (name) => {
      all[name] ??= new Float64Array((t1 - t0) * S);
      all[name].set(row, (t - t0) * S);
    });
    head.row(t, 0, S, row);
    row.forEach((w, s) => {
      all.weights[(t - t0) * S + s] = w || 0;
    });
  }
  return all;
}

/**
 * scaling returns the formula of scaled scores and its operands, or null if scores are not scaled.
 * @param {Head} head
 * @returns {[string, string, Formula] | null}
 */
function scaling({ layer, D }) {
  if (Math.abs(layer.scale - 1 / Math.sqrt(D)) < 1e-12) {
    return [
      `scores / √${D}`,
      'Scores over the root of a key’s width.',
      call('over', step('scores'), { op: 'root', number: D }),
    ];
  }
  if (layer.scale === 1) return null;
  return [`scores·${layer.scale}`, 'Scores times the layer’s scale.', call('dot', step('scores'), by(layer.scale))];
}

/**
 * headSteps returns the steps of a head for the queries around query q; those of keys are seen around key k. Scores and
 * weights are those of the op.
 * @param {Head} head
 * @param {{ v: Float32Array, sink?: number }} values
 * @param {Token[]} queries
 * @param {Token[]} keys
 * @param {number} q
 * @param {number} k
 */
export function headSteps(head, values, queries, keys, q, k) {
  const { S, D, layer } = head;
  const [t0, t1] = around(q, head.T);
  const T = t1 - t0;
  const rows = queries.slice(t0, t1).map((t) => textOf(t));
  const columns = Array.from({ length: S }, (_, i) => (keys[i] ? textOf(keys[i]) : `extra ${i - keys.length}`));
  const part = around(k, S);
  const numbers = numbersOf(head, t0, t1);
  /** @type {Step[]} */
  const steps = [];
  /**
   * @type {(name: string, text: string, shape: number[], values: Float32Array | Float64Array | number[],
   *   names: Partial<Step>, window?: import('./formula.js').Window) => void}
   */
  const leaf = (name, text, shape, values, names, window) => {
    steps.push({ name, text, shape, values, ...names, window });
  };
  const pairs = (/** @type {(t: number, s: number) => number} */ make) =>
    Float64Array.from({ length: T * S }, (_, i) => make(t0 + Math.floor(i / S), i % S));
  let last = '';
  const window = { columns: part };
  /** @type {(name: string, formula: string, text: string, exact: Formula, values?: Float64Array) => void} */
  const add = (name, formula, text, exact, values) => {
    steps.push({ name, formula, text, exact, shape: [T, S], values, rows, columns, window });
    last = name;
  };
  leaf('q', 'The queries, as the scores see them.', [T, D], head.q.subarray(t0 * D, t1 * D), { rows });
  leaf('k', 'The keys, as the scores see them.', [S, D], head.k.subarray(0, S * D), { rows: columns }, { rows: part });
  leaf('v', 'The values.', [S, values.v.length / S], values.v, { rows: columns }, { rows: part });
  if (head.vector) {
    leaf('u', 'The vector of the scores.', [1, D], head.vector, {});
    add(
      'scores',
      'u·tanh(q + k)',
      'The scores of queries and keys.',
      call('additive', step('q'), step('k'), step('u')),
      numbers.product,
    );
  } else {
    add(
      'scores',
      'q·kᵀ',
      'The scores: dot products of queries and keys.',
      call('dot', step('q'), call('transpose', step('k'))),
      numbers.product,
    );
    const scaled = scaling(head);
    if (scaled) add('scaled', ...scaled, numbers.scaled);
  }
  if (layer.softcap) {
    const c = layer.softcap;
    add(
      'capped',
      `${c}·tanh(${last} / ${c})`,
      `Nothing is larger than ${c}.`,
      call('dot', by(c), call('tanh', call('over', step(last), by(c)))),
      numbers.capped,
    );
  }
  const { bias, gateSums: sums } = head;
  if (bias) {
    leaf(
      'bias',
      'What is added for the distance of query and key.',
      [T, S],
      pairs((t, s) => bias[t - s + S - 1]),
      { rows, columns },
      window,
    );
    add('biased', `${last} + bias`, 'With the bias.', call('plus', step(last), step('bias')), numbers.biased);
  }
  if (sums) {
    const first = sums.length - head.T;
    leaf(
      'forget',
      'What the tokens after the key, up to the query, leave: the sum of their log-gates.',
      [T, S],
      pairs((t, s) => (s < sums.length ? sums[first + t] - sums[s] : 0)),
      { rows, columns },
      window,
    );
    const plus = call('plus', step(last), step('forget'));
    add('forgotten', `${last} + forget`, 'Less what is forgotten.', plus, numbers.forgotten);
  }
  if (layer.sigmoid_bias) {
    const b = layer.sigmoid_bias;
    add('shifted', `${last} + ${b}`, 'With the bias of the sigmoid.', call('plus', step(last), by(b)), numbers.shifted);
  }
  const shown = pairs((t, s) => Number(head.shown(t, s)));
  if (shown.includes(0)) {
    leaf('mask', 'Which keys a query sees: 1, or 0 for hidden ones.', [T, S], shown, { rows, columns }, window);
    add(
      'masked',
      `fill(${last}, mask)`,
      'Minus infinity where a key is hidden.',
      call('fill', step(last), step('mask')),
    );
  }
  const operands = [step(last)];
  if (values.sink !== undefined) {
    leaf('sink', 'The sink: a score without a key.', [], [values.sink], {});
    operands.push(step('sink'));
  }
  const kind = layer.sigmoid ? 'sigmoid' : 'softmax';
  add(
    'weights',
    `${kind}(${operands.map((o) => o.step).join(', ')})`,
    layer.sigmoid ? 'The weights: each of its own score.' : 'The weights: shares of 1 in each row.',
    call(kind, ...operands),
    numbers.weights,
  );
  steps.push({
    name: 'context',
    formula: 'weights·v',
    exact: call('dot', step('weights'), step('v')),
    rows,
    text: 'The context vectors: the values of all keys, each times its weight, added up.',
  });
  return steps;
}
