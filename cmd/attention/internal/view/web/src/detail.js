// The chosen head: its switch and factor, and what the chosen token looks at most.
import { isExported } from './api.js';
import { factors, firstKey, isFixed, setFactor, toggleHidden } from './changes.js';
import { chosen, nameOf, sharing } from './choose.js';
import { Scale } from './colours.js';
import { bar, button, fill, h, keepFocus, number, shown } from './dom.js';
import { legend } from './picture.js';
import * as state from './state.js';
import { strongest } from './tokens.js';

/** @typedef {import('./look.js').Look} Look */
/** @typedef {import('./look.js').Token} Token */
/** @typedef {import('./tokens.js').Seen} Seen */

const mostListed = 5; // of the tokens that are looked at most

/** Detail tells of one head. */
export class Detail {
  constructor() {
    this.name = h('h2');
    this.share = h('div');
    this.tools = h('div', { class: 'tools' });
    this.list = h('div');
    this.scale = h('div', { class: 'rowscale' });
    this.element = h(
      'section',
      { class: 'detail', 'aria-label': 'the chosen head' },
      this.name,
      this.share,
      this.tools,
      this.list,
      this.scale,
    );
  }

  /**
   * show shows the chosen head of a look, and of the look after changes, which is the same without any.
   * @param {Look} before
   * @param {Look} after
   * @param {Seen} seen
   */
  show(before, after, seen) {
    const [layer, head] = chosen(before);
    this.look = before;
    this.tokens = after.keys(layer);
    this.seen = seen;
    this.layer = layer;
    this.head = head;
    fill(this.name, nameOf(before, layer, head));
    fill(this.share, sharing(before, layer, head));
    keepFocus(this.tools, () => fill(this.tools, this.switches()));
    keepFocus(this.list, () => this.showList());
    this.paintScale();
  }

  /** switches returns the switch and the factor of the head. */
  switches() {
    const { layer, head } = this;
    if (isFixed(this.look)) {
      const note = 'This layer has neither a mask nor heads to change: another text is what can be tried.';
      return [h('p', { class: 'note' }, note)];
    }
    if (head === 'mean' || isExported) return [];
    const now = factors().find((f) => f.layer === layer && f.head === head)?.factor ?? 1;
    const range = h('input', {
      type: 'range',
      min: 0,
      max: 2,
      step: 0.1,
      '.value': now,
      onchange: () => setFactor(layer, head, Number(range.value)),
    });
    const text = now === 0 ? 'Switch head on' : 'Switch head off';
    return [
      button(text, () => setFactor(layer, head, now === 0 ? 1 : 0), { 'data-keep': 'off' }),
      h('label', {}, 'factor ', range, ` × ${now}`),
    ];
  }

  /** showList lists what the chosen token looks at most. */
  showList() {
    const { after, before } = this.seen;
    const keys = strongest(after, mostListed).filter((k) => this.tokens[k]);
    fill(
      this.list,
      h(
        'table',
        { class: before ? 'looksat compared' : 'looksat' },
        h('caption', {}, 'Looks most at'),
        h(
          'tbody',
          {},
          keys.map((k) => this.row(k)),
        ),
      ),
    );
  }

  /** row is a key with its weight, the numbers of that one click away, and a button that hides the key. */
  row(/** @type {number} */ k) {
    const { after, before } = this.seen;
    const token = this.tokens[k];
    const was = (w) => (Number.isNaN(w) ? 'hidden' : `was ${number(w)}`);
    return h(
      'tr',
      { 'data-k': k },
      h('th', { scope: 'row' }, shown(token), h('span', { class: 'note' }, ` ${k}`)),
      h('td', {}, bar(after.weights[k] / after.most)),
      h('td', { class: 'value' }, number(after.weights[k])),
      before && h('td', { class: 'value note' }, was(before.weights[k])),
      before || this.head === 'mean' ? null : h('td', {}, this.why(k, token)),
      isExported || isFixed(this.look) ? null : h('td', {}, this.hide(k, token)),
    );
  }

  /** hide is a button that hides a key. */
  hide(k, token) {
    return button('Hide', () => toggleHidden(firstKey(this.look, this.layer) + k), {
      class: 'quiet',
      'aria-label': `Hide ${shown(token)}, token ${k}`,
    });
  }

  /** why is a button to the numbers that a weight is computed from. */
  why(k, token) {
    const { layer, head, seen } = this;
    return button('Why', () => state.set({ panel: 'pair', q: seen.q, k, layer, head }), {
      class: 'quiet',
      'aria-label': `Why ${shown(token)}, token ${k}: the numbers of its weight`,
    });
  }

  /** paintScale draws the legend of the colours of the tokens. */
  paintScale() {
    const { weights, most } = this.seen.after;
    const text = 'weight, scaled to the largest of this token';
    fill(this.scale, legend(new Scale(1), text, weights.some(Number.isNaN), ['0', number(most)]));
  }
}
