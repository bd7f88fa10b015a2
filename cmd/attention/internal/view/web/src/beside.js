// The text beside a map that has no space for its tokens. It follows the cell under the pointer, or the chosen cell.
import { fill, h, shown } from './dom.js';

/** @typedef {import('./dom.js').Named} Named */

const around = 40; // tokens on each side of the described one

/** Beside shows the text around the row and the column of a cell. */
export class Beside {
  constructor() {
    this.element = h('div', { class: 'beside', 'aria-hidden': 'true' });
  }

  clear() {
    fill(this.element);
  }

  /**
   * tell writes the text around a cell, or around the first cell if none is given.
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
 * line returns the text around a token, with the token marked.
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
