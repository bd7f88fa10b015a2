// Statistics of each head as bars in a table that sorts.
import { extent } from './d3.js';
import { all, bar, button, fill, h, keepFocus, number } from './dom.js';
import { tableButton } from './save.js';

/** @typedef {import('./look.js').Statistics} Numbers */
/** @typedef {{ layer: number, head: number, statistics: Numbers }} Measured a head with its statistics */

/** @type {[keyof Numbers, string, string][]} the statistics, what stands above them, and what they are */
export const statistics = [
  [
    'entropy',
    'entropy',
    'How spread out the looks are: the mean entropy of a query’s weights, in nats. 0 is a look at ' +
      'one key; the more keys share the weight, the larger.',
  ],
  [
    'first',
    'on first',
    'How much of the weight lies on the first key, the mean over the queries. A head that has ' +
      'nothing to do often rests there.',
  ],
  ['self', 'on itself', 'How much of the weight a query keeps on its own position, the mean over the queries.'],
  [
    'previous',
    'on previous',
    'How much of the weight lies on the position before the query, the mean over the queries.',
  ],
  [
    'largest',
    'max score',
    'The largest score of all pairs, before the softmax. Very large ones make looks all or nothing.',
  ],
  ['distance', 'distance', 'How far away what is looked at is, in tokens: the mean over the queries, by weight.'],
  [
    'telling',
    'telling',
    'How much the head says of this text: high where queries pick out few keys, but neither the ' +
      'first one nor their own.',
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
        'The statistics of the heads are computed: a row for each comes here, which its columns sort.',
      ),
    );
  }

  add(/** @type {Measured[]} */ heads) {
    this.heads.push(...heads);
    this.draw();
  }

  /** replace shows other numbers of the same heads; the focus stays at its head. */
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
   * mostTelling is the layer and the head that tell most of the text, the first ones if none does.
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
