// Arcs from a token to those that it looks at.

/** @typedef {{ x: number, top: number, bottom: number }} Box the place of a token in the picture */

/** box returns the place of a token. */
export function box(/** @type {HTMLElement} */ e) {
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
export function arc(from, to, down, highest) {
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
  const aside = down ? 3 : 0; // beside that of now
  return `M${from.x + aside} ${y1}C${from.x + aside} ${y1 - bend} ${to.x + aside} ${y2 + bend} ${to.x + aside} ${y2}`;
}
