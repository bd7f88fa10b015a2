// Curves over the steps of a run.
import { axisBottom, axisLeft, extent, format, line, scaleLinear, scaleLog, select } from './d3.js';
import { fill, h, number, svg } from './dom.js';
import { saveMenu } from './save.js';
import { drawn, last, nearest } from './series.js';

/** @typedef {import('./series.js').Curve} Curve */
/** @typedef {import('./series.js').Series} Series */
/**
 * Options are: x, what the numbers from left to right are (steps without it); logX; mark, one of them that is marked;
 * widest, in pixels; log, format of the numbers, the text of an empty chart, and tools above it.
 * @typedef {{ x?: string, logX?: boolean, mark?: number, widest?: number, log?: boolean, format?: string,
 *   empty?: string, tools?: Node }} Options
 */

const inks = ['var(--accent)', 'var(--wrong)', 'var(--third)', 'var(--fourth)', 'var(--faint)'];
const dashes = ['', '6 3', '2 2', '8 3 2 3', '1 3'];

/** stroke is the ink and the dashes of the i-th series. */
export function stroke(/** @type {number} */ i) {
  return { ink: inks[i % inks.length], dash: dashes[i % dashes.length] };
}

/** Curves is a chart of series. */
export class Curves {
  /**
   * @param {string} title
   * @param {Options} options
   */
  constructor(title, options = {}) {
    this.title = title;
    this.options = options;
    /** @type {Curve[]} */
    this.series = [];
    /** @type {Curve[] | null} */
    this.drawn = null;
    this.width = 0;
    /** @type {SVGSVGElement | null} */
    this.svg = null;
    this.readout = h('p', { class: 'readout small', 'aria-live': 'off' });
    this.place = h('div', {});
    const name = () => title.replaceAll(/\W+/g, '-');
    this.element = h(
      'section',
      { class: 'curves', 'aria-label': title },
      h(
        'h3',
        {},
        title,
        ' ',
        saveMenu(
          name,
          () => this.svg,
          () => this.table(),
        ),
      ),
      options.tools,
      this.place,
      this.readout,
    );
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.place);
  }

  show(/** @type {Series[]} */ series) {
    this.series = series
      .map((s) => ({ ...s, points: (s.points ?? []).map((p) => p.map((v) => v ?? NaN)) }))
      .filter((s) => s.level !== undefined || s.points.length);
    this.draw();
  }

  draw() {
    const width = Math.max(280, Math.min(this.options.widest ?? 640, this.place.clientWidth || 420));
    const [height, left, right, top, bottom] = [220, 58, 18, 16, 26];
    if (this.width === width && this.drawn === this.series) return;
    this.width = width;
    this.drawn = this.series;
    const { series, options } = this;
    if (!series.length) {
      fill(this.place, h('p', { class: 'note' }, options.empty ?? 'Nothing is recorded yet.'));
      return;
    }
    const all = series.flatMap((s) => s.points);
    const levels = series.flatMap((s) => s.level ?? []);
    const [first = 0, end = 1] = extent(all, (p) => p[0]);
    const [low = 0, high = 0] = extent([...all.map((p) => p[1]), ...levels].filter(Number.isFinite));
    const log = options.log && low > 0;
    const around = log ? [low / 2, low * 2] : [low - 1, low + 1]; // of one number
    const x = (options.logX ? scaleLog : scaleLinear)([first, Math.max(end, first + 1)], [left, width - right]);
    const y = (log ? scaleLog : scaleLinear)(low === high ? around : [low, high], [height - bottom, top]).nice();
    const lasts = series.map((s) => `${s.name} ${number(last(s))}`).join(', ');
    const root = svg('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      class: 'chart',
      role: 'img',
      'aria-label': `${this.title} over ${all.length} points: ${lasts}`,
    });
    /** @type {import('d3-shape').Line<number[]>} */
    const path = line();
    path.x((p) => x(p[0])).y((p) => y(p[1]));
    path.defined((p) => Number.isFinite(p[1]) && (!log || p[1] > 0));
    const order = [...series.entries()].sort((a, b) => Number(b[1].quiet ?? false) - Number(a[1].quiet ?? false));
    order.forEach(([i, s]) => {
      // the named ones lie on top
      const { level } = s;
      const points = level !== undefined ? x.domain().map((v) => [v, level]) : drawn(s.points, x);
      root.append(
        svg('path', {
          d: path(points),
          class: 'curve',
          fill: 'none',
          stroke: s.ink ?? inks[i % inks.length],
          'stroke-width': s.wide ?? 1.6,
          'stroke-dasharray': s.dash ?? dashes[i % dashes.length],
          'data-series': s.name,
        }),
      );
      if (s.points.length === 1) {
        const dot = svg('circle', { cx: x(s.points[0][0]), cy: y(s.points[0][1]), r: 2.5, class: 'plus' });
        dot.style.fill = s.ink ?? inks[i % inks.length];
        root.append(dot);
      }
    });
    const bottomAxis = svg('g', { transform: `translate(0,${height - bottom})` });
    select(bottomAxis).call(
      axisBottom(x)
        .tickValues(options.logX ? all.map((p) => p[0]) : x.ticks(6).filter(Number.isInteger))
        .tickFormat(format('~s')),
    );
    root.append(svg('text', { x: left - 10, y: height - 8, 'text-anchor': 'end', class: 'axisname' }, this.x()));
    const leftAxis = svg('g', { transform: `translate(${left},0)` });
    select(leftAxis).call(axisLeft(y).ticks(5, options.format ?? '.4~g'));
    const rule = svg('line', { y1: top, y2: height - bottom, class: 'rule', visibility: 'hidden' });
    root.append(bottomAxis, leftAxis, rule);
    if (options.mark !== undefined && options.mark >= first) {
      const at = x(options.mark);
      root.append(svg('line', { x1: at, x2: at, y1: top, y2: height - bottom, class: 'rule' }));
    }
    root.addEventListener('pointermove', (e) => {
      const box = root.getBoundingClientRect();
      const at = x.invert(((e.clientX - box.left) * width) / box.width);
      rule.setAttribute('x1', String(x(at)));
      rule.setAttribute('x2', String(x(at)));
      rule.setAttribute('visibility', 'visible');
      this.read(at);
    });
    root.addEventListener('pointerleave', () => {
      rule.setAttribute('visibility', 'hidden');
      this.read();
    });
    this.svg = root;
    fill(this.place, root);
    this.read();
  }

  /** x is what the numbers from left to right are. */
  x() {
    return this.options.x ?? 'step';
  }

  /** read writes the numbers at a step as a legend; without a step it uses the marked one, or else the last. */
  read(at = this.options.mark) {
    const few = this.series.filter((s) => !s.quiet);
    const found = few.map((s) => (s.level !== undefined ? [null, s.level] : nearest(s.points, at)));
    const step = found.find((p) => p && p[0] !== null)?.[0];
    fill(
      this.readout,
      step === undefined ? null : h('span', { class: 'key note' }, `${this.x()} ${step}`),
      few.map((s, i) => {
        const p = found[i];
        return h(
          'span',
          { class: 'key' },
          svg(
            'svg',
            { viewBox: '0 0 24 8', width: 24, height: 8, 'aria-hidden': 'true' },
            svg('line', {
              x1: 0,
              x2: 24,
              y1: 4,
              y2: 4,
              stroke: s.ink ?? inks[i % inks.length],
              'stroke-width': 2,
              'stroke-dasharray': s.dash ?? dashes[i % dashes.length],
            }),
          ),
          ` ${s.name} ${number(p?.[1])}${p && p[0] !== null && p[0] !== step ? ` (${this.x()} ${p[0]})` : ''}`,
        );
      }),
    );
  }

  table() {
    const steps = [...new Set(this.series.flatMap((s) => s.points.map((p) => p[0])))].sort((a, b) => a - b);
    const columns = this.series.map(({ level, points }) => {
      const known = new Map(points.map(([x, y]) => [x, y]));
      return (/** @type {number} */ x) => level ?? known.get(x);
    });
    return [[this.x(), ...this.series.map((s) => s.name)], ...steps.map((x) => [x, ...columns.map((of) => of(x))])];
  }

  close() {
    this.resized.disconnect();
  }
}
