// The text beside a map that has no room for its tokens: it follows the cell that is pointed at or chosen.
import { fill, h, shown } from './dom.js';

/** @typedef {import('./dom.js').Named} Named */

const around = 40; // tokens on each side of the one that is told

/** Beside tells the text around the row and the column of a cell. */
export class Beside {
  constructor() {
    this.element = h('div', { class: 'beside', 'aria-hidden': 'true' });
  }

  clear() {
    fill(this.element);
  }

  /**
   * tell writes the text around a cell, that of the first one without it.
   * @param {Named[]} rows
   * @param {Named[]} cols
   * @param {number[] | null} cell
   */
  tell(rows, cols, cell) {
    const [t, s] = cell ?? [0, 0];
    fill(this.element, line('query', rows, t, cell !== null), line('key', cols, s, cell !== null));
  }
}

/**
 * line is the text around a token, which is marked.
 * @param {string} name
 * @param {Named[]} tokens
 * @param {number} at
 * @param {boolean} isMarked
 */
function line(name, tokens, at, isMarked) {
  const part = (/** @type {number} */ from, /** @type {number} */ to) =>
    tokens.slice(Math.max(0, from), to).map(shown).join('');
  const here = part(at, at + 1);
  return h(
    'p',
    {},
    h('span', { class: 'rowname' }, name),
    at > around ? '…' : '',
    part(at - around, at),
    isMarked ? h('b', {}, here) : here,
    part(at + 1, at + around),
    at + around < tokens.length ? '…' : '',
  );
}
