// Training: what a run recorded, live while it trains.
import { events, isExported, json, packed } from '../api.js';
import { busy } from '../busy.js';
import { short } from '../choose.js';
import { Curves, stroke } from '../curves.js';
import { choice, fill, h, keepFocus } from '../dom.js';
import { headsOf, Moments, probeAt } from '../moments.js';
import { Pace } from '../pace.js';
import * as state from '../state.js';

export const training = {
  name: 'training',
  title: 'Training',
  needs: (view) => view.training,
  show(element) {
    const panel = new Training(element);
    busy(panel.start());
    return () => panel.close();
  },
};

const measures = [
  ['change_from_start', 'change from the start'],
  ['norm', 'norm'],
  ['change', 'change since the last record'],
  ['gradient', 'gradient norm'],
];

class Training {
  constructor(element) {
    this.element = element;
    this.ends = [];
  }

  async start() {
    const { element } = this;
    this.paramTools = h('div', { class: 'tools' });
    this.headTools = h('div', { class: 'tools' });
    this.curves = {
      loss: new Curves('Loss', { empty: 'No step is recorded yet: the first comes in a moment.' }),
      rate: new Curves('Learning rate'),
      gradient: new Curves('Gradient norm', { log: true }),
      params: new Curves('Parameters', {
        log: true,
        tools: this.paramTools,
        empty: 'This run has recorded no weights: it has just begun.',
      }),
      entropy: new Curves('Entropy of the heads', {
        tools: this.headTools,
        empty: 'This run has recorded no attention weights: it has just begun.',
      }),
      score: new Curves('Largest score of the heads'),
    };
    this.status = h(
      'p',
      { class: 'status', role: 'status' },
      'The run is read: here come its losses and how its weights moved.',
    );
    this.progress = h('progress', { 'aria-label': 'steps taken', value: 0, max: 1 });
    this.samples = h('section', { class: 'samples' });
    this.collapse = h('p', { class: 'note small' });
    this.pace = new Pace(() => busy(this.load()), { least: 2000 });
    this.watchedPace = new Pace(() => busy(this.load()), { least: 4000, most: 20000, times: 40 });
    this.moments = new Moments();
    const { loss, rate, gradient, params, entropy, score } = this.curves;
    fill(
      element,
      h('h2', {}, 'Training'),
      this.status,
      this.progress,
      h(
        'div',
        { class: 'charts' },
        loss.element,
        rate.element,
        gradient.element,
        params.element,
        h('div', {}, entropy.element, this.collapse),
        score.element,
      ),
      this.moments.element,
      this.samples,
    );
    this.ends.push(
      state.onChange((changed) => {
        if (['measure', 'param'].some(changed)) this.showParams();
        if (changed('curve')) this.showHeads();
      }),
    );
    await this.load();
    if (isExported || this.closed) return;
    this.ends.push(
      events('events', {
        told: () => this.pace.ask(),
        failed: (message) => this.fail(message),
        ended: (run) => this.end(run),
      }),
      () => this.pace.close(),
      () => this.watchedPace.close(),
    );
  }

  /** end shows the last state of a run, which its server told before it ended. */
  end(run) {
    this.ended = true;
    this.pace.close();
    this.watchedPace.close();
    this.run = run;
    this.show();
  }

  fail(message) {
    this.status.className = 'status error';
    fill(this.status, message);
  }

  /**
   * load asks for what is new: curves at each change, weights once they are recorded, both at a pace that leaves the
   * run its time.
   */
  async load() {
    await this.pace.take(async () => {
      try {
        const run = await json('training');
        if (this.closed || this.ended) return;
        this.run = run;
        this.show();
      } catch (e) {
        if (!this.closed && !this.ended) this.fail(e.message);
      }
    });
    const recorded = `${this.run?.evaluations.length} ${this.run?.state}`;
    if (!this.run || recorded === this.recorded || this.closed || this.ended) return;
    await this.watchedPace.take(async () => {
      try {
        const watched = await packed('watched');
        if (this.closed) return;
        this.recorded = recorded;
        const shown = this.watched?.records.length;
        this.watched = watched;
        if (watched.records.length !== shown) this.showWatched();
      } catch (e) {
        if (!this.closed && !this.ended) this.fail(e.message);
      }
    });
  }

