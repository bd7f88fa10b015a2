// Navigation between steps: arrows, and links to the previous and the next section.
import { h, svg } from './dom.js';
import { names } from './formula.js';

/** @typedef {import('./formula.js').Step} Step */

/**
 * arrow is an arrow from the previous step to a step if the latter is computed from the former; otherwise it names the
 * operands.
 * @param {Step} step
 * @param {Step | undefined} before
 */
export function arrow(step, before) {
  if (!step.exact || !before) return null;
  const from = [...names(step.exact)];
  if (!from.length) return null;
  const text = from.includes(before.name) ? null : h('span', {}, from.map(short).join(', '));
  return arrowWith(text);
}

/**
 * arrowWith is an arrow with a text, or without.
 * @param {Node | string | null} text
 * @param {string} kind
 */
export function arrowWith(text, kind = '') {
  const line = svg(
    'svg',
    { viewBox: '0 0 34 12', width: 34, height: 12 },
    svg('path', { d: 'M0 6H26', class: 'shaft' }),
    svg('path', { d: 'M34 6l-10-4.5v9z', class: 'point' }),
  );
  return h('div', { class: `arrow ${kind}`.trim(), 'aria-hidden': 'true' }, text, line);
}

/** short returns the last parts of a long name. */
function short(/** @type {string} */ name) {
  return name.split('.').slice(-2).join('.').replace('.weight', '');
}
