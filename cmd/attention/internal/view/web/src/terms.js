// Sums and products as text, in brackets where they need them.

/** @typedef {[string, number]} Text a text, and how tightly it holds together */

export const [sum, product, atom] = [0, 1, 2]; // how tightly a text holds together

const most = 12; // terms of a sum that are written

/**
 * held is a text in brackets if it holds together less than it has to.
 * @param {Text} of
 * @param {number} least
 */
export function held([text, tightness], least) {
  return tightness < least ? `(${text})` : text;
}

/**
 * terms is a sum of n terms, of which those in the middle are left out if they are many.
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
