// Runs: those of a folder, their losses in one chart, and a way into each.
import { isExported, json, path } from '../api.js';
import { busy } from '../busy.js';
import { Curves, stroke } from '../curves.js';
import { choice, fill, h, keepFocus, number } from '../dom.js';
import { tableButton } from '../save.js';
import * as state from '../state.js';

export const runs = {
  name: 'runs',
  title: 'Runs',
  needs: (view) => Boolean(view.runs),
  show(element) {
    const panel = new Runs(element);
    busy(panel.load());
    const end = state.onChange((changed) => {
      if (['chosen', 'losses'].some(changed)) busy(panel.draw());
    });
    return () => {
      end();
      panel.close();
    };
  },
};

const atFirst = 4; // runs whose losses are shown at first
const every = 5000; // milliseconds between two looks at runs that train

/** @typedef {{name: string, begin?: string, seconds?: number, state: string, steps: number, planned_steps: number,
 *   model: string, text: string, parameters?: number, losses: {training?: number, validation?: number}}} Listed */

/**
 * columns of the table: a name, the text of a run's cell, and whether it is a number.
 * @type {{ name: string, of: (r: Listed) => string, isNumber?: boolean }[]}
 */
const columns = [
  { name: 'State', of: (r) => (r.state === 'running' ? 'trains' : r.state) },
  {
    name: 'Steps',
    of: (r) => (r.steps === r.planned_steps ? String(r.steps) : `${r.steps} of ${r.planned_steps}`),
    isNumber: true,
  },
  { name: 'Validation', of: (r) => number(r.losses.validation, 3), isNumber: true },
  { name: 'Training', of: (r) => number(r.losses.training, 3), isNumber: true },
  { name: 'Time', of: (r) => duration(r.seconds), isNumber: true },
  { name: 'Begun', of: (r) => (r.begin ? r.begin.slice(0, 16).replace('T', ' ') : '–') },
  { name: 'Model', of: (r) => r.model },
  { name: 'Text', of: (r) => r.text },
];

class Runs {
  constructor(element) {
    this.element = element;
    this.curves = new Map(); // the curves of each run that was chosen, by its name
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
      h('p', { class: 'note', role: 'status' }, 'The runs are read …'),
    );
  }

  async load() {
    try {
      const all = await json('runs');
      if (this.closed) return;
      if (!this.all) fill(this.element, this.element.firstChild, this.table, this.chart.element, this.note);
      this.all = all;
      this.show();
      await this.draw();
    } catch (e) {
      if (!this.closed) fill(this.element, h('h2', {}, 'Runs'), h('p', { class: 'error', role: 'alert' }, e.message));
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

  choose(name, isChosen) {
    const names = this.chosen()
      .map((r) => r.name)
      .filter((n) => n !== name);
    if (isChosen) names.push(name);
    state.set({ chosen: names.join('/') || '/' });
  }

  show() {
    const row = (r) =>
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
              onchange: (e) => this.choose(r.name, e.target.checked),
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
    for (const tr of /** @type {NodeListOf<HTMLElement>} */ (this.table.querySelectorAll('tbody tr'))) {
      const at = chosen.findIndex((r) => r.name === tr.dataset.run);
      tr.querySelector('input').checked = at >= 0;
      /** @type {HTMLElement} */ (tr.querySelector('.ink')).style.background = at < 0 ? 'none' : stroke(at).ink;
    }
    this.chart.show(chosen.flatMap((r, i) => this.series(r, i, show)));
    const texts = new Set(chosen.map((r) => r.text));
    fill(this.note, texts.size > 1 ? 'These runs learn from different texts: their losses do not compare.' : '');
  }

  /** series are the losses of a run, in a colour of its own. */
  series(r, i, show) {
    const { steps, evaluations } = this.curves.get(r.name);
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

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.chart.close();
  }
}

function duration(seconds) {
  if (seconds === undefined) return '–';
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
