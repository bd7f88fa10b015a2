// Small pictures of heads.
import { Scale, shares } from './colours.js';
import { h, one } from './dom.js';

/**
 * thumbnail is a button with the picture of a head.
 * @param {number} layer
 * @param {number} head
 * @param {() => void} onclick
 * @param {...Node} below
 */
export function thumbnail(layer, head, onclick, ...below) {
  return h(
    'button',
    {
      type: 'button',
      class: 'thumbnail',
      'aria-label': `layer ${layer} head ${head}`,
      'data-layer': layer,
      'data-head': head,
      onclick,
    },
    h('canvas', { width: 48, height: 48, 'aria-hidden': 'true' }),
    below,
  );
}

/**
 * paintThumbnail paints a head of a layer's pictures, each row scaled by its largest weight.
 * @param {Element} button
 * @param {{ rows: number, cols: number, thumbnails: Float32Array }} pictures
 * @param {number} head
 */
export function paintThumbnail(button, { rows, cols, thumbnails }, head) {
  const weights = thumbnails.subarray(head * rows * cols, (head + 1) * rows * cols);
  new Scale(1).draw(one(button, 'canvas'), shares(weights, cols), rows, cols);
}
