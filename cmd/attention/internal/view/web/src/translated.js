// What a model of translations has written, whose characters choose the place that is shown.
import { button, h, shown } from './dom.js';
import * as state from './state.js';

/** @typedef {import('./pass.js').Pass} Pass */

/**
 * placeOf returns which place of a translation is shown: the state's, the first that differs, or the last.
 * @param {Pass} before
 * @param {Pass} after
 */
export function placeOf(before, after) {
  const last = before.next.length - 1;
  const differs = before.next.findIndex((_, i) => last > 0 && writtenAt(before, i).id !== writtenAt(after, i).id);
  return state.int('at', last + 1, differs < 0 ? last : differs);
}

/**
 * translations returns the translations before and after, whose characters choose the place.
 * @param {Pass} before
 * @param {Pass} after
 * @param {number} at
 */
export function translations(before, after, at) {
  const row = (/** @type {Pass} */ pass, /** @type {string} */ name) =>
    h(
      'p',
      { class: 'tokens', role: 'group', 'aria-label': `translation ${name}` },
      h('span', { class: 'rowname' }, name),
      pass.next.map((_, i) => {
        const token = writtenAt(pass, i);
        const other = token.id !== writtenAt(before, i).id;
        const title = `character ${i}${other ? ', another than before' : ''}`;
        return button(shown(token) + (other ? '*' : ''), () => state.set({ at: i }), {
          class: 'place',
          'data-keep': `${name}${i}`,
          'aria-current': i === at ? 'true' : null,
          title,
        });
      }),
    );
  const note =
    '* is another character than before. A second line of the text is how the translation begins; the ' +
    'model writes the rest.';
  return [
    row(before, before === after ? 'written' : 'before'),
    before !== after ? row(after, 'after') : null,
    h('p', { class: 'note' }, note),
  ];
}

/**
 * writtenAt is the token that is written at a place of a translation: the last sequence.
 * @param {Pass} pass
 * @param {number} i
 */
function writtenAt(pass, i) {
  return pass.sequences[pass.sequences.length - 1].tokens[i];
}
