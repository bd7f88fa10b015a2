// @ts-nocheck
// What the chosen token looks at through a head: keys, scores, weights and values, the largest weights first.
import { bar, button, h, number, percent, shown } from './dom.js';
import { lineOf } from './stage.js';
import * as state from './state.js';
import { rangeOf, Strip } from './strip.js';

const mostRows = 8;

/** Looked is a table of the keys that a head looks at most. */
export class Looked {
  /**
   * @param {Map<string, import('./stage.js').Stage>} stages
   * @param {import('./stage.js').Around} around
   * @param {import('./head.js').Head} head
   * @param {{ v: Float32Array }} values
   * @param {number} q
   */
  constructor(stages, around, head, values, q) {
    this.around = around;
    this.q = q;
    const { S, D } = head;
    const line = (name) => {
      const stage = stages.get(name);
      const at = lineOf(stage, around);
      return stage.values.subarray(at * S, (at + 1) * S);
    };
    this.scores = line('scores');
    this.weights = line('weights');
    const Dv = values.v.length / S;
    const seen = [...this.weights.keys()].filter((k) => !Number.isNaN(this.weights[k]));
    const rows = seen.sort((a, b) => this.weights[b] - this.weights[a]).slice(0, mostRows);
    const part = (of, width) => (k) => of.subarray(k * width, (k + 1) * width);
    const [key, value] = [part(head.k, D), part(values.v, Dv)];
    const [mostK, mostV] = [key, value].map((of) => Math.max(...rows.map((k) => rangeOf(of(k)).most)));
    this.strips = [];
    const strip = (of, most) => {
      const made = new Strip(of, 1, { most });
      this.strips.push(made);
      return h('td', { class: 'vector' }, made.element);
    };
    const most = Math.max(...rows.map((k) => this.weights[k]));
    const row = (k) =>
      h(
        'tr',
        { 'data-k': k },
        h('th', { scope: 'row' }, this.why(k)),
        strip(key(k), mostK),
        h('td', { class: 'value' }, number(this.scores[k], 2)),
        h('td', { class: 'share' }, bar(this.weights[k] / most)),
        h('td', { class: 'value' }, percent(this.weights[k], 2)),
        strip(value(k), mostV),
      );
    const head0 = (text, span = 1) => h('th', { scope: 'col', colspan: span > 1 ? span : null }, text);
    this.element = h(
      'div',
      { class: 'scroll looked', tabindex: 0, role: 'group', 'aria-label': 'what the head looks at' },
      h(
        'table',
        {},
        h('thead', {}, h('tr', {}, head0('token'), head0('key'), head0('score'), head0('weight', 2), head0('value'))),
        h('tbody', {}, rows.map(row)),
      ),
      h('p', { class: 'note' }, this.rest(rows.length, seen.length)),
    );
  }

  /** why is a key's token, a button to the numbers of its score. */
  why(k) {
    const { tokens } = this.around;
    const text = tokens[k] ? shown(tokens[k]) : 'extra key';
    const go = () => state.set({ panel: 'pair', q: this.q, k });
    const title = `${text} ${k}: every number of its weight`;
    return button(text, go, { class: 'quiet', title, 'aria-label': title }, h('span', { class: 'note' }, ` ${k}`));
  }

  /** rest tells of the keys that have no row. */
  rest(rows, seen) {
    const { weights } = this;
    const n = weights.length;
    const others = seen > rows ? `${seen - rows} more share the rest. ` : '';
    return others + (n > seen ? `${n - seen} of ${n} tokens are hidden by the mask: their weight is 0.` : '');
  }

  paint() {
    for (const strip of this.strips) strip.paint();
  }
}
