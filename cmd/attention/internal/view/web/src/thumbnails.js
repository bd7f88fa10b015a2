// Small pictures of heads.
import { Scale, shares } from './colours.js';
import { h, one } from './dom.js';

/** @typedef {{ rows: number, cols: number, thumbnails: Float32Array }} Pictures of the heads of a layer */

/** Thumbnails has a button with a small picture of each head; onchoose(layer, head) is called for a clicked one. */
export class Thumbnails {
  /**
   * @param {(layer: number, head: number) => void} onchoose
   * @param {(layer: number, head: number) => Node[]} below is what a button has below the picture
   */
  constructor(onchoose, below = () => []) {
    /** @type {HTMLButtonElement[][]} the heads' buttons by their layers */
    this.buttons = [];
    this.make = (/** @type {number[]} */ heads) => {
      const one = (/** @type {number} */ layer, /** @type {number} */ head) =>
        h(
          'button',
          {
            type: 'button',
            class: 'thumbnail',
            'aria-label': `layer ${layer} head ${head}`,
            'data-layer': layer,
            'data-head': head,
            onclick: () => onchoose(layer, head),
          },
          h('canvas', { width: 48, height: 48, 'aria-hidden': 'true' }),
          below(layer, head),
        );
      this.buttons = heads.map((n, layer) => Array.from({ length: n }, (_, head) => one(layer, head)));
    };
  }

  /**
   * paint paints the available pictures of layers, or of one layer with only. Each row is scaled by its largest weight.
   * @param {(Pictures | null | undefined)[]} all
   * @param {number} [only]
   */
  paint(all, only) {
    all.forEach((pictures, layer) => {
      if (!pictures || (only !== undefined && only !== layer)) return;
      const { rows, cols, thumbnails } = pictures;
      this.buttons[layer].forEach((b, head) => {
        const weights = thumbnails.subarray(head * rows * cols, (head + 1) * rows * cols);
        new Scale(1).draw(one(b, 'canvas'), shares(weights, cols), rows, cols);
      });
    });
  }
}
