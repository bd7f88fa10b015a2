// Training: what a run recorded, live while it trains.
import { events, isExported, json, packed } from '../api.js';
import { Scale } from '../colours.js';
import { short } from '../choose.js';
import { Curves } from '../curves.js';
import { button, choice, fill, h, number, visible } from '../dom.js';
import { HeatMap } from '../heatmap.js';
import { legend } from '../picture.js';
import { pictureButtons } from '../save.js';
import * as state from '../state.js';

export const training = {
  name: 'training',
  title: 'Training',
  needs: (view) => view.training,
  show(element) {
    const panel = new Training(element);
    panel.start();
    return () => panel.close();
  },
};

const measures = [['change_from_start', 'change from the start'], ['norm', 'norm'], ['change', 'change since the last record'],
  ['gradient', 'gradient norm']];

class Training {
  constructor(element) {
    this.element = element;
    this.ends = [];
  }

  async start() {
    const { element } = this;
    this.curves = {
      loss: new Curves('Loss', { empty: 'No step is recorded yet: the first comes in a moment.' }),
      rate: new Curves('Learning rate'),
      gradient: new Curves('Gradient norm', { log: true }),
      params: new Curves('Parameters', { log: true, empty: 'This run recorded no weights: it is of an earlier program, or has just begun.' }),
      entropy: new Curves('Entropy of the heads on the probe', { empty: 'This run recorded no attention weights.' }),
    };
    this.status = h('p', { class: 'status', role: 'status' });
    this.samples = h('section', { class: 'samples' });
    this.paramTools = h('div', { class: 'tools' });
    this.probe = h('section', { class: 'wide', 'aria-label': 'attention of the probe' });
    this.matrix = h('section', { class: 'wide', 'aria-label': 'a matrix of queries' });
    this.sliderPlace = h('div', { class: 'tools' });
    const { loss, rate, gradient, params, entropy } = this.curves;
    fill(element, h('h2', {}, 'Training'), this.status,
      h('div', { class: 'charts' }, loss.element, rate.element, gradient.element,
        h('div', {}, this.paramTools, params.element), entropy.element),
      h('h2', {}, 'The weights over the steps'), this.sliderPlace, h('div', { class: 'columns' }, this.probe, this.matrix), this.samples);
    this.ends.push(state.onChange((changed) => {
      if (['measure', 'param'].some(changed)) this.showParams();
      if (['moment', 'probe', 'phead', 'matrix'].some(changed)) this.showMoment();
    }));
    const repaint = () => { this.probeMap?.repaint(); this.matrixMap?.repaint(); };
    addEventListener('theme', repaint);
    this.ends.push(() => removeEventListener('theme', repaint));
    await this.load();
    if (isExported || this.closed) return;
    this.ends.push(events('events', () => this.load(), (message) => this.fail(message)));
  }

  fail(message) {
    this.status.className = 'status error';
    fill(this.status, message);
  }

  async load() {
    if (this.loading) { // one at a time, and once more after the last change
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      this.run = await json('training');
      const records = this.watched?.records.length;
      if (!this.watched || this.run.evaluations.step.length !== this.known || this.run.state !== this.was) {
        this.known = this.run.evaluations.step.length;
        this.was = this.run.state;
        this.watched = await packed('watched');
      }
      if (this.closed) return;
      this.show();
      if (records !== this.watched.records.length || !this.shown) this.showWatched();
    } catch (e) {
      if (!this.closed) this.fail(e.message);
    }
    this.loading = false;
    if (this.again && !this.closed) {
      this.again = false;
      this.load();
    }
  }

