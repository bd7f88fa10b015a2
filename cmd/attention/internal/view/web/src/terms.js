// Sums and products as text, with brackets where necessary.

/** @typedef {[string, number]} Text a text, and its precedence */

export const [sum, product, atom] = [0, 1, 2]; // precedences of operators

const most = 12; // number of terms of a sum that are written

/**
 * held puts a text in brackets if its precedence is too low.
 * @param {Text} of
 * @param {number} least
 */
export function held([text, tightness], least) {
  return tightness < least ? `(${text})` : text;
}

/**
 * terms returns a sum of n terms; if there are many, the middle ones are omitted.
 * @param {number} n
 * @param {(at: number) => Text} term
 * @returns {Text}
 */
export function terms(n, term) {
  if (n === 1) return term(0);
  const write = (/** @type {number} */ from, /** @type {number} */ to) =>
    Array.from({ length: to - from }, (_, i) => held(term(from + i), product));
  if (n <= most) return [write(0, n).join(' + '), sum];
  return [[...write(0, most - 4), '…', ...write(n - 3, n)].join(' + ') + `: ${n} terms`, sum];
}
