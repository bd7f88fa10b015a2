// Where a query looks.

/**
 * Sight is where a query looks: its weight on each key, NaN on hidden ones, and the largest.
 * @typedef {{ weights: Float32Array, most: number }} Sight
 */

const mostArcs = 64;
const thinnest = 0.02; // of the largest weight: what is less has no arc

/**
 * strongest returns the keys of the largest weights, the largest first.
 * @param {Sight} sight
 * @param {number} n
 */
export function strongest({ weights, most }, n = mostArcs) {
  const keys = [...weights.keys()].filter((k) => weights[k] > thinnest * most);
  return keys.sort((a, b) => weights[b] - weights[a]).slice(0, n);
}

const evenTokens = 8; // the fewest that a query can be said to see alike

/**
 * evenly returns how many keys a query sees if no weight is twice the mean; 0 if one stands out.
 * @param {Sight} sight
 */
export function evenly({ weights, most }) {
  const n = weights.reduce((n, w) => n + (w > 0 ? 1 : 0), 0);
  return n >= evenTokens && most <= 2 / n ? n : 0;
}

/**
 * sightOf returns where a query of a head looks.
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
 * mostSeen returns which of n keys a query of a head looks at most.
 * @param {import('./head.js').Head | import('./mean.js').Mean} head
 * @param {number} q
 * @param {number} n
 */
export function mostSeen(head, q, n) {
  return strongest(sightOf(head, q)).find((k) => k < n) ?? 0;
}

/**
 * changedSight returns a sight before changes, null if these have not changed it.
 * @param {Sight} was
 * @param {Sight} is
 */
export function changedSight(was, is) {
  return was.weights.every((w, k) => Object.is(w, is.weights[k])) ? null : was;
}
