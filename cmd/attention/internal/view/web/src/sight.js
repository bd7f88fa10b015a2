// The attention of one query.

/**
 * Sight is the weights of a query: one for each key, NaN for hidden ones, and the largest.
 * @typedef {{ weights: Float32Array, most: number }} Sight
 */

const mostArcs = 64;
const thinnest = 0.02; // share of the largest weight; smaller weights have no arc

/**
 * strongest returns the keys of the largest weights, the largest first.
 * @param {Sight} sight
 * @param {number} n
 */
export function strongest({ weights, most }, n = mostArcs) {
  const keys = [...weights.keys()].filter((k) => weights[k] > thinnest * most);
  return keys.sort((a, b) => weights[b] - weights[a]).slice(0, n);
}

const evenTokens = 8; // the smallest number of keys for which attention is called even

/**
 * evenly returns the number of keys of a query if no weight is twice the mean, and 0 if one stands out.
 * @param {Sight} sight
 */
export function evenly({ weights, most }) {
  const n = weights.reduce((n, w) => n + (w > 0 ? 1 : 0), 0);
  return n >= evenTokens && most <= 2 / n ? n : 0;
}

/**
 * sightOf returns the weights of a query of a head.
 * @param {import('./head.js').Head | import('./mean.js').Mean} head
 * @param {number} q
 * @returns {Sight}
 */
export function sightOf(head, q) {
  const weights = new Float32Array(head.S);
  head.row(q, 0, head.S, weights);
  return { weights, most: head.largest(q) };
}

/**
 * mostSeen returns the one of n keys with the largest weight for a query of a head.
 * @param {import('./head.js').Head | import('./mean.js').Mean} head
 * @param {number} q
 * @param {number} n
 */
export function mostSeen(head, q, n) {
  return strongest(sightOf(head, q)).find((k) => k < n) ?? 0;
}

/**
 * changedSight returns the weights before changes, or null if the changes have no effect on them.
 * @param {Sight} was
 * @param {Sight} is
 */
export function changedSight(was, is) {
  return was.weights.every((w, k) => Object.is(w, is.weights[k])) ? null : was;
}
