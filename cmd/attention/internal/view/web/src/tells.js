// The measure of telling heads: the weight of a head on each token above that of all heads, at some distance.

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {{ rows: number[], best?: number[], tells: Float32Array }} Tells */

/**
 * tellsOf returns the measure for the heads of a pass.
 * @param {Pass} pass
 * @returns {Promise<Tells>}
 */
export function tellsOf(pass) {
  return pass.keep('tells', () => pass.ask('tells', {}));
}

/**
 * told returns the measure for a head and a token.
 * @param {Pass} pass
 * @param {Tells} of
 * @param {number} layer
 * @param {number} head
 * @param {number} q
 */
export function told({ layers }, { rows, tells }, layer, head, q) {
  const from = layers.slice(0, layer).reduce((n, l, i) => n + l.heads * rows[i], 0);
  return tells[from + head * rows[layer] + Math.floor((q * rows[layer]) / layers[layer].t)];
}
