// A head of linear attention: the weights that its state implies, and the norm of the state over the tokens.
import { headChoice, modelChoice, textsOf } from './choose.js';
import { Curves, stroke } from './curves.js';
import { fill, h, shown } from './dom.js';
import { Table } from './table.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./pass.js').Layer} Layer */
/** @typedef {{ weights: Float32Array, most: Float32Array, norms: Float32Array }} Parts as the server has them */

/** Implied has the weights (T, T) of a head, the largest size in each row, and the norms (T) of the state. */
export class Implied extends Table {
  /**
   * @param {Layer} layer
   * @param {Parts} parts
   */
  constructor(layer, parts) {
    super(parts.weights, layer.t, layer.t, (t, s) => s <= t);
    this.layer = layer;
    this.most = parts.most;
    this.norms = parts.norms;
    this.signed = parts.weights.some((w) => w < 0);
  }

  largest(/** @type {number} */ t) {
    return this.most[t];
  }
}

/** impliedOf are the heads of linear attention in a head, or in the mean of heads. */
function impliedOf(/** @type {object} */ head) {
  const heads = 'heads' in head ? /** @type {object[]} */ (head.heads) : [head];
  return heads.filter((one) => one instanceof Implied);
}

/** isSigned reports whether weights of a head, or of the mean of heads, may be below 0. */
export function isSigned(/** @type {object} */ head) {
  return impliedOf(head).some((one) => one.signed);
}

/** implied explains the weights of a layer of linear attention. */
export const implied =
  'Implied weights: this layer has none of its own, each token reads a state. With these weights sums of the values ' +
  'would be what is read. They need not add up to 1, and one below 0 takes a value away.';

/** impliedNote says that the weights of a layer of linear attention are implied; it is null for other layers. */
export function impliedNote(/** @type {Layer} */ layer) {
  return layer.linear ? h('p', { class: 'note implied' }, implied) : null;
}

/**
 * noScores replaces the numbers of a pair's score, which linear attention does not have.
 * @param {HTMLElement} element
 * @param {import('./api.js').View} view
 * @param {Pass} pass
 * @param {number} layer
 */
export function noScores(element, view, pass, layer) {
  fill(
    element,
    h('h2', {}, 'No scores'),
    h('div', { class: 'tools' }, modelChoice(view), headChoice(pass)),
    textsOf(pass, layer),
    impliedNote(pass.layers[layer]),
  );
}

/**
 * impliedSteps are the last weights and norms of a head, as steps.
 * @param {Implied} head
 * @param {import('./pass.js').Token[]} tokens
 */
export function impliedSteps(head, tokens) {
  const n = Math.min(head.T, 16);
  const from = head.T - n;
  const names = tokens.slice(from).map((t) => shown(t));
  const at = (/** @type {number} */ i) => (from + Math.floor(i / n)) * head.T + from + (i % n);
  const weights = Array.from({ length: n * n }, (_, i) => head.values[at(i)]);
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

  /** show shows a head or the mean of heads; it shows nothing for heads without a state. */
  show(/** @type {object} */ head) {
    this.close();
    const series = impliedOf(head).map((one, i, all) => ({
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
