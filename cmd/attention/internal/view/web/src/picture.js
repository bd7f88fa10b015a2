// The common part of pictures: the legend of a scale.
import { axisBottom, scaleLinear, select } from './d3.js';
import { svg } from './dom.js';

/** @type {Set<() => void>} functions that paint the newest legends */
const paints = new Set();
const mostLegends = 24; // more legends than a page has

addEventListener('theme', () => {
  for (const paint of paints) paint();
});

/**
 * legend draws a scale with numbers or other texts at its ends, and the colour of masked cells. A scale of rows ends at
 * the largest weight of a row.
 * @param {import('./colours.js').Scale} scale
 * @param {string} text
 * @param {boolean} masked
 * @param {string[] | null} ends
 */
export function legend(scale, text, masked = true, ends = rowEnds(scale)) {
  const width = 220;
  const low = scale.signed ? -scale.most : 0;
  const [from, to] = ends ?? [low, scale.most];
  const steps = 64;
  const bars = Array.from({ length: steps }, (_, i) =>
    svg('rect', { x: 10 + (i * width) / steps, y: 14, width: width / steps + 0.5, height: 10 }),
  );
  const paint = () =>
    bars.forEach((bar, i) => {
      bar.setAttribute('fill', scale.colour(low + ((scale.most - low) * (i + 0.5)) / steps).css);
    });
  paint();
  paints.add(paint);
  if (paints.size > mostLegends) paints.delete([...paints][0]);
  const e = svg(
    'svg',
    {
      viewBox: '0 0 330 46',
      width: 330,
      height: 46,
      class: 'legend',
      'shape-rendering': 'crispEdges',
      role: 'img',
      'aria-label': `${text}, from ${from} to ${to}${masked ? '; grey is hidden by the mask' : ''}`,
    },
    svg('text', { x: 10, y: 10, class: 'label' }, text),
    bars,
  );
  if (ends) {
    e.append(
      svg('text', { x: 10, y: 36, class: 'label' }, ends[0]),
      svg('text', { x: 10 + width, y: 36, 'text-anchor': 'end', class: 'label' }, ends[1]),
    );
  } else {
    const axis = svg('g', { transform: 'translate(0,24)' });
    const bottom = axisBottom(scaleLinear([low, scale.most], [10, 10 + width]));
    select(axis).call(bottom.ticks(scale.signed ? 4 : 5).tickSize(4));
    e.append(axis);
  }
  if (masked) {
    e.append(
      svg('rect', { x: 252, y: 14, width: 14, height: 10, fill: 'var(--hidden)' }),
      svg('text', { x: 270, y: 23, class: 'label' }, 'hidden'),
    );
  }
  return e;
}

/** rowEnds are the ends of a scale of rows. */
function rowEnds(/** @type {import('./colours.js').Scale} */ { perRow, signed }) {
  return perRow ? [signed ? '−largest' : '0', 'largest of its row'] : null;
}
