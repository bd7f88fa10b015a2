// Training: the recording of a run, live while it trains.
import { events, isExported, json, packed } from '../api.js';
import { busy } from '../busy.js';
import { Curves } from '../curves.js';
import { fill, h } from '../dom.js';
import { duration } from '../duration.js';
import { Moments } from '../moments.js';
import { Pace } from '../pace.js';
import { panel, Shown } from '../panel.js';
import { WeightCurves } from '../weightcurves.js';

/**
 * Taken is a step of a run.
 * @typedef {{ step: number, loss: number, learning_rate: number, grad_norm: number, tokens_per_second: number }} Taken
 */
/**
 * Run is the recording of a run.
 * @typedef {{ name: string, state: string, error: string, planned: number, secondsLeft?: number, model: string,
 *   text: string, command: string, steps: Taken[], evaluations: { step: number, validation_loss: number }[],
 *   losses: { bigram?: number, unigram?: number }, samples?: { step: number, prompt: string, text: string }[] }} Run
 */

class Training extends Shown {
  /**
   * @param {HTMLElement} element
   * @param {import('../api.js').View} view
   */
  constructor(element, view) {
    super(element, view);
    /** @type {(() => void)[]} */
    this.ends = [];
    this.ended = false;
    this.recorded = '';
    /** @type {Run | null} */
    this.run = null;
    /** @type {import('../moments.js').Watched | null} */
    this.watched = null;
    this.curves = {
      loss: new Curves('Loss', { empty: 'No step is recorded yet: the first comes in a moment.' }),
      rate: new Curves('Learning rate'),
      gradient: new Curves('Gradient norm', { log: true }),
    };
    this.weights = new WeightCurves();
    this.status = h(
      'p',
      { class: 'status', role: 'status' },
      'The run is read: here come its losses and how its weights moved.',
    );
    this.progress = h('progress', { 'aria-label': 'steps taken', value: 0, max: 1 });
    this.samples = h('section', { class: 'samples' });
    this.pace = new Pace(() => busy(this.ask()), { least: 2000 });
    this.watchedPace = new Pace(() => busy(this.ask()), { least: 4000, most: 20000, times: 40 });
    this.moments = new Moments();
    const { loss, rate, gradient } = this.curves;
    fill(
      element,
      h('h2', {}, 'Training'),
      this.status,
      this.progress,
      h('div', { class: 'charts' }, loss.element, rate.element, gradient.element, this.weights.elements),
      this.moments.element,
      this.samples,
    );
  }

  async load() {
    await this.ask();
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

  /** end shows the last state of a run, which the server sent before it ended. */
  end(/** @type {Run} */ run) {
    this.ended = true;
    this.pace.close();
    this.watchedPace.close();
    this.show(run);
  }

  fail(/** @type {string} */ message) {
    this.status.className = 'status error';
    fill(this.status, message);
  }

  /**
   * ask requests new data: curves after each change, and weights when they are recorded. Both have a pace that hardly
   * slows the run.
   */
  async ask() {
    await this.pace.take(async () => {
      try {
        const run = await json('training');
        if (this.closed || this.ended) return;
        this.show(run);
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
        this.watched = /** @type {import('../moments.js').Watched} */ (watched);
        if (this.watched.records.length === shown) return;
        this.weights.show(this.watched);
        this.moments.show(this.watched);
      } catch (e) {
        if (!this.closed && !this.ended) this.fail(e.message);
      }
    });
  }

  show(/** @type {Run} */ run) {
    this.run = run;
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
    this.weights.command = run.command;
    const points = (/** @type {'loss' | 'learning_rate' | 'grad_norm'} */ name) => steps.map((s) => [s.step, s[name]]);
    const level = (/** @type {string} */ name, /** @type {number | undefined} */ v) =>
      v === undefined ? [] : [{ name, level: v }];
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
          h('pre', {}, h('b', {}, s.prompt), run.command === 'translate' ? ' → ' : '', s.text),
        ),
      ),
    );
  }

  close() {
    for (const f of this.ends) f();
    for (const c of Object.values(this.curves)) c.close();
    this.weights.close();
    this.moments.close();
  }
}

function stateText(/** @type {Run} */ run) {
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

/** noSample explains why there is no text of the run. */
function noSample(/** @type {Run} */ run) {
  if (run.state === 'running') return 'It comes at the end of the run.';
  if (run.command === 'translate') return 'There is none: attention translate translates a date at the end of a run.';
  return `There is none: attention ${run.command} --sample N writes N tokens at the end of a run.`;
}

export const training = panel('training', 'Training', (view) => view.training, Training);
