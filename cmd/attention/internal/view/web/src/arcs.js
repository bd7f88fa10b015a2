// Arcs from a token to the tokens that it attends to, and the largest weights.
import { percent, svg } from './dom.js';
import { strongest } from './sight.js';

/** @typedef {import('./sight.js').Sight} Sight */
/** @typedef {{ x: number, top: number, bottom: number }} Box the place of a token in the picture */

const labels = 3; // of the largest weights as percentages

/** box returns the place of a token. */
function box(/** @type {HTMLElement} */ e) {
  const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = e;
  return { x: left + width / 2, top, bottom: top + height };
}

/**
 * arc returns the path from the box of a query to that of a key, above them or, down, below them, not too high.
 * @param {Box} from
 * @param {Box} to
 * @param {boolean} down
 * @param {number} highest
 */
function arc(from, to, down, highest) {
  if (Math.abs(from.top - to.top) > 4) return between(from, to, down);
  const edge = down ? from.bottom : from.top;
  const sign = down ? 1 : -1;
  if (from.x === to.x) {
    const top = edge + sign * 24;
    return `M${from.x - 5} ${edge}C${from.x - 14} ${top} ${from.x + 14} ${top} ${from.x + 5} ${edge}`;
  }
  const rise = edge + sign * Math.min(highest, 16 + 0.3 * Math.abs(from.x - to.x));
  return `M${from.x} ${edge}C${from.x} ${rise} ${to.x} ${rise} ${to.x} ${edge}`;
}

/**
 * between returns the path between boxes of two lines.
 * @param {Box} from
 * @param {Box} to
 * @param {boolean} down
 */
function between(from, to, down) {
  const up = to.top < from.top;
  const [y1, y2] = up ? [from.top, to.bottom] : [from.bottom, to.top];
  const bend = Math.max(16, Math.abs(y1 - y2) / 2) * (up ? 1 : -1);
  const aside = down ? 3 : 0; // beside the arc of the present weight
  return `M${from.x + aside} ${y1}C${from.x + aside} ${y1 - bend} ${to.x + aside} ${y2 + bend} ${to.x + aside} ${y2}`;
}

/**
 * arcsOf returns arcs from a token to its keys, the strongest last. The arcs are above the tokens or, with down, below
 * them. Their width is proportional to the weight, so that 64 equal weights give hairlines.
 * @param {Sight} sight
 * @param {HTMLElement} from
 * @param {HTMLElement[]} keys
 * @param {boolean} down
 * @param {number} highest
 */
export function arcsOf(sight, from, keys, down, highest) {
  return strongest(sight)
    .filter((k) => keys[k])
    .reverse()
    .map((k) => {
      const w = Math.min(1, Math.abs(sight.weights[k])); // in linear attention some weights are below 0 or above 1
      return svg('path', {
        d: arc(box(from), box(keys[k]), down, highest),
        class: down ? 'before' : 'arc',
        'data-k': k,
        'stroke-width': ((0.6 + 9 * w ** 0.75) * (keys[k] === from ? 0.4 : 1)).toFixed(2), // a loop is small
        'stroke-opacity': (0.15 + 0.75 * Math.min(1, 2 * w)).toFixed(2),
      });
    });
}

/**
 * labelsOf returns the largest weights as percentages, above their keys or below them. Narrow keys beside a larger one
 * have no room for a label.
 * @param {Sight} sight
 * @param {HTMLElement[]} keys
 * @param {boolean} above
 */
export function labelsOf(sight, keys, above) {
  /** @type {Set<number>} */
  const found = new Set();
  for (const k of strongest(sight, labels).filter((k) => keys[k])) {
    const isNarrow = keys[k].offsetWidth < 34;
    if (sight.weights[k] >= 0.01 && !(isNarrow && (found.has(k - 1) || found.has(k + 1)))) found.add(k);
  }
  return [...found].map((k) => {
    const { x, top, bottom } = box(keys[k]);
    return svg('text', { x, y: above ? top - 3 : bottom + 10 }, percent(sight.weights[k], 2));
  });
}
