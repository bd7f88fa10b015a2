// All heads of a model as small pictures, with a row for each layer. The arrow keys move between them.
import { layerName } from './choose.js';
import { button, h } from './dom.js';
import { arrows } from './keys.js';
import { Thumbnails } from './thumbnails.js';

/** @typedef {import('./choose.js').HeadName} HeadName */
/** @typedef {import('./pass.js').Pass} Pass */

/** HeadGrid shows the heads of a pass; onchoose(layer, head) is called for one, or the mean of a layer. */
export class HeadGrid extends Thumbnails {
  /**
   * @param {Pass} pass
   * @param {(layer: number, head: HeadName) => void} onchoose
   */
  constructor(pass, onchoose) {
    super(onchoose);
    this.make(pass.layers.map((layer) => layer.heads));
    const means = pass.layers.map((layer, i) =>
      layer.heads < 2
        ? null
        : button('mean', () => onchoose(i, 'mean'), {
            class: 'mean',
            'data-layer': i,
            'data-head': 'mean',
            'aria-label': `mean of the heads of layer ${i}`,
          }),
    );
    this.all = [...this.buttons.flat(), ...means.filter((b) => b !== null)];
    const row = (/** @type {HTMLButtonElement[]} */ thumbnails, /** @type {number} */ i) => {
      const name = h('span', { class: 'rowname', title: pass.layers[i].path }, layerName(pass.layers[i], i));
      return h('div', { class: 'gridrow' }, name, thumbnails, means[i]);
    };
    this.element = h(
      'div',
      {
        class: pass.sequences.length > 1 ? 'grid named' : 'grid',
        role: 'group',
        tabindex: 0,
        'aria-label': 'layers and heads',
      },
      this.buttons.map(row),
    );
    this.element.addEventListener('keydown', (e) => this.key(e));
  }

  key(/** @type {KeyboardEvent} */ e) {
    const from = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest('.thumbnail'));
    const move = arrows[e.key];
    if (!move || !from) return;
    e.preventDefault();
    const to = this.buttons[Number(from.dataset.layer) + move[0]]?.[Number(from.dataset.head) + move[1]];
    to?.focus();
    to?.click();
  }

  /** reveal scrolls the grid, and nothing else, to a button. */
  reveal(/** @type {HTMLElement} */ b) {
    const [box, all] = [b.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (box.top < all.top || box.bottom > all.bottom) this.element.scrollTop += box.top - all.top - all.height / 2;
  }

  /**
   * choose marks a head.
   * @param {number} layer
   * @param {HeadName} head
   */
  choose(layer, head) {
    for (const b of this.all) {
      const is = Number(b.dataset.layer) === layer && b.dataset.head === String(head);
      b.setAttribute('aria-pressed', String(is));
      if (is) this.reveal(b);
    }
  }
}
