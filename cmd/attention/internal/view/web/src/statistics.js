// Statistics of each head as bars in a table that sorts.
import { extent } from './d3.js';
import { all, bar, button, fill, h, keepFocus, number } from './dom.js';
import { tableButton } from './save.js';

/** @typedef {import('./pass.js').Statistics} Numbers */
/** @typedef {{ layer: number, head: number, statistics: Numbers }} Measured a head with its statistics */

/** @type {[keyof Numbers, string, string][]} the statistics, with their headings and explanations */
export const statistics = [
  [
    'entropy',
    'entropy',
    'How evenly a query spreads its weight over the keys: the mean entropy of the weights in nats, the unit of ' +
      'the natural logarithm. It is 0 for one key with all the weight, and ln n for n keys with equal weights.',
  ],
  [
    'first',
    'on first',
    'How much weight the first key gets, the mean over the queries. A head that finds nothing in the text ' +
      'often puts its weight there.',
  ],
  ['self', 'on itself', 'How much weight a query’s own position gets, the mean over the queries.'],
  ['previous', 'on previous', 'How much weight the position before the query gets, the mean over the queries.'],
  [
    'largest',
    'max score',
    'The largest score of all pairs, before the softmax. Very large scores put all the weight on one key.',
  ],
  ['distance', 'distance', 'How far away the keys are, in tokens: the mean by weight and over the queries.'],
  [
    'telling',
    'telling',
    'How much the head shows about this text: high if each query attends to few keys, neither the first one ' +
      'nor its own.',
  ],
];

/** Statistics is a table of heads: {layer, head, statistics}. */
export class Statistics {
  constructor(/** @type {(layer: number, head: number) => void} */ onselect) {
    this.onselect = onselect;
    /** @type {Measured[]} */
    this.heads = [];
    /** @type {{ by: keyof Numbers | 'layer', down: boolean }} */
    this.sort = { by: 'layer', down: false };
    this.chosen = '';
    this.element = h(
      'div',
      { class: 'scroll statistics', tabindex: 0, role: 'group', 'aria-label': 'statistics of the heads' },
      h(
        'p',
        { class: 'note' },
        'The statistics of the heads are being computed. The table will have a row for each head; its columns sort it.',
      ),
    );
  }

  add(/** @type {Measured[]} */ heads) {
    this.heads.push(...heads);
    this.draw();
  }

  /** replace shows new numbers of the same heads; the focus stays on its head. */
  replace(/** @type {Measured[]} */ heads) {
    this.heads = heads;
    keepFocus(this.element, () => this.draw());
  }

  /**
   * choose marks the row of a head.
   * @param {number} layer
   * @param {import('./choose.js').HeadName} head
   */
  choose(layer, head) {
    this.chosen = `${layer} ${head}`;
    for (const row of all(this.element, 'tbody tr')) {
      if (row.dataset.head === this.chosen) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    }
  }

  /**
   * mostTelling returns the most telling layer and head, or the first ones if none is telling.
   * @returns {[number, number]}
   */
  mostTelling() {
    const value = (/** @type {Measured} */ x) => x.statistics.telling ?? -1;
    const { layer, head } = this.heads.reduce((a, b) => (value(b) > value(a) ? b : a));
    return [layer, head];
  }

  sorted() {
    const { by, down } = this.sort;
    const value = (/** @type {Measured} */ x) =>
      by === 'layer' ? x.layer * 1e6 + x.head : (x.statistics[by] ?? -Infinity);
    return [...this.heads].sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b)));
  }

  /**
   * heading is a button that sorts.
   * @param {keyof Numbers | 'layer'} by
   * @param {string} text
   * @param {string} title
   */
  heading(by, text, title) {
    const { sort } = this;
    let [mark, order] = ['', 'none'];
    if (sort.by === by) [mark, order] = sort.down ? [' ▼', 'descending'] : [' ▲', 'ascending'];
    return h(
      'th',
      { scope: 'col', 'aria-sort': order },
      button(
        text + mark,
        () => {
          this.sort = { by, down: sort.by === by ? !sort.down : by !== 'layer' };
          this.draw();
          all(this.element, `[data-by="${by}"]`)[0]?.focus();
        },
        { 'data-tip': title, 'aria-description': title, 'data-by': by },
      ),
    );
  }

  draw() {
    const ranges = new Map(
      statistics.map(([name]) => [name, extent([0, ...this.heads.flatMap((x) => x.statistics[name] ?? [])])]),
    );
    const current = (/** @type {string} */ head) => (head === this.chosen ? 'true' : null);
    const row = (/** @type {Measured} */ x) =>
      h(
        'tr',
        { 'data-head': `${x.layer} ${x.head}`, 'aria-current': current(`${x.layer} ${x.head}`) },
        h(
          'th',
          { scope: 'row' },
          button(`${x.layer}.${x.head}`, () => this.onselect(x.layer, x.head), {
            'aria-label': `${x.layer}.${x.head}: show layer ${x.layer} head ${x.head}`,
          }),
        ),
        statistics.map(([name]) => {
          const v = x.statistics[name];
          const [low = 0, high = 0] = ranges.get(name) ?? [];
          return h('td', {}, bar(v === undefined || high === low ? 0 : (v - low) / (high - low)), number(v, 3));
        }),
      );
    fill(
      this.element,
      h(
        'table',
        {},
        h(
          'caption',
          {},
          'Statistics of the heads ',
          tableButton(
            () => 'statistics',
            () => this.rows(),
          ),
        ),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            this.heading('layer', 'head', 'The layer and the head, counted from 0.'),
            statistics.map(([name, text, title]) => this.heading(name, text, title)),
          ),
        ),
        h('tbody', {}, this.sorted().map(row)),
      ),
    );
  }

  rows() {
    return [
      ['layer', 'head', ...statistics.map(([name]) => name)],
      ...this.sorted().map((x) => [x.layer, x.head, ...statistics.map(([name]) => x.statistics[name])]),
    ];
  }
}
