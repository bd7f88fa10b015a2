// The chosen head: its switch and factor, and the keys that the chosen token attends to most.
import { isExported } from './api.js';
import { factors, firstKey, isFixed, setFactor, toggleHidden } from './changes.js';
import { chosen, nameOf, sharing } from './choose.js';
import { Scale } from './colours.js';
import { bar, button, fill, h, keepFocus, number, shown } from './dom.js';
import { legend } from './picture.js';
import { strongest } from './sight.js';
import * as state from './state.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./pass.js').Token} Token */
/** @typedef {import('./tokens.js').Seen} Seen */
/** @typedef {{ pass: Pass, layer: number, head: import('./choose.js').HeadName, tokens: Token[], seen: Seen }} Shown */

const mostListed = 5; // of the attended tokens

/** Detail describes one head. */
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
   * show shows the chosen head of a pass, and of the pass after changes. Without changes both passes are the same.
   * @param {Pass} before
   * @param {Pass} after
   * @param {Seen} seen
   */
  show(before, after, seen) {
    const [layer, head] = chosen(before);
    const shown = { pass: before, layer, head, tokens: after.keys(layer), seen };
    fill(this.name, nameOf(before, layer, head));
    fill(this.share, sharing(before, layer, head));
    keepFocus(this.tools, () => fill(this.tools, switches(shown)));
    keepFocus(this.list, () => this.showList(shown));
    this.paintScale(seen);
  }

  /** showList lists the keys with the largest weights for the chosen token. */
  showList(/** @type {Shown} */ shown) {
    const { after, before } = shown.seen;
    const keys = strongest(after, mostListed).filter((k) => shown.tokens[k]);
    const rows = keys.map((k) => row(shown, k));
    const kind = before ? 'mostattended compared' : 'mostattended';
    fill(this.list, h('table', { class: kind }, h('caption', {}, 'Looks most at'), h('tbody', {}, rows)));
  }

  /** paintScale draws the legend of the colours of the tokens. */
  paintScale(/** @type {Seen} */ { after: { weights, most } }) {
    const text = 'weight, scaled to the largest of this token';
    fill(this.scale, legend(new Scale(1), text, weights.some(Number.isNaN), ['0', number(most)]));
  }
}

/** switches returns the switch and the factor of the head. */
function switches(/** @type {Shown} */ { pass, layer, head }) {
  if (isFixed(pass)) {
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

/**
 * row shows a key with its weight. It has a link to the numbers of the weight, and a button that hides the key.
 * @param {Shown} of
 * @param {number} k
 */
function row({ pass, layer, head, tokens, seen }, k) {
  const { after, before, q } = seen;
  const name = shown(tokens[k]);
  const was = (/** @type {number} */ w) => (Number.isNaN(w) ? 'hidden' : `was ${number(w)}`);
  const why = () => state.set({ panel: 'pair', q, k, layer, head });
  const hide = () => toggleHidden(firstKey(pass, layer) + k);
  const action = (/** @type {string} */ text, /** @type {() => void} */ act, /** @type {string} */ label) =>
    h('td', {}, button(text, act, { class: 'quiet', 'aria-label': label }));
  return h(
    'tr',
    { 'data-k': k },
    h('th', { scope: 'row' }, name, h('span', { class: 'note' }, ` ${k}`)),
    h('td', { class: 'barcell' }, bar(after.weights[k] / after.most)),
    h('td', { class: 'value' }, number(after.weights[k])),
    before && h('td', { class: 'value note' }, was(before.weights[k])),
    before || head === 'mean' ? null : action('Why', why, `Why ${name}, token ${k}: the numbers of its weight`),
    isExported || isFixed(pass) ? null : action('Hide', hide, `Hide ${name}, token ${k}`),
  );
}
