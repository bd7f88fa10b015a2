// All heads of a model as small pictures, the most telling first.
import { all, fill, h, rove } from './dom.js';
import { Thumbnails } from './thumbnails.js';

/** @typedef {import('./pass.js').Pass} Pass */

/** Gallery shows the heads of a pass; onchoose(layer, head) is called for the one that is clicked. */
export class Gallery extends Thumbnails {
  /** @param {(layer: number, head: number) => void} onchoose */
  constructor(onchoose) {
    super(onchoose, (layer, head) => [
      h('span', { class: 'headname', 'aria-hidden': 'true', 'data-name': `${layer} · ${head}` }),
    ]);
    this.note = h('p', { class: 'note' });
    this.list = h('div', { class: 'gallery', role: 'group', 'aria-label': 'heads, as layer and head' });
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
    rove(this.list, '.thumbnail');
  }

  /** build makes a button of each head, if these are others than before. */
  build(/** @type {Pass} */ pass) {
    const heads = pass.layers.map((l) => l.heads);
    if (String(heads) === String(this.buttons.map((row) => row.length))) return;
    this.make(heads);
    fill(this.list, this.buttons.flat());
    this.mark();
  }

  /**
   * show shows the heads of a pass after changes, and returns those before them, the most telling first. It stops as
   * soon as isOver. The order of pictures stays with keep.
   * @param {Pass} before
   * @param {Pass} after
   * @param {boolean} keep
   * @param {() => boolean} isOver
   * @returns {Promise<{ layer: number, head: number }[]>}
   */
  async show(before, after, keep, isOver) {
    this.build(before);
    /** @type {{ layer: number, head: number, telling: number }[]} */
    const heads = [];
    this.pictures = [];
    const sum = this.buttons.flat().length;
    for (let layer = 0; layer < before.layers.length; layer++) {
      const [were, are] = await Promise.all([before.thumbnails(layer), after.thumbnails(layer)]);
      if (isOver()) return [];
      this.pictures[layer] = are;
      this.paint(this.pictures, layer);
      were.statistics.forEach((s, head) => heads.push({ layer, head, telling: s.telling ?? -1 }));
      fill(
        this.note,
        heads.length < sum
          ? `${heads.length} of ${sum} are read; then the most telling comes first.`
          : 'As layer · head, the most telling first: those that pick out few tokens, not the first one or ' +
              'their own. A row is a token that looks, a column one that is seen; each row to its largest weight.',
      );
    }
    heads.sort((a, b) => b.telling - a.telling || a.layer - b.layer || a.head - b.head);
    if (!keep) this.order(heads);
    return heads;
  }

  /** order brings the heads into an order, and keeps the focus. */
  order(/** @type {{ layer: number, head: number }[]} */ heads) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    this.list.append(...heads.map(({ layer, head }) => this.buttons[layer][head]));
    if (focused !== document.activeElement && this.list.contains(focused)) focused?.focus();
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
      const factor = factors.find((f) => f.layer === l && f.head === n)?.factor;
      b.classList.toggle('off', factor === 0);
      const name = all(b, '.headname')[0];
      name.dataset.name = factor === undefined ? `${l} · ${n}` : `${l}·${n} × ${factor}`;
    }
    if (head === 'mean' || !this.buttons[layer]?.[head]) this.buttons[0]?.[0]?.setAttribute('tabindex', '0');
  }
}
