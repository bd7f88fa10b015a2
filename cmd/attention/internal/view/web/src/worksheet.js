// Steps with their matrices: each number says what it is computed from, and one of an input or weight gets a slider.
import { fill, h, number } from './dom.js';
import { experiment } from './experiment.js';
import { explain } from './explain.js';
import { arrow } from './flow.js';
import { Program } from './formula.js';
import { Matrix } from './matrix.js';
import { tableButton } from './save.js';
import { Slider } from './slider.js';
import * as state from './state.js';
import { flat, indexOf } from './tensor.js';

/** @typedef {import('./formula.js').Step} Step */

const mostChanged = 96; // numbers of an input or of weights that can be changed
const changeHint = ' Click a number to change it.';

/** Worksheet shows steps; of the chapter's the numbers that all begins with can be changed. */
export class Worksheet {
  /**
   * @param {Step[]} steps
   * @param {boolean} isChapter
   */
  constructor(steps, isChapter) {
    this.program = new Program(steps.map((s) => (s.exact ? s : { ...s, values: s.values ?? [] })));
    this.computes = steps.some((s) => s.exact);
    this.isChapter = isChapter;
    this.changes = new Set(this.changeable());
    this.slider = new Slider(
      (v) => this.move(v),
      () => this.remember(),
      () => this.reset(),
    );
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    /** @type {import('./curves.js').Curves[]} */
    this.charts = [];
    /** @type {[string, number[]] | null} the number that is pointed at */
    this.pointed = null;
    this.changing = { name: '', at: 0 };
    this.readout = h(
      'p',
      { class: 'readout formula-readout', 'aria-live': 'polite' },
      'Point at a number: here stands what it is computed from.',
    );
    this.restore();
    this.element = h(
      'div',
      { class: 'stepsflow' },
      steps.map((s, i) => h('div', { class: 'flowpart' }, arrow(s, steps[i - 1]), this.step(s))),
    );
    this.update();
    this.chooseFirst();
  }

  /** table is all numbers, one a line. */
  table() {
    /** @type {(string | number)[][]} */
    const rows = [['step', 'block', 'row', 'column', 'value']];
    for (const [name, matrix] of this.matrices) {
      const { shape, data } = this.program.value(name);
      data.forEach((v, at) => rows.push([name, ...matrix.place(shape, at), v]));
    }
    return rows;
  }

  /** step is one step with its matrix. */
  step(/** @type {Step} */ s) {
    const matrix = new Matrix(
      s.name,
      { blocks: s.blocks, rows: s.rows, columns: s.columns },
      s.window,
      (index) => this.point(s.name, index),
      (index) => {
        this.choose(s.name, index);
        if (this.changes.has(s.name)) state.set({ change: s.name, cell: this.changing.at }, true);
      },
    );
    this.matrices.set(s.name, matrix);
    const chart = experiment(s, () => this.program.value(s.name).data);
    if (chart) this.charts.push(chart);
    const whole = s.whole ? ` Its corner, of ${s.whole.join(' × ')}.` : '';
    const file = () => s.name.replaceAll(/[^\w.]+/g, '-');
    return h(
      'section',
      { class: s.part ? 'onestep part' : 'onestep', 'data-step': s.name },
      h(
        'h3',
        {},
        s.name,
        s.formula ? h('span', { class: 'formula' }, ` = ${s.formula}`) : null,
        ' ',
        tableButton(file, () => matrix.rows()),
      ),
      h('p', { class: 'note' }, s.text + whole, s.learnt ? ' Learnt.' : '', this.changes.has(s.name) ? changeHint : ''),
      chart?.element,
      matrix.element,
    );
  }

  /** update shows the values of some steps, of all without names. */
  update(/** @type {Set<string> | undefined} */ names = undefined) {
    for (const [name, matrix] of this.matrices) {
      const step = this.program.step(name);
      if (!names || names.has(name)) matrix.show(this.program.value(name), step.count, this.hiddenIn(step));
    }
    if (this.pointed) this.point(...this.pointed);
  }

  /** hiddenIn reports which weights are those of hidden keys. */
  hiddenIn(/** @type {Step} */ { exact }) {
    if (!exact?.of || !['softmax', 'sigmoid'].includes(exact.op)) return undefined;
    const scores = this.program.of(exact.of[0]).data;
    return (/** @type {number} */ at) => scores[at] === -Infinity;
  }