  show() {
    const { run } = this;
    const { steps, evaluations, losses } = run;
    const at = steps.at(-1)?.step ?? 0;
    const recent = steps.slice(-50);
    const speed = recent.length ? recent.length / recent.reduce((sum, s) => sum + 1 / s.tokens_per_second, 0) : 0;
    const failure = /finite/.test(run.error) ? 'not finite' : 'failed';
    this.status.className = 'status';
    this.status.dataset.state = run.state;
    fill(
      this.status,
      h('b', {}, `${run.name}: ${stateText(run)}`),
      `, step ${at} of ${run.planned}`,
      speed ? `, ${Math.round(speed).toLocaleString('en')} tokens/s` : '',
      run.state === 'running' && run.secondsLeft ? `, ${duration(run.secondsLeft)} left` : '',
      h(
        'span',
        { class: 'note' },
        `. ${run.model}; text: ${run.text}.`,
        this.ended ? ' The program has ended; this is what it sent last.' : '',
      ),
      run.state === 'failed' ? h('span', { class: 'error' }, `${failure}: ${run.error}`) : null,
    );
    Object.assign(this.progress, { max: run.planned || 1, value: at });
    this.curves.score.options.empty =
      (run.translates
        ? 'attention translate records none: '
        : 'To see them, train with --head-stats (attention train --resume takes it too): this run has recorded ' +
          'none. ') + '“max score” in Heads has that of each head on a text of yours.';
    const points = (name) => steps.map((s) => [s.step, s[name]]);
    const level = (name, v) => (v === undefined ? [] : [{ name, level: v }]);
    this.curves.loss.show([
      { name: 'training', points: points('loss'), ink: 'var(--accent)', dash: '', wide: 1 },
      {
        name: 'validation',
        points: evaluations.map((e) => [e.step, e.validation_loss]),
        ink: 'var(--wrong)',
        dash: '',
        wide: 2.2,
      },
      ...level('bigram', losses.bigram),
      ...level('unigram', losses.unigram),
    ]);
    this.curves.rate.show([{ name: 'learning rate', points: points('learning_rate') }]);
    this.curves.gradient.show([{ name: 'gradient', points: points('grad_norm'), wide: 1 }]);
    fill(
      this.samples,
      h('h2', {}, 'Text that it wrote'),
      run.samples?.length ? null : h('p', { class: 'note' }, noSample(run)),
      (run.samples ?? []).map((s) =>
        h(
          'figure',
          {},
          h('figcaption', {}, `after step ${s.step}`),
          h('pre', {}, h('b', {}, s.prompt), run.translates ? ' → ' : '', s.text),
        ),
      ),
    );
  }

  showWatched() {
    this.showParams();
    this.showHeads();
    this.moments.show(this.watched);
  }

  showParams() {
    if (!this.watched) return;
    const { records } = this.watched;
    const names = records[0]?.params.map((p) => p.name) ?? [];
    const measure = state.get('measure', 'change_from_start');
    const chosen = names.includes(state.get('param')) ? state.get('param') : '';
    keepFocus(this.paramTools, () =>
      fill(
        this.paramTools,
        choice('show', measures, measure, (v) => state.set({ measure: v })),
        choice('parameter', [['', 'all'], ...names.map((n) => [n, short(n)])], chosen, (v) => state.set({ param: v })),
      ),
    );
    const field = measures.some(([m]) => m === measure) ? measure : 'norm';
    const all = new Map(
      names.map((name, i) => [
        short(name),
        records.map((r) => [r.step, r.params[i]?.[field] ?? null]).filter((p) => p[1] !== null),
      ]),
    );
    const ranks = extremes(all, chosen && short(chosen), 1);
    // A table has the model's order.
    this.curves.params.show([...all.keys()].map((name) => ranks.find((s) => s.name === name)));
  }

