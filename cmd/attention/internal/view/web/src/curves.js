// Curves over the steps of a run.
import { axisBottom, axisLeft, bisector, extent, format, line, scaleLinear, scaleLog, select } from './d3.js';
import { fill, h, number, svg } from './dom.js';
import { saveMenu } from './save.js';

const inks = ['var(--accent)', 'var(--wrong)', 'var(--third)', 'var(--fourth)', 'var(--faint)'];
const dashes = ['', '6 3', '2 2', '8 3 2 3', '1 3'];

/** stroke is the ink and the dashes of the i-th series. */
export function stroke(i) {
  return { ink: inks[i % inks.length], dash: dashes[i % dashes.length] };
}

/**
 * Curves is a chart of series: {name, points: [[x, y]…], level} — a level is one number for all steps. Its options:
 * x, what the numbers from left to right are (steps without it); logX; mark, one of them that is marked; widest, in
 * pixels; log, format of the numbers, the text of an empty chart, and tools above it.
 */
export class Curves {
  constructor(title, options = {}) {
    this.title = title;
    this.options = options;
    this.series = [];
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

  show(series) {
    this.series = series.filter((s) => s.level !== undefined || s.points.length);
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
    const all = series.flatMap((s) => (s.level !== undefined ? [] : s.points));
    const levels = series.flatMap((s) => (s.level !== undefined ? [s.level] : []));
    const xs = extent(all, (p) => p[0]);
    let ys = extent([...all.map((p) => p[1]), ...levels].filter((v) => v !== null && Number.isFinite(v)));
    const log = options.log && ys[0] > 0;
    if (ys[0] === ys[1]) ys = log ? [ys[0] / 2, ys[0] * 2] : [ys[0] - 1, ys[0] + 1];
    const ends = [xs[0] ?? 0, Math.max(xs[1] ?? 1, (xs[0] ?? 0) + 1)];
    const x = (options.logX ? scaleLog : scaleLinear)(ends, [left, width - right]);
    const y = (log ? scaleLog : scaleLinear)(ys, [height - bottom, top]).nice();
    const lasts = series.map((s) => `${s.name} ${number(last(s))}`).join(', ');
    const root = svg('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      class: 'chart',
      role: 'img',
      'aria-label': `${this.title} over ${all.length} points: ${lasts}`,
    });
    const path = line(
      (p) => x(p[0]),
      (p) => y(p[1]),
    ).defined((p) => p[1] !== null && Number.isFinite(p[1]) && (!log || p[1] > 0));
    const quietFirst = (a, b) => Number(Boolean(b[1].quiet)) - Number(Boolean(a[1].quiet)); // the named ones lie on top
    [...series.entries()].sort(quietFirst).forEach(([i, s]) => {
      const points = s.level !== undefined ? x.domain().map((v) => [v, s.level]) : drawn(s.points, x);
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
      if (s.points?.length === 1) {
        root.append(svg('circle', { cx: x(s.points[0][0]), cy: y(s.points[0][1]), r: 2.5, class: 'plus' }));
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
    if (options.mark >= ends[0]) {
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

  /** read writes the numbers at a step, or the last ones, as a legend. */
  read(at) {
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
    const steps = [...new Set(this.series.flatMap((s) => (s.points ?? []).map((p) => p[0])))].sort((a, b) => a - b);
    const maps = this.series.map((s) => (s.level !== undefined ? null : new Map(s.points)));
    return [
      [this.x(), ...this.series.map((s) => s.name)],
      ...steps.map((x) => [x, ...this.series.map((s, i) => (maps[i] ? maps[i].get(x) : s.level))]),
    ];
  }

  close() {
    this.resized.disconnect();
  }
}

/** drawn are the points that a line is drawn through: of many the lowest and the highest of each pixel. */
function drawn(points, x) {
  if (points.length <= 1000) return points;
  const out = [];
  let low, high, column;
  const flush = () => {
    if (low === high && low) out.push(low);
    else if (low) out.push(...(low[0] < high[0] ? [low, high] : [high, low]));
    low = high = null;
  };
  for (const p of points) {
    const at = Math.round(x(p[0]));
    if (at !== column || p[1] === null) flush();
    column = at;
    if (p[1] === null) out.push(p);
    else {
      if (!low || p[1] < low[1]) low = p;
      if (!high || p[1] > high[1]) high = p;
    }
  }
  flush();
  return out;
}

function last(s) {
  return s.level ?? s.points.at(-1)?.[1];
}

function nearest(points, at) {
  if (at === undefined || !points.length) return points.at(-1);
  const i = bisector((p) => p[0]).center(points, at);
  return points[i];
}