  /**
   * point shows what a number is computed from.
   * @param {string} name
   * @param {number[]} index
   */
  point(name, index) {
    this.pointed = [name, index];
    const step = this.program.step(name);
    const { text, uses } = explain(this.program, name, index);
    const value = this.program.value(name);
    const at = flat(value.shape, index);
    const is = step.count ? String(value.data[at]) : number(value.data[at]);
    /** @type {(Node | string)[]} */
    const parts = [h('strong', {}, this.matrix(name).title(index))];
    if (step.formula) parts.push(` = ${step.formula}`);
    if (text) parts.push(' = ', h('span', { class: 'numbers' }, text));
    parts.push(' = ', h('span', { class: 'result' }, is));
    if (!step.exact && !step.formula && !step.count && this.computes) {
      parts.push(step.learnt ? ', learnt in training' : ', an input');
    }
    fill(this.readout, parts);
    for (const [other, m] of this.matrices) {
      m.mark(new Set(uses.filter(([used]) => used === other).map(([, place]) => place)));
    }
  }

  matrix(/** @type {string} */ name) {
    return /** @type {Matrix} */ (this.matrices.get(name));
  }

  /** changeable are the inputs and weights that are few enough for sliders, and that something depends on. */
  changeable() {
    if (!this.isChapter) return [];
    return [...this.program.steps.values()]
      .filter(
        (s) =>
          !s.exact &&
          !s.count &&
          s.name !== 'ones' &&
          s.name !== 'keep' &&
          (s.values?.length ?? 0) <= mostChanged &&
          this.program.dependents(s.name).size > 0,
      )
      .map((s) => s.name);
  }

  /**
   * choose puts the slider below the matrix of a number, if the number can be changed.
   * @param {string} name
   * @param {number[]} index
   */
  choose(name, index) {
    if (!this.changes.has(name)) return;
    const { shape, data } = this.program.value(name);
    const at = flat(shape, index);
    const matrix = this.matrix(name);
    this.changing = { name, at };
    this.slider.show(matrix.title(index), at, data[at]);
    matrix.element.after(this.slider.element);
  }

  /** chooseFirst puts the slider below the matrix of the state, or of the queries' weights, or the first one. */
  chooseFirst() {
    const all = [...this.changes];
    if (!all.length) return;
    const wanted = [state.get('change'), all.find((n) => n.includes('W_query'))];
    const name = wanted.find((n) => n && this.changes.has(n)) ?? all[0];
    const { shape, data } = this.program.value(name);
    this.choose(name, indexOf(shape, state.int('cell', data.length)));
  }

  /** move changes the chosen number. */
  move(/** @type {number} */ v) {
    const { name, at } = this.changing;
    const numbers = Array.from(this.program.value(name).data);
    numbers[at] = v;
    this.program.set(name, numbers);
    this.update(new Set([name, ...this.program.dependents(name)]));
  }

  /** reset makes all numbers as they were. */
  reset() {
    this.program.reset();
    state.set({ numbers: '' }, true);
    this.update();
    const { name, at } = this.changing;
    this.choose(name, indexOf(this.program.value(name).shape, at));
  }

  /** remember writes the changed numbers to the state. */
  remember() {
    const isChanged = (/** @type {string} */ name) =>
      Array.from(this.program.step(name).values ?? []).some((v, i) => v !== this.program.value(name).data[i]);
    const texts = [...this.changes].filter(isChanged).map((name) => [name, ...this.program.value(name).data].join('_'));
    state.set({ numbers: texts.join('~') }, true);
  }

  /** restore takes the changed numbers of the state. */
  restore() {
    for (const text of state.get('numbers').split('~').filter(Boolean)) {
      const name = [...this.changes].find((n) => text.startsWith(`${n}_`));
      if (!name) continue;
      const numbers = text
        .slice(name.length + 1)
        .split('_')
        .map(Number);
      const isOfThisStep = numbers.length === this.program.step(name).values?.length;
      if (isOfThisStep && numbers.every(Number.isFinite)) this.program.set(name, numbers);
    }
  }

  /** paint writes all numbers and their colours anew, as when light turns to dark. */
  paint() {
    for (const matrix of this.matrices.values()) matrix.paint();
  }

  close() {
    for (const chart of this.charts) chart.close();
  }
}
