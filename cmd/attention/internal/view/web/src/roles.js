// The role of a head, from the statistics of its weights in the text.

/** @typedef {import('./pass.js').Statistics} Statistics */

const least = 0.4; // mean weight from which a head has a role

/** roles are the groups of heads, with their names and explanations. */
export const roles = [
  ['after', 'What followed the same token before', 'It copies: where a token comes again, it looks at the next one.'],
  ['same', 'The same token earlier', 'Where a token comes again, it looks at the earlier one.'],
  ['other', 'Other tokens', 'Where it looks depends on the text.'],
  ['previous', 'The token before', 'It looks one token back, whatever that is.'],
  ['self', 'The token itself', 'Each token looks at itself.'],
  ['first', 'The first token', 'It rests: a head that finds nothing in the text puts its weight there.'],
];

/** roleOf returns the role of a head: that of its largest statistic, if this is large enough. */
export function roleOf(/** @type {Statistics} */ s) {
  const measured = /** @type {(keyof Statistics & string)[]} */ (['after', 'same', 'previous', 'self', 'first']);
  const best = measured.reduce((a, b) => ((s[b] ?? 0) > (s[a] ?? 0) ? b : a));
  return (s[best] ?? 0) >= least ? best : 'other';
}
