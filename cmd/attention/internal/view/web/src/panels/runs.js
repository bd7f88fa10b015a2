// Runs: the runs of a folder, their losses in one chart, and a link to each run.
import { isExported, json, path } from '../api.js';
import { busy } from '../busy.js';
import { Curves, stroke } from '../curves.js';
import { all, choice, fill, h, keepFocus, one } from '../dom.js';
import { columns } from '../listed.js';
import { panel, problem, Shown, waiting } from '../panel.js';
import { tableButton } from '../save.js';
import * as state from '../state.js';

const atFirst = 4; // number of runs whose losses are shown at first
const every = 5000; // milliseconds between two requests about training runs

/** @typedef {import('../listed.js').Listed} Listed */
/** @typedef {Pick<import('./training.js').Run, 'steps' | 'evaluations'>} Losses */

class Runs extends Shown {
  /**
   * @param {HTMLElement} element
   * @param {import('../api.js').View} view
   */
  constructor(element, view) {
    super(element, view);
    this.timer = 0;
    /** @type {Listed[]} */
    this.all = [];
    /** @type {Map<string, Losses>} of each run that was chosen, by its name */
    this.curves = new Map();
    this.tools = h('div', { class: 'tools' });
    this.chart = new Curves('Losses', {
      tools: this.tools,
      widest: 1100,
      empty: 'Choose runs in the table: their losses stand here.',
    });
    this.note = h('p', { class: 'note small' });
    this.table = h('div', { class: 'scroll all' });
    fill(
      element,
      h(
        'h2',
        {},
        'Runs ',
        tableButton(
          () => 'runs',
          () => this.rows(),
        ),
      ),
      waiting('The runs are read: here come a table of them, and the losses of some in one chart.'),
    );
  }

  async load() {
    try {
      const listed = await json('runs');
      if (this.closed) return;
      if (!this.table.isConnected)
        fill(this.element, this.element.firstChild, this.table, this.chart.element, this.note);
      this.all = listed;
      this.show();
      await this.draw();
    } catch (e) {
      if (!this.closed) fill(this.element, h('h2', {}, 'Runs'), problem(e.message));
      return;
    }
    if (!isExported && !this.closed && this.all.some((r) => r.state === 'running')) {
      this.timer = setTimeout(() => busy(this.load()), every);
    }
  }

  /** chosen are the runs whose losses are shown. */
  chosen() {
    const names = state.get('chosen').split('/');
    if (state.get('chosen') === '') return this.all.filter((r) => r.steps > 0).slice(0, atFirst);
    return this.all.filter((r) => names.includes(r.name));
  }

  /**
   * choose shows or hides the losses of a run.
   * @param {string} name
   * @param {boolean} isChosen
   */
  choose(name, isChosen) {
    const names = this.chosen()
      .map((r) => r.name)
      .filter((n) => n !== name);
    if (isChosen) names.push(name);
    state.set({ chosen: names.join('/') || '/' });
  }

  show() {
    const row = (/** @type {Listed} */ r) =>
      h(
        'tr',
        { 'data-run': r.name },
        h(
          'td',
          {},
          h(
            'label',
            { class: 'pick' },
            h('input', {
              type: 'checkbox',
              'aria-label': `losses of ${r.name}`,
              onchange: (/** @type {Event} */ e) =>
                this.choose(r.name, /** @type {HTMLInputElement} */ (e.target).checked),
            }),
            h('span', { class: 'ink', 'aria-hidden': 'true' }),
          ),
        ),
        h('th', { scope: 'row' }, isExported ? r.name : h('a', { href: `at/${encodeURIComponent(r.name)}/` }, r.name)),
        columns.map(({ of, isNumber }) => h('td', { class: isNumber ? 'value' : null }, of(r))),
      );
    keepFocus(this.table, () =>
      fill(
        this.table,
        h(
          'table',
          { class: 'runs' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              h('td', {}),
              h('th', { scope: 'col' }, 'Run'),
              columns.map(({ name, isNumber }) => h('th', { scope: 'col', class: isNumber ? 'value' : null }, name)),
            ),
          ),
          h('tbody', {}, this.all.map(row)),
        ),
      ),
    );
  }

  /** draw draws the losses of the chosen runs. */
  async draw() {
    const wanted = (this.wanted = {});
    const chosen = this.chosen();
    await Promise.all(
      chosen.map(async (r) => {
        if (this.curves.has(r.name) && r.state !== 'running') return;
        this.curves.set(r.name, await json(path('curves', { run: r.name })));
      }),
    );
    if (this.closed || this.wanted !== wanted) return;
    const show = state.get('losses');
    keepFocus(this.tools, () =>
      fill(
        this.tools,
        choice(
          'losses',
          [
            ['', 'validation'],
            ['training', 'training'],
            ['both', 'both'],
          ],
          show,
          (v) => state.set({ losses: v }),
        ),
      ),
    );
    for (const tr of all(this.table, 'tbody tr')) {
      const at = chosen.findIndex((r) => r.name === tr.dataset.run);
      one(tr, 'input').checked = at >= 0;
      one(tr, '.ink').style.background = at < 0 ? 'none' : stroke(at).ink;
    }
    this.chart.show(chosen.flatMap((r, i) => this.series(r, i, show)));
    const texts = new Set(chosen.map((r) => r.text));
    fill(this.note, texts.size > 1 ? 'These runs learn from different texts: their losses do not compare.' : '');
  }

  /**
   * series returns the losses of a run, in the run's colour.
   * @param {Listed} r
   * @param {number} i
   * @param {string} show
   */
  series(r, i, show) {
    const { steps, evaluations } = this.curves.get(r.name) ?? { steps: [], evaluations: [] };
    const out = [];
    const { ink } = stroke(i);
    const training = {
      name: `${r.name} training`,
      points: steps.map((s) => [s.step, s.loss]),
      ink,
      dash: '',
      wide: 0.8,
    };
    const validation = {
      name: r.name,
      points: evaluations.map((e) => [e.step, e.validation_loss]),
      ink,
      dash: '',
      wide: 2.2,
    };
    if (show || !evaluations.length) out.push(training);
    if (show !== 'training') out.push(validation);
    return out;
  }

  rows() {
    return [
      ['run', ...columns.map(({ name }) => name.toLowerCase())],
      ...this.all.map((r) => [r.name, ...columns.map(({ of }) => of(r))]),
    ];
  }

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (['chosen', 'losses'].some(is)) busy(this.draw());
  }

  close() {
    clearTimeout(this.timer);
    this.chart.close();
  }
}

export const runs = panel('runs', 'Runs', (view) => Boolean(view.runs), Runs);
