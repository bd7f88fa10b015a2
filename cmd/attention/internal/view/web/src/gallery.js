// All heads of a model as small pictures: the most telling heads on the chosen token, and the others grouped by role.
import { all, fill, h, rove, shown } from './dom.js';
import { roleOf, roles } from './roles.js';
import { tellsOf, told } from './tells.js';
import { Thumbnails } from './thumbnails.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {{ layer: number, head: number, role: string, telling: number }} Known a head whose statistics are known */

const fewHeads = 24; // that shows all groups open
const mostTold = 6; // number of most telling heads on the chosen token

/** Gallery shows the heads of a pass; onchoose(layer, head) is called for a clicked head. */
export class Gallery extends Thumbnails {
  /** @param {(layer: number, head: number) => void} onchoose */
  constructor(onchoose) {
    super(onchoose, (layer, head) => [
      h('span', { class: 'headname', 'aria-hidden': 'true', 'data-name': `${layer} · ${head}` }),
    ]);
    this.note = h('p', { class: 'note' });
    this.list = h('div', { role: 'group', 'aria-label': 'heads, as layer and head' });
    this.element = h(
      'section',
      { class: 'heads-side', 'aria-label': 'all heads' },
      h('h2', {}, 'All heads'),
      this.note,
      this.list,
    );
    this.mark = () => {};
    /** @type {import('./pass.js').Pictures[]} */
    this.pictures = [];
    /** @type {Known[]} */
    this.heads = [];
    /** @type {import('./tells.js').Tells | null} */
    this.tells = null;
    /** @type {Pass | null} of the heads and their measures */
    this.of = null;
    this.arranged = '';
    this.groups = [['told', ''], ...roles].map(([role, name, title]) => {
      const [head, grid] = [h('summary', { title }, name), h('div', { class: 'gallery' })];
      return { role, name, head, grid, element: h('details', { hidden: true }, head, grid) };
    });
    rove(this.list, 'details[open] .thumbnail');
  }

  /** build makes a button for each head, if the heads have changed. */
  build(/** @type {Pass} */ pass) {
    const heads = pass.layers.map((l) => l.heads);
    if (String(heads) === String(this.buttons.map((row) => row.length))) return;
    this.make(heads);
    this.arranged = '';
    this.heads = [];
    const sum = this.buttons.flat().length;
    const plain = h('div', { class: 'gallery' }, this.buttons.flat()); // until their roles are known
    for (const g of this.groups) {
      fill(g.grid);
      Object.assign(g.element, { hidden: true, open: g.role === 'told' || sum <= fewHeads });
    }
    fill(
      this.list,
      plain,
      this.groups.map((g) => g.element),
    );
    this.mark();
  }

  /**
   * show shows the heads of a pass after changes, and returns the heads before the changes, the most telling first. It
   * stops as soon as isOver. With keep the order of the pictures does not change.
   * @param {Pass} before
   * @param {Pass} after
   * @param {boolean} keep
   * @param {() => boolean} isOver
   * @returns {Promise<Known[]>}
   */
  async show(before, after, keep, isOver) {
    this.build(before);
    /** @type {Known[]} */
    const heads = [];
    this.pictures = [];
    const sum = this.buttons.flat().length;
    for (let layer = 0; layer < before.layers.length; layer++) {
      const [were, are] = await Promise.all([before.thumbnails(layer), after.thumbnails(layer)]);
      if (isOver()) return [];
      this.pictures[layer] = are;
      this.paint(this.pictures, layer);
      were.statistics.forEach((s, head) => heads.push({ layer, head, role: roleOf(s), telling: s.telling ?? -1 }));
      fill(
        this.note,
        heads.length < sum
          ? `${heads.length} of ${sum} are read; then the most telling comes first.`
          : 'As layer · head, the most telling first. A row is a token that looks, a column one that is seen; each ' +
              'row to its largest weight.',
      );
    }
    const tells = await tellsOf(before);
    if (isOver()) return [];
    heads.sort((a, b) => b.telling - a.telling || a.layer - b.layer || a.head - b.head);
    if (!keep) {
      [this.heads, this.tells, this.of, this.arranged] = [heads, tells, before, ''];
    }
    return heads;
  }

  /**
   * arrange groups the heads: the most telling ones on the chosen token of a layer, and the others by role. The focus
   * stays.
   * @param {Pass} pass
   * @param {number} layer
   * @param {number} q
   */
  arrange(pass, layer, q) {
    const { tells } = this;
    const { queries } = pass.layers[layer];
    const arranged = `${queries} ${q}`;
    if (pass !== this.of) fill(this.groups[0].head, 'Tell most'); // about the text before it was changed
    if (!tells || pass !== this.of || this.arranged === arranged) return;
    this.arranged = arranged;
    const onToken = (/** @type {Known} */ x) =>
      pass.layers[x.layer].queries === queries ? told(pass, tells, x.layer, x.head, q) : 0;
    const order = this.heads.map((x) => ({ ...x, told: onToken(x) })).sort((a, b) => b.told - a.told);
    const most = order.slice(0, mostTold).filter((x) => x.told > 0);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    for (const { role, name, head, grid, element } of this.groups) {
      const of = role === 'told' ? most : order.filter((x) => x.role === role && !most.includes(x));
      grid.append(...of.map((x) => this.buttons[x.layer][x.head]));
      for (const x of of) this.buttons[x.layer][x.head].title = roles.find(([r]) => r === x.role)?.[1] ?? '';
      element.hidden = of.length === 0;
      const token = pass.queries(layer)[q];
      fill(head, role === 'told' ? `Tell most about “${token ? shown(token) : ''}”` : `${name} · ${of.length}`);
    }
    if (focused !== document.activeElement && this.list.contains(focused)) focused?.focus();
    this.mark();
  }

  /**
   * choose marks a head, and shows the factors of those that are changed.
   * @param {number} layer
   * @param {import('./choose.js').HeadName} head
   * @param {import('./api.js').Factor[]} factors
   */
  choose(layer, head, factors) {
    this.mark = () => this.choose(layer, head, factors);
    for (const b of this.buttons.flat()) {
      const [l, n] = [Number(b.dataset.layer), Number(b.dataset.head)];
      const is = l === layer && n === head;
      b.setAttribute('aria-pressed', String(is));
      b.tabIndex = is ? 0 : -1;
      const group = is && b.closest('details');
      if (group) group.open = true;
      const factor = factors.find((f) => f.layer === l && f.head === n)?.factor;
      b.classList.toggle('off', factor === 0);
      const name = all(b, '.headname')[0];
      name.dataset.name = factor === undefined ? `${l} · ${n}` : `${l}·${n} × ${factor}`;
    }
    if (head === 'mean' || !this.buttons[layer]?.[head]) this.buttons[0]?.[0]?.setAttribute('tabindex', '0');
  }
}
