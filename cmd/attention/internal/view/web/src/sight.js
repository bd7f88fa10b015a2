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
 * @param {import('./head.js').Head} head
 * @param {number} q
 * @param {number} n
 */
export function mostSeen(head, q, n) {
  return strongest(sightOf(head, q)).find((k) => k < n) ?? 0;
}
