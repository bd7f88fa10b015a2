// The weights of a run over its steps: the attention of a probe and parts of matrices, at one recorded moment.
import { short } from './choose.js';
import { Scale } from './colours.js';
import { button, choice, fill, h, keepFocus, number, visible } from './dom.js';
import { HeatMap } from './heatmap.js';
import { legend } from './picture.js';
import { saveMenu } from './save.js';
import * as state from './state.js';
import { Table } from './table.js';

const hint = 'Point at or tap a cell.';

/** @typedef {import('./heatmap.js').Cell} Cell */
/** @typedef {{ name: string, array: string, shape: number[] }} Recorded an array, whose first axis are the moments */
/** @typedef {Recorded & { text: { queries: string[], keys: string[], causal: boolean } }} Probe */
/**
 * Watched is the recording of a run's weights. At some steps it has numbers of parameters and heads. At fewer moments
 * it has the attention of a probe and parts of matrices, in arrays named after them.
 * @typedef {{ records: { step: number, params: Record<string, any>[], numbers?: Record<string, (number | null)[]> }[],
 *   moments?: number[], probes?: Probe[], matrices?: Recorded[], [array: string]: any }} Watched
 */

/** headsOf returns the number of heads of a probe. */
export function headsOf(/** @type {Probe} */ probe) {
  return probe.shape.length === 4 ? probe.shape[1] : 1;
}

/**
 * probeAt returns the field of a head of a probe's tensor at a moment.
 * @param {Watched} watched
 * @param {Probe} probe
 * @param {number} head
 * @param {number} moment
 */
export function probeAt(watched, probe, head, moment) {
  const [T, S] = probe.shape.slice(-2);
  const heads = headsOf(probe);
  const values = watched[probe.array].subarray((moment * heads + head) * T * S, (moment * heads + head + 1) * T * S);
  return new Table(values, T, S, (t, s) => !probe.text.causal || s <= t);
}

/** Moments is the slider over the steps and two pictures. */
export class Moments {
  constructor() {
    this.sliderPlace = h('div', { class: 'tools' });
    this.probe = h('section', { class: 'wide', 'aria-label': 'attention of the probe' });
    this.matrix = h('section', { class: 'wide', 'aria-label': 'a matrix of queries' });
    this.element = h(
      'div',
      {},
      h('h2', {}, 'The weights over the steps'),
      this.sliderPlace,
      h('div', { class: 'columns' }, this.probe, this.matrix),
    );
    /** @type {Watched} */
    this.watched = { records: [] };
    this.range = h('input', {
      type: 'range',
      step: 1,
      id: 'moment',
      oninput: () => state.set({ moment: this.range.value }),
    });
    this.output = h('output', { for: 'moment' });
    this.player = button('Play', () => this.play());
    this.playing = 0;
    /** @type {HeatMap | null} */
    this.probeMap = null;
    /** @type {HeatMap | null} */
    this.matrixMap = null;
    const repaint = () => {
      this.probeMap?.repaint();
      this.matrixMap?.repaint();
    };
    addEventListener('theme', repaint);
    this.ends = [
      () => removeEventListener('theme', repaint),
      state.onChange((changed) => {
        if (['moment', 'probe', 'phead', 'matrix'].some(changed)) this.draw();
      }),
    ];
  }

  /** show shows the recording of a run. */
  show(/** @type {Watched} */ watched) {
    this.watched = watched;
    this.draw();
  }

  draw() {
    const { moments = [], probes = [], matrices = [] } = this.watched;
    if (!moments.length) {
      fill(this.sliderPlace);
      fill(
        this.probe,
        h(
          'p',
          { class: 'note' },
          'This run has recorded no weights over the steps: attention of a probe, and weights of queries.',
        ),
      );
      fill(this.matrix);
      return;
    }
    const moment = state.int('moment', moments.length, moments.length - 1);
    this.slide(moments, moment);
    if (probes.length) this.showProbe(probes, moment);
    if (matrices.length) this.showMatrix(matrices, moment);
  }

  /**
   * slide sets the slider. The slider remains the same element while the reader drags it.
   * @param {number[]} moments
   * @param {number} moment
   */
  slide(moments, moment) {
    if (!this.range.isConnected) {
      fill(this.sliderPlace, h('label', { for: 'moment' }, 'step'), this.range, this.output, this.player);
    }
    this.range.min = '0';
    this.range.max = String(moments.length - 1);
    this.range.value = String(moment);
    this.range.disabled = this.player.disabled = moments.length < 2;
    fill(this.output, moments[moment] === 0 ? '0 (untrained)' : String(moments[moment]));
    this.range.setAttribute('aria-valuetext', `step ${moments[moment]}`);
    fill(this.player, this.playing ? 'Stop' : 'Play');
  }

