// The picture of a model that squeezes a string into one vector.
import { Scale } from './colours.js';
import { svg } from './dom.js';

/**
 * funnel draws lines from each letter of the string to one vector, and from that vector to each written letter.
 * @param {import('./rival.js').Rival} rival
 * @param {number} at
 * @param {number} above
 * @param {number} below
 */
export function funnel(rival, at, above, below) {
  const n = rival.text.length;
  const width = Math.min(rival.width - 8, 4 * rival.state.length, rival.step * Math.max(n, 6));
  const left = 4 + Math.max(0, (rival.step * n - width) / 2);
  const middle = (above + below) / 2 - 8;
  const cell = width / rival.state.length;
  const scale = new Scale(1, true);
  const out = [];
  for (let s = 0; s < n; s++) {
    out.push(
      svg('line', {
        x1: rival.x(s),
        y1: above + 6,
        x2: left + (width * (s + 0.5)) / n,
        y2: middle,
        class: 'forward',
        'stroke-opacity': 0.35,
      }),
    );
  }
  for (let t = 0; t < at; t++) {
    const last = t === at - 1 && at < n;
    out.push(
      svg('line', {
        x1: rival.x(t),
        y1: below - 14,
        x2: left + width / 2,
        y2: middle + 14,
        class: last ? 'pass now' : 'forward',
        'stroke-opacity': last ? 1 : 0.2,
      }),
    );
  }
  rival.state.forEach((v, i) =>
    out.push(svg('rect', { x: left + i * cell, y: middle, width: cell + 0.3, height: 14, fill: scale.colour(v).css })),
  );
  out.push(
    svg('rect', { x: left, y: middle, width, height: 14, class: 'vector', fill: 'none' }),
    svg(
      'text',
      { x: left + width + 8, y: middle + 11, class: 'quiet' },
      left + width + 90 < rival.width ? `${rival.state.length} numbers` : '',
    ),
  );
  return out;
}
