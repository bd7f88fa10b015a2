// A sentence about the attention of the chosen token, and a list of the reader's changes.
import { isExported } from './api.js';
import { factors, firstKey, hidden, isFixed, keysOf, setFactor, toggleHidden } from './changes.js';
import { chosen, layerName, nameOf } from './choose.js';
import { button, fill, h, number, percent, shown } from './dom.js';
import { implied } from './implied.js';
import { isProposed } from './proposed.js';
import { evenly, strongest } from './sight.js';
import * as state from './state.js';

/** @typedef {import('./pass.js').Candidate} Candidate */
/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./tokens.js').Seen} Seen */

const mostNamed = 3; // of the tokens that are looked at
const least = 0.1; // smallest weight of the tokens after the first

/** Sentence describes the attention of a token, and lists the changes. */
export class Sentence {
  constructor() {
    this.text = h('h2', { class: 'sentence', 'aria-live': 'polite' });
    this.where = h('p', { class: 'note where' });
    this.changes = h('div');
    this.effect = h('p', { class: 'effect' });
    this.elements = [this.text, this.where, this.changes];
  }

  /**
   * tell describes the attention of the chosen token, in a pass before and after changes.
   * @param {Pass} before
   * @param {Pass} pass
   * @param {Seen} seen
   * @param {boolean} isTold whether the head that is chosen without the reader is the most telling one
   */
  tell(before, pass, { q, after, k }, isTold) {
    const [layer, head] = chosen(before);
    const queries = pass.queries(layer);
    const keys = pass.keys(layer);
    const same = queries === keys;
    const name = (/** @type {number} */ at) =>
      same && at === q ? 'itself' : h('q', {}, keys[at] ? shown(keys[at]) : 'an extra key');
    const most = strongest(after, mostNamed).filter((at, i) => i === 0 || after.weights[at] >= least);
    const parts = most.flatMap((at, i) => [i ? ', ' : '', name(at), ` ${percent(after.weights[at], 2)}`]);
    const alike = evenly(after);
    const all = alike && ` looks at all ${alike} tokens alike (at most ${percent(after.most, 2)})`;
    const said = all ? [all] : [most.length ? ' looks at ' : ' looks at nothing', ...parts];
    fill(this.text, h('q', {}, shown(queries[q])), said);
    const auto = isTold && isProposed();
    const place = nameOf(pass, layer, head).replace('L', 'l');
    const at = same ? q : k;
    fill(
      this.where,
      `This is ${place}${auto ? ', which tells most of this text' : ''}. `,
      'The arcs go to the tokens that it looks at: the thicker and bluer, the more. ',
      pass.layers[layer].linear ? implied : '',
      isExported || isFixed(pass) ? null : hider(firstKey(pass, layer) + at, shown(keys[at])),
    );
  }

  /**
   * follow describes the effects of changes: on the next token, and on the weights of the shown head. The switch of the
   * head itself does not change them.
   * @param {{ were: Candidate[], are: Candidate[] }} next
   * @param {Seen | null} seen
   */
  follow({ were, are }, seen) {
    const was = new Map(were.map((c) => [c.id, c.probability]));
    const moved = are
      .map((c) => ({ c, by: Math.abs(c.probability - (was.get(c.id) ?? 0)) }))
      .sort((a, b) => b.by - a.by)[0];
    const old = moved && was.get(moved.c.id);
    /** @type {(Node | string)[]} */
    const next = moved?.by
      ? ['What comes next: ', h('q', {}, shown(moved.c)), ` ${old === undefined ? 'new' : percent(old)} → `]
      : ['What comes next stays as it was.'];
    if (moved?.by) next.push(h('b', {}, percent(moved.c.probability)), '. ');
    const arcs = seen?.before
      ? 'Solid arcs: with your changes. Dashed ones: before them.'
      : 'This head’s own weights stay as they were: its output, and so heads of later layers, are what changes.';
    fill(this.effect, next, h('span', { class: 'note' }, arcs));
  }

  /**
   * list lists the reader's changes, each with a button to undo it.
   * @param {Pass} before
   * @param {boolean} isChanged
   */
  list(before, isChanged) {
    if (!isChanged) {
      fill(this.changes);
      return;
    }
    const all = keysOf(before).flatMap((s) => s.tokens);
    const undo = (/** @type {string} */ text, /** @type {() => void} */ act) =>
      isExported ? h('span', { class: 'chip' }, text) : button(`${text} ✕`, act, { class: 'chip', title: 'undo this' });
    const tokens = hidden()
      .filter((at) => at < all.length)
      .map((at) => undo(`“${shown(all[at])}” ${at} is hidden`, () => toggleHidden(at)));
    const heads = factors().map(({ layer, head, factor }) =>
      undo(`${layerName(before.layers[layer], layer)} · ${head} × ${factor}`, () => setFactor(layer, head, 1)),
    );
    const undoAll = () => state.set({ hide: '', factors: '' });
    fill(
      this.changes,
      h(
        'div',
        { class: 'changes' },
        tokens,
        heads,
        isExported ? null : button('Undo all changes', undoAll, { 'data-keep': 'undo' }),
        this.effect,
      ),
    );
  }
}

/**
 * pairText describes the weight of a key, and its weight before changes; without a key it returns nothing.
 * @param {Pass} pass
 * @param {number} layer
 * @param {Seen} seen
 * @param {number | null} k
 */
export function pairText(pass, layer, { q, after, before }, k) {
  const key = k === null ? undefined : pass.keys(layer)[k];
  if (!key || k === null) return ' ';
  const text = (/** @type {number} */ w) => (Number.isNaN(w) ? 'not seen: hidden by the mask' : `weight ${number(w)}`);
  const was = before ? `, before: ${text(before.weights[k])}` : '';
  return `“${shown(pass.queries(layer)[q])}” ${q} → “${shown(key)}” ${k}: ${text(after.weights[k])}${was}`;
}

/**
 * hider returns a button that hides a key, or shows it again.
 * @param {number} at
 * @param {string} name
 */
function hider(at, name) {
  const is = hidden().includes(at);
  return button(`${is ? 'Show' : 'Hide'} “${name}”`, () => toggleHidden(at), { class: 'quiet', 'data-keep': 'hide' });
}
