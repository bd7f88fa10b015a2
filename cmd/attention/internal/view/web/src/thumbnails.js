// Small pictures of heads.
import { largestOf, Scale } from './colours.js';
import { h } from './dom.js';

/** thumbnail is a button with the picture of a head. */
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
  const canvas = button.querySelector('canvas');
  canvas.width = cols;
  canvas.height = rows;
  const c = canvas.getContext('2d');
  const image = c.createImageData(cols, rows);
  const shares = new Float32Array(rows * cols);
  for (let t = 0; t < rows; t++) {
    const row = thumbnails.subarray((head * rows + t) * cols, (head * rows + t + 1) * cols);
    const most = largestOf(row) || 1;
    row.forEach((v, s) => {
      shares[t * cols + s] = v < 0 ? NaN : v / most;
    });
  }
  new Scale(1).paint(shares, image);
  c.putImageData(image, 0, 0);
}