  show() {
    const { run } = this;
    const { curves, evaluations, losses } = run;
    const at = curves.step.at(-1) ?? 0;
    const recent = curves.speed?.slice(-50) ?? [];
    const speed = recent.length ? recent.length / recent.reduce((sum, v) => sum + 1 / v, 0) : 0;
    this.status.className = run.state === 'failed' ? 'status error' : 'status';
    this.status.dataset.state = run.state;
    fill(this.status, `${run.name}: ${this.stateText(run)}, step ${at} of ${run.planned}`,
      speed ? `, ${Math.round(speed).toLocaleString('en')} tokens/s` : '',
      run.state === 'running' && run.secondsLeft ? `, ${duration(run.secondsLeft)} left` : '', `. ${run.model}; text: ${run.text}.`);
    const points = (ys) => curves.step.map((s, i) => [s, ys[i]]);
    const level = (name, v) => (v === undefined ? [] : [{ name, level: v }]);
    this.curves.loss.show([
      { name: 'training', points: points(curves.loss ?? []), ink: 'var(--accent)', dash: '', wide: 1 },
      { name: 'validation', points: evaluations.step.map((s, i) => [s, evaluations.loss[i]]), ink: 'var(--wrong)', dash: '', wide: 2.2 },
      ...level('bigram', losses.bigram), ...level('unigram', losses.unigram)]);
    this.curves.rate.show([{ name: 'learning rate', points: points(curves.rate ?? []) }]);
    this.curves.gradient.show([{ name: 'gradient', points: points(curves.gradient ?? []), wide: 1 }]);
    fill(this.samples, run.samples?.length ? h('h2', {}, 'Text that it wrote') : null, (run.samples ?? []).map((s) =>
      h('figure', {}, h('figcaption', {}, `after step ${s.step}`), h('pre', {}, h('b', {}, s.prompt), s.text))));
  }

  stateText(run) {
    switch (run.state) {
      case 'running': return 'trains';
      case 'finished': return 'finished';
      case 'stopped': return 'stopped, with a checkpoint to resume from';
      case 'failed': return /finite/.test(run.error) ? `not finite: ${run.error}` : `failed: ${run.error}`;
      default: return 'unfinished: it was killed, or its program is too old to tell';
    }
  }

  showWatched() {
    this.shown = true;
    this.showParams();
    this.showEntropy();
    this.showMoment();
  }

  showParams() {
    const { records } = this.watched;
    const names = records[0]?.params.map((p) => p.name) ?? [];
    const measure = state.get('measure', 'change_from_start');
    const chosen = names.includes(state.get('param')) ? state.get('param') : '';
    fill(this.paramTools, choice('show', measures, measure, (v) => state.set({ measure: v })),
      choice('parameter', [['', 'all'], ...names.map((n) => [n, short(n)])], chosen, (v) => state.set({ param: v })));
    const field = measures.some(([m]) => m === measure) ? measure : 'norm';
    this.curves.params.show(names.map((name, i) => ({ name: short(name), ink: chosen === name ? 'var(--accent)' : 'var(--faint)',
      dash: '', wide: chosen === name ? 2.4 : 1, quiet: chosen ? chosen !== name : i >= 5,
      points: records.map((r) => [r.step, r.params[i]?.[field] ?? null]).filter((p) => p[1] !== null) })));
  }

  /** probeAt returns the field of a head of a probe's tensor at a moment. */
  probeAt(probe, head, moment) {
    const [T, S] = probe.shape.slice(-2);
    const heads = probe.shape.length === 4 ? probe.shape[1] : 1;
    const values = this.watched[probe.array].subarray((moment * heads + head) * T * S, (moment * heads + head + 1) * T * S);
    return new Table(values, T, S, (t, s) => !probe.text.causal || s <= t);
  }

  showEntropy() {
    const series = [];
    for (const probe of this.watched.probes ?? []) {
      const heads = probe.shape.length === 4 ? probe.shape[1] : 1;
      for (let head = 0; head < heads; head++) {
        series.push({ name: `${short(probe.name)} ${head}`, dash: '', wide: 1.2, quiet: series.length >= 6,
          points: this.watched.moments.map((step, m) => [step, this.probeAt(probe, head, m).entropy()]) });
      }
    }
    this.curves.entropy.show(series);
  }

  showMoment() {
    const { moments, probes, matrices } = this.watched;
    if (!moments?.length) {
      fill(this.sliderPlace);
      fill(this.probe, h('p', { class: 'note' }, 'This run recorded no weights over the steps.'));
      fill(this.matrix);
      return;
    }
    const moment = state.int('moment', moments.length, moments.length - 1);
    this.slider(moment);
    if (probes?.length) this.showProbe(probes, moment);
    if (matrices?.length) this.showMatrix(matrices, moment);
  }

