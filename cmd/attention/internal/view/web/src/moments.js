// The weights of a run over its steps: the attention of a probe and parts of matrices, at one of some moments.

import { short } from './choose.js';
import { largestOf, Scale } from './colours.js';
import { button, choice, fill, h, keepFocus, number, visible } from './dom.js';
import { HeatMap } from './heatmap.js';
import { legend } from './picture.js';
import { saveMenu } from './save.js';
import * as state from './state.js';

const hint = 'Point at or tap a cell.';

/** headsOf returns the number of heads of a probe. */
export function headsOf(probe) {
  return probe.shape.length === 4 ? probe.shape[1] : 1;
}

/** probeAt returns the field of a head of a probe's tensor at a moment. */
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

  /** show shows what a run has recorded. */
  show(watched) {
    this.watched = watched;
    this.draw();
  }

  draw() {
    if (!this.watched) return;
    const { moments, probes, matrices } = this.watched;
    if (!moments?.length) {
      fill(this.sliderPlace);
      fill(this.probe, h('p', { class: 'note' }, 'This run recorded no weights over the steps.'));
      fill(this.matrix);
      return;
    }
    const moment = state.int('moment', moments.length, moments.length - 1);
    this.slide(moment);
    if (probes?.length) this.showProbe(probes, moment);
    if (matrices?.length) this.showMatrix(matrices, moment);
  }

  /** slide sets the slider, which stays the same element while somebody drags it. */
  slide(moment) {
    const { moments } = this.watched;
    if (!this.range) {
      this.range = h('input', {
        type: 'range',
        step: 1,
        id: 'moment',
        oninput: () => state.set({ moment: this.range.value }),
      });
      this.output = h('output', { for: 'moment' });
      this.player = button('Play', () => this.play());
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
      this.playing = null;
      this.draw();
      return;
    }
    state.set({ moment: 0 });
    this.playing = setInterval(() => {
      const next = state.int('moment', this.watched.moments.length) + 1;
      if (next < this.watched.moments.length) state.set({ moment: next });
      else this.play();
    }, 350);
    this.draw();
  }

  showProbe(probes, moment) {
    const index = state.int('probe', probes.length);
    const probe = probes[index];
    const heads = headsOf(probe);
    const head = state.int('phead', heads);
    const numbers = Array.from({ length: heads }, (_, i) => [i, i]);
    const tokens = (list) => list.map((text) => ({ text }));
    const readout = h('p', { class: 'readout small' }, hint);
    const field = probeAt(this.watched, probe, head, moment);
    this.probeMap?.close();
    const read = (at) => fill(readout, this.cellText(probe, field, at));
    const map = (this.probeMap = new HeatMap({
      rows: tokens(probe.text.queries),
      cols: tokens(probe.text.keys),
      height: 460,
      label: `attention of the probe in ${probe.name}, head ${head}`,
      onhover: read,
      onselect: (t, s) => {
        map.choose(t, s);
        read([t, s]);
      },
    }));
    const scale = Scale.rows();
    const layers = probes.map((p, i) => [i, short(p.name)]);
    keepFocus(this.probe, () =>
      fill(
        this.probe,
        h(
          'h3',
          {},
          'Attention on the probe ',
          saveMenu(
            () => `probe-${index}-${head}`,
            () => ({ canvas: this.probeMap.canvas, svg: () => this.probeMap.svg() }),
          ),
        ),
        h(
          'div',
          { class: 'tools' },
          choice('layer', layers, index, (v) => state.set({ probe: v })),
          choice('head', numbers, head, (v) => state.set({ phead: v })),
        ),
        readout,
        map.element,
        legend(scale, 'weight'),
      ),
    );
    map.show(field, scale);
  }

  cellText(probe, field, at) {
    if (!at) return hint;
    const [t, s] = at;
    const w = field.weight(t, s);
    const weight = Number.isNaN(w) ? 'hidden' : `weight ${number(w)}`;
    return `“${visible(probe.text.queries[t])}” → “${visible(probe.text.keys[s])}”: ${weight}`;
  }

  showMatrix(matrices, moment) {
    const index = state.int('matrix', matrices.length);
    const matrix = matrices[index];
    const [, rows, cols] = matrix.shape;
    const all = this.watched[matrix.array];
    let most = 0;
    for (const v of all) if (Math.abs(v) > most) most = Math.abs(v);
    const scale = new Scale(most, true);
    const field = new Table(all.subarray(moment * rows * cols, (moment + 1) * rows * cols), rows, cols, () => true);
    const label = (n) => Array.from({ length: n }, (_, i) => ({ text: String(i) }));
    const readout = h('p', { class: 'readout small' }, hint);
    const text = (at) => (at ? `row ${at[0]}, column ${at[1]}: ${number(field.weight(...at))}` : hint);
    this.matrixMap?.close();
    const map = (this.matrixMap = new HeatMap({
      rows: label(rows),
      cols: label(cols),
      numbered: true,
      height: 460,
      label: `values of ${matrix.name}`,
      onhover: (at) => fill(readout, text(at)),
      onselect: (t, s) => {
        map.choose(t, s);
        fill(readout, text([t, s]));
      },
    }));
    const names = matrices.map((m, i) => [i, short(m.name)]);
    keepFocus(this.matrix, () =>
      fill(
        this.matrix,
        h(
          'h3',
          {},
          'Weights of the queries ',
          saveMenu(
            () => `matrix-${index}`,
            () => ({ canvas: this.matrixMap.canvas, svg: () => this.matrixMap.svg() }),
          ),
        ),
        h(
          'div',
          { class: 'tools' },
          choice('matrix', names, index, (v) => state.set({ matrix: v })),
        ),
        readout,
        map.element,
        legend(scale, 'value', false),
      ),
    );
    map.show(field, scale);
  }

  close() {
    clearInterval(this.playing);
    for (const f of this.ends) f();
    this.probeMap?.close();
    this.matrixMap?.close();
  }
}

/** Table is a matrix of numbers as a field. */
export class Table {
  constructor(values, T, S, shown) {
    this.values = values;
    this.T = T;
    this.S = S;
    this.shown = shown;
  }

  weight(t, s) {
    return this.shown(t, s) ? this.values[t * this.S + s] : NaN;
  }

  row(t, s0, s1, out) {
    for (let s = s0; s < s1; s++) out[s - s0] = this.weight(t, s);
  }

  /** largest returns the largest number of a row. */
  largest(t) {
    return largestOf(this.values.subarray(t * this.S, (t + 1) * this.S));
  }

  /** entropy is the mean entropy of the rows, in nats. */
  entropy() {
    let sum = 0;
    for (const w of this.values) if (w > 0) sum -= w * Math.log(w);
    return sum / this.T;
  }
}
