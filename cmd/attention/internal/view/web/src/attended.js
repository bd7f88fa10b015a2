// The keys that the chosen token attends to through a head, with scores, weights and values, the largest weights first.
import { bar, button, h, number, percent, shown } from './dom.js';
import { lineOf } from './stage.js';
import * as state from './state.js';
import { rangeOf, Strip } from './strip.js';

/** @typedef {import('./stage.js').Around} Around */
/** @typedef {import('./stage.js').Stage} Stage */

const mostRows = 8;

/** Attended is a table of the keys with the largest weights of a head. */
export class Attended {
  /**
   * @param {Map<string, Stage>} stages
   * @param {Around} around
   * @param {import('./head.js').Head} head
   * @param {{ v: Float32Array }} values
   * @param {number} q
   */
  constructor(stages, around, head, values, q) {
    this.tokens = around.tokens;
    this.q = q;
    const { S, D } = head;
    const line = (/** @type {string} */ name) => {
      const stage = /** @type {Stage} */ (stages.get(name));
      const from = lineOf(stage, around) * S;
      return stage.values.subarray(from, from + S);
    };
    const [scores, weights] = [line('scores'), line('weights')];
    this.weights = weights;
    const Dv = values.v.length / S;
    const key = (/** @type {number} */ k) => head.k.subarray(k * D, (k + 1) * D);
    const value = (/** @type {number} */ k) => values.v.subarray(k * Dv, (k + 1) * Dv);
    const seen = [...weights.keys()].filter((k) => !Number.isNaN(weights[k]));
    const rows = seen.sort((a, b) => weights[b] - weights[a]).slice(0, mostRows);
    const mostK = Math.max(...rows.map((k) => rangeOf(key(k)).most));
    const mostV = Math.max(...rows.map((k) => rangeOf(value(k)).most));
    /** @type {Strip[]} */
    this.strips = [];
    const vector = (/** @type {Float32Array} */ of, /** @type {number} */ most) => {
      const strip = new Strip(of, 1, { most });
      this.strips.push(strip);
      return h('td', { class: 'vector' }, strip.element);
    };
    const most = weights[rows[0]] || 1;
    const row = (/** @type {number} */ k) =>
      h(
        'tr',
        { 'data-k': k },
        h('th', { scope: 'row' }, this.why(k)),
        vector(key(k), mostK),
        h('td', { class: 'value' }, number(scores[k], 2)),
        h('td', { class: 'share' }, bar(weights[k] / most)),
        h('td', { class: 'value' }, percent(weights[k], 2)),
        vector(value(k), mostV),
      );
    const title = (/** @type {string} */ text, span = 1) =>
      h('th', { scope: 'col', colspan: span > 1 ? span : null }, text);
    const titles = [title('token'), title('key'), title('score'), title('weight', 2), title('value')];
    this.element = h(
      'div',
      { class: 'scroll attended', tabindex: 0, role: 'group', 'aria-label': 'what the head looks at' },
      h('table', {}, h('thead', {}, h('tr', {}, titles)), h('tbody', {}, rows.map(row))),
      h('p', { class: 'note' }, this.rest(rows.length, seen.length)),
    );
  }

  /** why returns a key's token as a button, which leads to the numbers of its score. */
  why(/** @type {number} */ k) {
    const text = this.tokens[k] ? shown(this.tokens[k]) : 'extra key';
    const go = () => state.set({ panel: 'pair', q: this.q, k });
    const title = `${text} ${k}: every number of its weight`;
    const attributes = { class: 'quiet', title, 'aria-label': title };
    return button(text, go, attributes, h('span', { class: 'note' }, ` ${k}`));
  }

  /**
   * rest describes the keys without a row.
   * @param {number} rows
   * @param {number} seen
   */
  rest(rows, seen) {
    const n = this.weights.length;
    const others = seen > rows ? `${seen - rows} more share the rest. ` : '';
    return others + (n > seen ? `${n - seen} of ${n} tokens are hidden by the mask: their weight is 0.` : '');
  }

  paint() {
    for (const strip of this.strips) strip.paint();
  }
}
