// The reader's changes of a model: hidden tokens, and heads that are switched off or scaled.
import * as state from './state.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./api.js').Factor} Factor */

/** hidden returns the positions of the hidden tokens among all tokens that are keys. */
export function hidden() {
  return state.get('hide').split('.').filter(Boolean).map(Number);
}

/** toggleHidden hides a token, or shows it again. */
export function toggleHidden(/** @type {number} */ at) {
  const hide = hidden();
  const all = hide.includes(at) ? hide.filter((x) => x !== at) : [...hide, at];
  state.set({ hide: all.sort((a, b) => a - b).join('.') });
}

/**
 * factors returns the changed heads.
 * @returns {Factor[]}
 */
export function factors() {
  const texts = state.get('factors').split('_').filter(Boolean);
  return texts.map((text) => {
    const [layer, head, factor] = text.split('x').map(Number);
    return { layer, head, factor };
  });
}

/**
 * setFactor sets the factor of a head; 1 means no change.
 * @param {number} layer
 * @param {number} head
 * @param {number} factor
 */
export function setFactor(layer, head, factor) {
  const others = factors().filter((f) => f.layer !== layer || f.head !== head);
  const all = factor === 1 ? others : [...others, { layer, head, factor }];
  state.set({ factors: all.map((f) => `${f.layer}x${f.head}x${f.factor}`).join('_') });
}

/** isFixed reports whether neither a mask nor heads of a model can be changed. */
export function isFixed(/** @type {Pass} */ pass) {
  return pass.layers.some((l) => l.fixed);
}

/** keysOf returns the sequences whose tokens are keys of some layer, and the position of the first token of each. */
export function keysOf(/** @type {Pass} */ pass) {
  const used = new Set(pass.layers.map((l) => l.keys));
  let first = 0;
  return [...pass.sequences.entries()]
    .filter(([i]) => used.has(i))
    .map(([index, sequence]) => {
      const from = first;
      first += sequence.tokens.length;
      return { ...sequence, index, first: from };
    });
}

/**
 * firstKey returns the position of the first key of a layer among all tokens that are keys.
 * @param {Pass} pass
 * @param {number} layer
 */
export function firstKey(pass, layer) {
  return keysOf(pass).find((s) => s.index === pass.layers[layer].keys)?.first ?? 0;
}

/**
 * changed returns a request with the reader's changes, or the request itself if there are none.
 * @param {import('./api.js').Request} request
 * @param {Pass} pass
 */
export function changed(request, pass) {
  if (isFixed(pass)) return request;
  const all = keysOf(pass).reduce((n, s) => n + s.tokens.length, 0);
  const hide = hidden().filter((at) => at < all);
  const heads = factors().filter((f) => f.head < (pass.layers[f.layer]?.heads ?? 0)); // of another model's
  if (hide.length + heads.length === 0) return request;
  return { ...request, ...(hide.length ? { hide } : {}), ...(heads.length ? { heads } : {}) };
}
