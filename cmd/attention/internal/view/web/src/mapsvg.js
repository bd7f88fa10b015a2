// A whole map as SVG, to be saved.
import { nameOf } from './axes.js';
import { hidden } from './colours.js';
import { h, svg } from './dom.js';

/** @typedef {import('./colours.js').Scale} Scale */
/** @typedef {import('./dom.js').Named} Named */
/** @typedef {import('./tiles.js').Field} Field */

const mostCells = 1 << 14; // largest number of cells drawn as rectangles; more cells become one picture

/**
 * mapSVG returns a field as SVG, with the names of its rows and columns in the margins left and top.
 * @param {Field} field
 * @param {Scale} scale
 * @param {{ rows: Named[], cols: Named[] }} names
 * @param {number} left
 * @param {number} top
 */
export function mapSVG(field, scale, { rows, cols }, left, top) {
  const { T, S } = field;
  const many = T * S > mostCells;
  const cell = many ? Math.max(1, Math.round(600 / Math.max(T, S))) : 18;
  const root = svg('svg', { viewBox: `0 0 ${left + S * cell} ${top + T * cell}`, class: 'offscreen' });
  const image = many ? new ImageData(S, T) : null;
  const pixels = image && new Uint32Array(image.data.buffer);
  const row = new Float32Array(S);
  for (let t = 0; t < T; t++) {
    field.row(t, 0, S, row);
    for (let s = 0; s < S; s++) {
      const colour = Number.isNaN(row[s]) ? hidden() : scale.colour(scale.part(row[s], field, t));
      if (pixels) {
        pixels[t * S + s] = colour.word;
        continue;
      }
      const [x, y] = [left + s * cell, top + t * cell];
      root.append(svg('rect', { x, y, width: cell, height: cell, fill: colour.css }));
    }
  }
  if (image) root.append(picture(image, { x: left, y: top, width: S * cell, height: T * cell }));
  const step = Math.max(1, Math.ceil(13 / cell));
  for (let t = 0; t < T; t += step) {
    root.append(svg('text', { x: left - 4, y: top + (t + 0.7) * cell, 'text-anchor': 'end' }, nameOf(rows[t])));
  }
  for (let s = 0; s < S; s += step) {
    const transform = `translate(${left + (s + 0.7) * cell},${top - 4}) rotate(-90)`;
    root.append(svg('text', { transform }, nameOf(cols[s])));
  }
  document.body.append(root); // needed for its computed style
  setTimeout(() => root.remove());
  return root;
}

/**
 * picture returns pixels as an element of an SVG.
 * @param {ImageData} image
 * @param {Record<string, number>} place
 */
function picture(image, place) {
  const canvas = h('canvas', { width: image.width, height: image.height });
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  return svg('image', { ...place, href: canvas.toDataURL(), preserveAspectRatio: 'none' });
}