  slider(moment) {
    const { moments } = this.watched;
    const range = h('input', { type: 'range', min: 0, max: moments.length - 1, step: 1, '.value': moment, id: 'moment',
      oninput: () => state.set({ moment: range.value }) });
    const had = document.activeElement?.id === 'moment';
    fill(this.sliderPlace, h('label', { for: 'moment' }, 'step'), range,
      h('output', { for: 'moment' }, moment === 0 ? `${moments[0]} (untrained)` : String(moments[moment])),
      button(this.playing ? 'Stop' : 'Play', () => this.play()));
    if (had) range.focus();
  }

  play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
      this.showMoment();
      return;
    }
    state.set({ moment: 0 });
    this.playing = setInterval(() => {
      const next = state.int('moment', this.watched.moments.length) + 1;
      if (next < this.watched.moments.length) state.set({ moment: next });
      else this.play();
    }, 350);
    this.showMoment();
  }

  showProbe(probes, moment) {
    const index = state.int('probe', probes.length);
    const probe = probes[index];
    const heads = probe.shape.length === 4 ? probe.shape[1] : 1;
    const head = state.int('phead', heads);
    const numbers = Array.from({ length: heads }, (_, i) => [i, i]);
    const tokens = (list) => list.map((text) => ({ text }));
    const readout = h('p', { class: 'readout small' }, 'Point at a cell.');
    const field = this.probeAt(probe, head, moment);
    this.probeMap?.close();
    const map = (this.probeMap = new HeatMap({ rows: tokens(probe.text.queries), cols: tokens(probe.text.keys), height: 460,
      label: `attention of the probe in ${probe.name}, head ${head}`, onhover: (at) => fill(readout, this.cellText(probe, field, at)),
      onselect: (t, s) => { map.choose(t, s); fill(readout, this.cellText(probe, field, [t, s])); } }));
    const scale = new Scale(1);
    fill(this.probe, h('h3', {}, 'Attention on the probe ', pictureButtons(() => `probe-${index}-${head}`,
      () => ({ canvas: this.probeMap.canvas, svg: () => this.probeMap.svg() }))),
    h('div', { class: 'tools' }, choice('layer', probes.map((p, i) => [i, short(p.name)]), index, (v) => state.set({ probe: v })),
      choice('head', numbers, head, (v) => state.set({ phead: v }))), readout, map.element, legend(scale, 'weight'));
    map.show(field, scale);
  }

  cellText(probe, field, at) {
    if (!at) return 'Point at a cell.';
    const [t, s] = at;
    const w = field.weight(t, s);
    return `“${visible(probe.text.queries[t])}” → “${visible(probe.text.keys[s])}”: ${Number.isNaN(w) ? 'hidden' : `weight ${number(w)}`}`;
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
    const readout = h('p', { class: 'readout small' }, 'Point at a cell.');
    const text = (at) => (at ? `row ${at[0]}, column ${at[1]}: ${number(field.weight(...at))}` : 'Point at a cell.');
    this.matrixMap?.close();
    const map = (this.matrixMap = new HeatMap({ rows: label(rows), cols: label(cols), label: `values of ${matrix.name}`, height: 460,
      onhover: (at) => fill(readout, text(at)), onselect: (t, s) => { map.choose(t, s); fill(readout, text([t, s])); } }));
    fill(this.matrix, h('h3', {}, 'Weights of the queries ', pictureButtons(() => `matrix-${index}`,
      () => ({ canvas: this.matrixMap.canvas, svg: () => this.matrixMap.svg() }))),
    h('div', { class: 'tools' }, choice('matrix', matrices.map((m, i) => [i, short(m.name)]), index, (v) => state.set({ matrix: v }))),
    readout, map.element, legend(scale, 'value'));
    map.show(field, scale);
  }

  close() {
    this.closed = true;
    clearInterval(this.playing);
    for (const f of this.ends) f();
    for (const c of Object.values(this.curves)) c.close();
    this.probeMap?.close();
    this.matrixMap?.close();
  }
}

/** Table is a matrix of numbers as a field. */
export class Table {
  constructor(values, T, S, shown) {
    Object.assign(this, { values, T, S, shown });
  }

  weight(t, s) { return this.shown(t, s) ? this.values[t * this.S + s] : NaN; }

  row(t, s0, s1, out) {
    for (let s = s0; s < s1; s++) out[s - s0] = this.weight(t, s);
  }

  /** entropy is the mean entropy of the rows, in nats. */
  entropy() {
    let sum = 0;
    for (const w of this.values) if (w > 0) sum -= w * Math.log(w);
    return sum / this.T;
  }
}

function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}