  /** statistic returns a series of each head by its name: of the records, or of the probe's weights at its moments. */
  statistic(name) {
    const all = new Map();
    for (const record of this.watched.records) {
      for (const [key, values] of Object.entries(record.numbers ?? {})) {
        if (!key.startsWith(`${name}.`)) continue;
        values.forEach((v, head) => {
          const of = headName(key.slice(name.length + 1), head);
          if (!all.has(of)) all.set(of, []);
          if (v !== null) all.get(of).push([record.step, v]);
        });
      }
    }
    return all;
  }

  probeEntropy() {
    const all = new Map();
    for (const probe of this.watched.probes ?? []) {
      for (let head = 0; head < headsOf(probe); head++) {
        all.set(
          headName(probe.name, head),
          this.watched.moments.map((step, m) => [step, probeAt(this.watched, probe, head, m).entropy()]),
        );
      }
    }
    return all;
  }

  showHeads() {
    if (!this.watched) return;
    let entropy = this.statistic('entropy');
    const recorded = entropy.size > 0;
    if (!recorded) entropy = this.probeEntropy();
    const scores = this.statistic('largest_score');
    const names = [...entropy.keys()];
    const chosen = names.includes(state.get('curve')) ? state.get('curve') : '';
    keepFocus(this.headTools, () =>
      fill(
        this.headTools,
        names.length > 1 &&
          choice('head', [['', 'all, the extremes named'], ...names.map((n) => [n, n])], chosen, (v) =>
            state.set({ curve: v }),
          ),
      ),
    );
    const level = { name: 'collapsed below', level: collapsed, ink: 'var(--wrong)', dash: '2 3' };
    this.curves.entropy.show([...extremes(entropy, chosen, -1), ...(names.length ? [level] : [])]);
    this.curves.score.show(extremes(scores, chosen, 1));
    const low = names.filter((n) => !(entropy.get(n).at(-1)?.[1] >= collapsed));
    const of = recorded ? 'Of up to 1024 tokens of validation text' : 'Of the few tokens of the probe';
    const some = low.slice(0, 5).join(', ') + (low.length > 5 ? ', …' : '');
    fill(
      this.collapse,
      names.length ? `${of}, in nats. ` : '',
      low.length ? h('b', {}, `${low.length} of ${names.length} heads have collapsed: ${some}.`) : '',
    );
  }

  close() {
    this.closed = true;
    for (const f of this.ends) f();
    for (const c of Object.values(this.curves)) c.close();
    this.moments.close();
  }
}

function stateText(run) {
  switch (run.state) {
    case 'running':
      return 'trains';
    case 'finished':
      return 'finished';
    case 'stopped':
      return 'stopped, with a checkpoint to resume from';
    case 'failed':
      return 'failed';
    default:
      return 'unfinished: it was killed';
  }
}

/** noSample says why there is no text that a run wrote. */
function noSample(run) {
  if (run.state === 'running') return 'It comes at the end of the run.';
  if (run.translates) return 'There is none: attention translate translates a date at the end of a run.';
  return 'There is none: attention train --sample N writes N tokens at the end of a run.';
}

/** collapsed is the entropy, in nats, below which a head looks at one key only, as in attention train. */
const collapsed = 0.1;

/** extremes are the series of all heads, of which the chosen one, or the few that end lowest or highest, are named. */
function extremes(all, chosen, sign) {
  const end = (name) => all.get(name).at(-1)?.[1] ?? NaN;
  const named = chosen ? [chosen] : [...all.keys()].sort((a, b) => sign * (end(b) - end(a))).slice(0, 4);
  const rest = [...all.keys()].filter((n) => !named.includes(n));
  return [
    ...named.filter((n) => all.has(n)).map((name, i) => ({ name, points: all.get(name), wide: 2, ...stroke(i) })),
    ...rest.map((name) => ({ name, points: all.get(name), ink: 'var(--line)', dash: '', wide: 1, quiet: true })),
  ];
}

function headName(path, head) {
  return `${short(path)} head ${head}`;
}

function duration(seconds) {
  const s = Math.round(seconds);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}
