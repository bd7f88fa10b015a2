// Common parts of panels about a head: the choice of model, layer and head, which belongs to the state.
import { Scale } from './colours.js';
import { button, choice, h, shown } from './dom.js';
import { problem } from './panel.js';
import { isProposed } from './proposed.js';
import * as state from './state.js';

/** @typedef {import('./api.js').View} View */
/** @typedef {import('./pass.js').Layer} Layer */
/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./pass.js').Request} Request */
/** @typedef {import('./pass.js').Token} Token */
/** @typedef {number | 'mean'} HeadName a head, or the mean of the heads of a layer */

/**
 * chosen returns the layer and the head in the state, or the most telling ones as soon as they are known.
 * @param {Pass} pass
 * @returns {[number, HeadName]}
 */
export function chosen(pass) {
  if (pass.telling && isProposed()) return pass.telling;
  const layer = state.int('layer', pass.layers.length);
  if (state.get('head') === 'mean') return [layer, 'mean'];
  return [layer, state.int('head', pass.layers[layer].heads)];
}

/**
 * headOf returns the chosen head, for a picture of all its weights.
 * @param {Pass} pass
 * @param {number} layer
 * @param {HeadName} head
 */
export function headOf(pass, layer, head) {
  return head === 'mean' ? pass.mean(layer) : pass.pictured(layer, head);
}

/**
 * headsOf returns the chosen head without and with the reader's changes.
 * @param {{ before: Pass, after: Pass }} passes
 */
export function headsOf({ before, after }) {
  const [layer, head] = chosen(before);
  return Promise.all([before, after].map((pass) => (head === 'mean' ? pass.mean(layer) : pass.head(layer, head))));
}

/**
 * nameOf names the chosen head.
 * @param {Pass} pass
 * @param {number} layer
 * @param {HeadName} head
 */
export function nameOf(pass, layer, head) {
  const { role } = pass.layers[layer];
  const name = role ? `Layer ${layer} (${kindOf(role)})` : `Layer ${layer}`;
  return head === 'mean' ? `${name}, mean of its heads` : `${name}, head ${head}`;
}

/** kindOf is the kind of attention of a layer of two texts. */
function kindOf(/** @type {string} */ role) {
  return role === 'cross' ? 'cross-attention' : `${role} self-attention`;
}

/**
 * layerName is the short name of a layer.
 * @param {Layer | undefined} layer
 * @param {number} i
 */
export function layerName(layer, i) {
  const name = layer?.role || short(layer?.path ?? '').replace(/^(h|model\.layers)\.\d+$/, '');
  return `${i} ${name}`.trim();
}

/**
 * textsOf describes the texts of a layer's queries and keys if the pass has several texts.
 * @param {Pass} pass
 * @param {number} layer
 */
export function textsOf(pass, layer) {
  if (pass.sequences.length < 2) return null;
  const { queries, keys } = pass.layers[layer];
  const line = (/** @type {string} */ what, /** @type {number} */ of) =>
    h(
      'p',
      { class: 'note text' },
      `${what}: ${pass.sequences[of].name}, `,
      h('q', {}, pass.sequences[of].tokens.map(shown).join('')),
    );
  return h('div', { class: 'texts' }, line('queries', queries), line('keys', keys));
}

/**
 * sharing lists the heads that share the keys and values of a head.
 * @param {Pass} pass
 * @param {number} layer
 * @param {HeadName} head
 */
export function sharing(pass, layer, head) {
  const { heads, key_heads: groups } = pass.layers[layer];
  if (head === 'mean' || groups === heads) return null;
  const group = Math.floor((head * groups) / heads),
    size = heads / groups;
  return h(
    'p',
    { class: 'note' },
    `Heads ${group * size} to ${(group + 1) * size - 1} share the keys and values of key head ${group}.`,
  );
}

/**
 * headChoice are selects of layer and head.
 * @param {Pass} pass
 * @param {boolean} mean whether the mean of the heads may be chosen
 * @param {[number, HeadName]} now
 * @param {string} after what follows the names of layer and head in the state
 */
