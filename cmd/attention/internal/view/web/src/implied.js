// A head of linear attention: the weights that its state implies, and the norm of the state over the tokens.
import { headChoice, modelChoice, textsOf } from './choose.js';
import { Curves, stroke } from './curves.js';
import { fill, h, shown } from './dom.js';

/** Implied has the numbers of a head: weights (T, T), the largest size of each row, and the norms (T) of the state. */
export class Implied {
  constructor(layer, parts) {
    this.layer = layer;
    this.T = this.S = layer.t;
    /** @type {Float32Array} */
    this.weights = parts.weights;
    /** @type {Float32Array} */
    this.most = parts.most;
    /** @type {Float32Array} */
    this.norms = parts.norms;
    this.signed = this.weights.some((w) => w < 0);
  }

  shown(t, s) {
    return s <= t;
  }

  weight(t, s) {
    return this.shown(t, s) ? this.weights[t * this.T + s] : NaN;
  }

  largest(t) {
    return this.most[t];
  }

  row(t, s0, s1, out) {
    for (let s = s0; s < s1; s++) out[s - s0] = this.weight(t, s);
  }
}

/** implied is what the weights of a layer of linear attention are. */
export const implied =
  'Implied weights: this layer has none of its own, each token reads a state. With these weights sums of the values ' +
  'would be what is read. They need not add up to 1, and one below 0 takes a value away.';

/** impliedNote says that the weights of a layer of linear attention are implied; null of other layers. */
export function impliedNote(layer) {
  return layer.linear ? h('p', { class: 'note implied' }, implied) : null;
}

/** noScores fills the place of a pair's numbers, of which linear attention has none. */
export function noScores(element, view, look, layer) {
  fill(
    element,
    h('h2', {}, 'No scores'),
    h('div', { class: 'tools' }, modelChoice(view), headChoice(look)),
    textsOf(look, layer),
    impliedNote(look.layers[layer]),
  );
}

/** impliedSteps are the last weights and norms of a head, as steps. */
export function impliedSteps(head, tokens) {
  const n = Math.min(head.T, 16);
  const from = head.T - n;
  const names = tokens.slice(from).map(shown);
  const at = (i) => (from + Math.floor(i / n)) * head.T + from + (i % n);
  const weights = Array.from({ length: n * n }, (_, i) => head.weights[at(i)]);
  return [
    { name: 'weights', text: 'The implied weights.', shape: [n, n], values: weights, rows: names, columns: names },
    { name: 'norms', text: 'The norm of the state.', shape: [n], values: [...head.norms.slice(from)], columns: names },
  ];
}

/** Norms is the curve of the norm of a head's state over the tokens, or of several heads'. */
export class Norms {
  constructor() {
    this.element = h('div');
    /** @type {Curves | null} */
    this.curves = null;
  }

  /** show shows a head or the mean of heads; nothing of heads without a state. */
  show(head) {
    this.close();
    const series = (head.heads ?? [head])
      .filter((one) => one.norms)
      .map((one, i, all) => ({
        name: all.length > 1 ? `head ${i}` : 'norm',
        points: Array.from(one.norms, (v, t) => [t, v]),
        ...stroke(i),
      }));
    if (series.length) {
      this.curves = new Curves('The norm of the state after each token', { x: 'token', widest: 420 });
      this.curves.show(series);
    }
    fill(this.element, this.curves?.element);
  }

  close() {
    this.curves?.close();
    this.curves = null;
  }
}