  play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = 0;
      this.draw();
      return;
    }
    state.set({ moment: 0 });
    this.playing = setInterval(() => {
      const n = this.watched.moments?.length ?? 0;
      const next = state.int('moment', n) + 1;
      if (next < n) state.set({ moment: next });
      else this.play();
    }, 350);
    this.draw();
  }

  /**
   * showProbe shows the attention of a head in the probe.
   * @param {Probe[]} probes
   * @param {number} moment
   */
  showProbe(probes, moment) {
    const index = state.int('probe', probes.length);
    const probe = probes[index];
    const heads = headsOf(probe);
    const head = state.int('phead', heads);
    const tokens = (/** @type {string[]} */ list) => list.map((text) => ({ text }));
    const field = probeAt(this.watched, probe, head, moment);
    const layers = probes.map((p, i) => [i, short(p.name)]);
    const numbers = Array.from({ length: heads }, (_, i) => [i, i]);
    const { queries, keys } = probe.text;
    const scale = Scale.rows();
    this.probeMap?.close();
    this.probeMap = shownAt(this.probe, field, scale, {
      title: 'Attention on the probe',
      file: `probe-${index}-${head}`,
      tools: [
        choice('layer', layers, index, (v) => state.set({ probe: v })),
        choice('head', numbers, head, (v) => state.set({ phead: v })),
      ],
      options: {
        rows: tokens(queries),
        cols: tokens(keys),
        label: `attention of the probe in ${probe.name}, head ${head}`,
      },
      tell: ([t, s]) => {
        const w = field.weight(t, s);
        const weight = Number.isNaN(w) ? 'hidden' : `weight ${number(w)}`;
        return `“${visible(queries[t])}” → “${visible(keys[s])}”: ${weight}`;
      },
      legend: legend(scale, 'weight'),
    });
  }

  /**
   * showMatrix shows a part of a matrix.
   * @param {Recorded[]} matrices
   * @param {number} moment
   */
  showMatrix(matrices, moment) {
    const index = state.int('matrix', matrices.length);
    const matrix = matrices[index];
    const [, rows, cols] = matrix.shape;
    /** @type {Float32Array} */
    const all = this.watched[matrix.array];
    const scale = new Scale(
      all.reduce((most, v) => Math.max(most, Math.abs(v)), 0),
      true,
    );
    const field = new Table(all.subarray(moment * rows * cols, (moment + 1) * rows * cols), rows, cols, () => true);
    const label = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => ({ text: String(i) }));
    const names = matrices.map((m, i) => [i, short(m.name)]);
    this.matrixMap?.close();
    this.matrixMap = shownAt(this.matrix, field, scale, {
      title: 'Weights of the queries',
      file: `matrix-${index}`,
      tools: [choice('matrix', names, index, (v) => state.set({ matrix: v }))],
      options: { rows: label(rows), cols: label(cols), numbered: true, label: `values of ${matrix.name}` },
      tell: ([t, s]) => `row ${t}, column ${s}: ${number(field.weight(t, s))}`,
      legend: legend(scale, 'value', false),
    });
  }

  close() {
    clearInterval(this.playing);
    for (const f of this.ends) f();
    this.probeMap?.close();
    this.matrixMap?.close();
  }
}

/**
 * shownAt shows a field in an element: with a title, the name of its file, controls, and a text about a cell.
 * @param {Element} place
 * @param {Table} field
 * @param {Scale} scale
 * @param {{ title: string, file: string, tools: Node[], options: import('./heatmap.js').Options,
 *   tell(at: Cell): string, legend: Node }} about
 */
function shownAt(place, field, scale, { title, file, tools, options, tell, legend }) {
  const readout = h('p', { class: 'readout small' }, hint);
  const read = (/** @type {Cell | null} */ at) => fill(readout, at ? tell(at) : hint);
  const choose = (/** @type {number} */ t, /** @type {number} */ s) => {
    map.choose(t, s);
    read([t, s]);
  };
  const map = new HeatMap({ ...options, height: 460, onhover: read, onselect: choose });
  const menu = saveMenu(() => file, map.picture);
  keepFocus(place, () =>
    fill(place, h('h3', {}, `${title} `, menu), h('div', { class: 'tools' }, tools), readout, map.element, legend),
  );
  map.show(field, scale);
  return map;
}
