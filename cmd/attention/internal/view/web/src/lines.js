// Weights as lines between the tokens of the queries and of the keys.
import { h, number, shown, svg } from './dom.js';
import { Scale } from './colours.js';

/** most tokens of a side that lines are drawn for */
export const mostLines = 96;

/** lines draws the weights of a head; onselect(q, k) is called with the pair that is pointed at. */
export function lines(head, rows, cols, label, onselect) {
  const step = 18;
  const wide = (tokens) => Math.min(140, 8 * Math.max(...tokens.map((t) => shown(t).length))); // of tokens of 13 px
  const left = Math.max(40, 12 + wide(rows));
  const right = left + 200;
  const width = right + Math.max(40, wide(cols)) + 60;
  const height = step * Math.max(rows.length, cols.length) + 30;
  const y = (i) => 30 + step * i;
  const root = svg('svg',
    { viewBox: `0 0 ${width} ${height}`, width, class: 'lines', role: 'group', 'aria-label': label });
  root.append(svg('text', { x: left, y: 12, 'text-anchor': 'end', class: 'label' }, 'query'),
    svg('text', { x: right, y: 12, class: 'label' }, 'key'));
  const row = new Float32Array(cols.length);
  const groups = rows.map((token, t) => {
    const g = svg('g', { class: 'query', 'data-q': t });
    head.row(t, 0, cols.length, row);
    let best = -1;
    for (let s = 0; s < cols.length; s++) {
      const w = row[s];
      if (!(w > 0.01)) continue; // thinner than can be seen
      if (best < 0 || w > row[best]) best = s;
      g.append(svg('line', { x1: left + 4, y1: y(t) - 4, x2: right - 4, y2: y(s) - 4, 'stroke-width': 0.5 + 3 * w,
        'stroke-opacity': Math.max(0.08, w).toFixed(3) }));
    }
    const text = svg('text', { x: left, y: y(t), 'text-anchor': 'end', tabindex: 0, role: 'button', class: 'token',
      'aria-label': best < 0 ? `query ${t} ${shown(token)} looks at nothing` :
        `query ${t} ${shown(token)} looks most at key ${best} ${shown(cols[best])}, weight ${number(row[best])}` },
    shown(token));
    const focus = () => {
      root.classList.add('one');
      groups.forEach((o, i) => o.classList.toggle('shown', i === t));
      marks(t);
    };
    text.addEventListener('pointerenter', focus);
    text.addEventListener('focus', focus);
    const choose = () => onselect(t, Math.max(best, 0));
    text.addEventListener('click', choose);
    text.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' && e.key !== ' ') return;
      e.preventDefault();
      choose();
    });
    g.append(text);
    return g;
  });
  const keys = cols.map((token, s) => {
    const mark = svg('rect', { x: right - 2, y: y(s) - step + 5, width: width - right - 56, height: step - 1,
      fill: 'none' });
    const weight = svg('text', { x: width - 4, y: y(s), 'text-anchor': 'end', class: 'label' });
    root.append(mark,
      svg('text', { x: right, y: y(s), class: 'token', 'pointer-events': 'none' }, shown(token)), weight);
    return { mark, weight };
  });
  const scale = new Scale(1);
  const marks = (t) => {
    head.row(t, 0, cols.length, row);
    keys.forEach(({ mark, weight }, s) => {
      mark.setAttribute('fill', row[s] > 0.01 ? scale.css(row[s]) : 'none');
      mark.setAttribute('fill-opacity', 0.25);
      weight.textContent = Number.isNaN(row[s]) ? 'hidden' : number(row[s], 2);
    });
  };
  root.append(...groups);
  root.addEventListener('pointerleave', () => {
    root.classList.remove('one');
    for (const { mark, weight } of keys) {
      mark.setAttribute('fill', 'none');
      weight.textContent = '';
    }
  });
  return h('div', { class: 'scroll' }, root);
}
