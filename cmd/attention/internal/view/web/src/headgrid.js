// All heads of a model as small pictures, a row of them for each layer, which the arrow keys walk.
import { layerName } from './choose.js';
import { button, h } from './dom.js';
import { arrows } from './keys.js';
import { paintThumbnail, thumbnail } from './thumbnails.js';

/** @typedef {import('./choose.js').HeadName} HeadName */
/** @typedef {import('./look.js').Look} Look */

/** HeadGrid shows the heads of a look; onchoose(layer, head) is called for one, or the mean of a layer. */
export class HeadGrid {
  /**
   * @param {Look} look
   * @param {(layer: number, head: HeadName) => void} onchoose
   */
  constructor(look, onchoose) {
    this.thumbnails = look.layers.map((layer, i) =>
      Array.from({ length: layer.heads }, (_, head) => thumbnail(i, head, () => onchoose(i, head))),
    );
    const means = look.layers.map((layer, i) =>
      layer.heads < 2
        ? null
        : button('mean', () => onchoose(i, 'mean'), {
            class: 'mean',
            'data-layer': i,
            'data-head': 'mean',
            'aria-label': `mean of the heads of layer ${i}`,
          }),
    );
    this.buttons = [...this.thumbnails.flat(), ...means.filter((b) => b !== null)];
    const row = (/** @type {HTMLButtonElement[]} */ thumbnails, /** @type {number} */ i) => {
      const name = h('span', { class: 'rowname', title: look.layers[i].path }, layerName(look.layers[i], i));
      return h('div', { class: 'gridrow' }, name, thumbnails, means[i]);
    };
    this.element = h(
      'div',
      {
        class: look.sequences.length > 1 ? 'grid named' : 'grid',
        role: 'group',
        tabindex: 0,
        'aria-label': 'layers and heads',
      },
      this.thumbnails.map(row),
    );
    this.element.addEventListener('keydown', (e) => this.key(e));
  }

  key(/** @type {KeyboardEvent} */ e) {
    const from = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest('.thumbnail'));
    const move = arrows[e.key];
    if (!move || !from) return;
    e.preventDefault();
    const to = this.thumbnails[Number(from.dataset.layer) + move[0]]?.[Number(from.dataset.head) + move[1]];
    to?.focus();
    to?.click();
  }

  /**
   * choose marks a head.
   * @param {number} layer
   * @param {HeadName} head
   */
  choose(layer, head) {
    for (const b of this.buttons) {
      const is = Number(b.dataset.layer) === layer && b.dataset.head === String(head);
      b.setAttribute('aria-pressed', String(is));
    }
  }

  /**
   * paint paints the pictures of a look that are there: of a layer, of all without one.
   * @param {Look} look
   * @param {number} [only]
   */
  paint(look, only) {
    look.layers.forEach(({ pictures }, i) => {
      if (!pictures || (only !== undefined && only !== i)) return;
      this.thumbnails[i].forEach((b, head) => paintThumbnail(b, pictures, head));
    });
  }
}