export function headChoice(pass, mean = false, now = chosen(pass), after = '') {
  const [layer, head] = now;
  /** @type {HeadName[][]} */
  const heads = Array.from({ length: pass.layers[layer].heads }, (_, i) => [i, i]);
  if (mean && heads.length > 1) heads.push(['mean', 'mean']);
  return h(
    'span',
    { class: 'tools' },
    choice(
      'layer',
      pass.layers.map((l, i) => [i, layerName(l, i)]),
      layer,
      (v) => state.set({ [`layer${after}`]: v }),
    ),
    choice('head', heads, head, (v) => state.set({ [`head${after}`]: v })),
  );
}

/**
 * pairChoice are selects of a query and a key.
 * @param {Pass} pass
 * @param {number} layer
 * @param {number} q
 * @param {number} k
 */
export function pairChoice(pass, layer, q, k) {
  const of = (/** @type {string} */ name, /** @type {Token[]} */ tokens, /** @type {number} */ at) => {
    const options = tokens.map((t, i) => [i, `${i} ${shown(t)}`]);
    const key = name[0];
    return h(
      'span',
      { 'data-keep': key },
      choice(name, options, at, (v) => state.set({ [key]: v })),
    );
  };
  return [of('query', pass.queries(layer), q), of('key', pass.keys(layer), k)];
}

/** scaleOf returns the scale of weights that is chosen. */
export function scaleOf(isSigned = false) {
  return state.get('scale') === 'one' ? new Scale(1, isSigned) : Scale.rows(isSigned);
}

/** scaleChoice is a select of the scale of weights. */
export function scaleChoice() {
  const scales = [
    ['', 'each row to its largest weight'],
    ['one', 'to 1'],
  ];
  return choice('scale', scales, state.get('scale'), (v) => state.set({ scale: v }));
}

/** short removes the common beginning of all models' paths. */
export function short(/** @type {string} */ path) {
  return path
    .replace(/^transformer\./, '')
    .replace(/\.(attn|self_attn)$/, '')
    .replace('multihead_attn', 'cross');
}

/**
 * modelChoice is a select of the model, if there are several.
 * @param {View} view
 */
export function modelChoice(view, name = 'model', label = 'model') {
  if (view.models.length < 2) return null;
  const first = name === 'other' ? 1 : 0;
  return choice(
    label,
    view.models.map((m, i) => [i, m.name]),
    state.int(name, view.models.length, first),
    (v) => state.set({ [name]: v }),
  );
}

/** wrong shows an error, and offers the model's example text if the reader's text is the cause. */
export function wrong(/** @type {string} */ message) {
  return h(
    'div',
    {},
    problem(message),
    state.get('text')
      ? button('Read the model’s example instead', () => state.set({ text: '', then: '', hide: '' }))
      : null,
  );
}

/**
 * plainOf is the text of the command line, or of a model.
 * @param {View} view
 */
export function plainOf(view, model = state.int('model', view.models.length)) {
  return view.text || view.models[model].example;
}

/**
 * textOf returns the text in the state, or else the plain one.
 * @param {View} view
 */
export function textOf(view, model = state.int('model', view.models.length)) {
  return state.get('text') || plainOf(view, model);
}

/** thenOf returns the ids of the tokens that the model has written after the text. */
export function thenOf() {
  return state.get('then').split('.').filter(Boolean).map(Number);
}

/**
 * requestOf returns the request for the state: its model and text.
 * @param {View} view
 * @returns {Request}
 */
export function requestOf(view) {
  const model = state.int('model', view.models.length);
  const then = thenOf();
  return { model, text: textOf(view, model), ...(then.length ? { then } : {}) };
}

/**
 * otherOf returns the request for the other model with the same input and, for a translation, the same output.
 * @param {View} view
 * @param {Pass} first
 * @returns {Request}
 */
export function otherOf(view, first) {
  return { model: state.int('other', view.models.length, 1), text: first.whole };
}
