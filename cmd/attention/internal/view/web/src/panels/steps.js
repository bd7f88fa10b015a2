// Steps: what a section of the chapter, or a head of a model, computes, number by number.
import { isExported, json, path } from '../api.js';
import { busy } from '../busy.js';
import { chosen, headChoice, modelChoice, nameOf, requestOf, textsOf } from '../choose.js';
import { Curves, stroke } from '../curves.js';
import { all, button, choice, fill, focused, h, number, shown as textOf } from '../dom.js';
import { explain, flat, indexOf } from '../explain.js';
import { arrow } from '../flow.js';
import { Program } from '../formula.js';
import { headSteps } from '../headsteps.js';
import { impliedSteps } from '../implied.js';
import { see } from '../look.js';
import { Matrix } from '../matrix.js';
import { tableButton } from '../save.js';
import { Slider } from '../slider.js';
import * as state from '../state.js';
import { mostSeen } from '../tokens.js';

export const steps = {
  name: 'steps',
  title: 'Steps',
  needs: (view) => view.models?.length > 0 || view.chapter,
  show(element, view) {
    const panel = new Steps(element, view);
    busy(panel.load());
    const end = state.onChange((changed) => {
      if (['section', 'sentence', 'model', 'text', 'layer', 'head', 'q', 'k'].some(changed)) busy(panel.load());
      else if (['change', 'cell'].some(changed) && panel.program) panel.chooseFirst();
    });
    const repaint = () => panel.matrices.forEach((m) => m.paint());
    addEventListener('theme', repaint);
    return () => {
      panel.closed = true;
      removeEventListener('theme', repaint);
      panel.charts.forEach((c) => c.close());
      end();
    };
  },
};

const mostChanged = 96; // numbers of an input or of weights that can be changed
const growing = /^(\w+) = (\d+)$/; // a column of a growing number

class Steps {
  constructor(element, view) {
    this.element = element;
    this.view = view;
    this.closed = false;
    /** @type {Map<string, Matrix>} */
    this.matrices = new Map();
    /** @type {Curves[]} */
    this.charts = [];
    this.slider = new Slider(
      (v) => this.move(v),
      () => this.remember(),
      () => this.reset(),
    );
  }

  /** section is the number of the chosen section; 0 for a head of a model. */
  section() {
    const { chapter, models } = this.view;
    if (!chapter || (state.get('section') === 'head' && models?.length)) return 0;
    return state.int('section', chapter.length + 1, 1) || 1;
  }

  async load() {
    const wanted = (this.wanted = {});
    const number = this.section();
    try {
      if (!this.program) {
        fill(
          this.element,
          h(
            'p',
            { class: 'note', role: 'status' },
            'The steps are computed: here come the matrices from queries, keys and values to the result.',
          ),
        );
      }
      const shown = number ? await this.ofSection(number) : await this.ofHead();
      if (this.closed || this.wanted !== wanted) return;
      this.show(shown);
    } catch (e) {
      if (this.closed || this.wanted !== wanted) return;
      this.program = null;
      fill(
        this.element,
        this.chooser(),
        number ? this.sentence() : null,
        h('p', { class: 'error', role: 'alert' }, e.message),
      );
    }
  }

  async ofSection(number) {
    const sentence = this.own ?? state.get('sentence');
    const own = this.own !== undefined || sentence !== '';
    const section = await json(path('section', own ? { number, sentence } : { number }));
    const tools = section.words ? this.sentence(section.words) : null;
    return { ...section, title: `${number}. ${section.title}`, tools };
  }

  async ofHead() {
    const look = await see(requestOf(this.view));
    const [layer, of] = chosen(look);
    const head = of === 'mean' ? 0 : of;
    const [numbers, values] = await Promise.all([look.head(layer, head), look.values(layer, head)]);
    const [queries, keys] = [look.queries(layer), look.keys(layer)];
    const q = state.int('q', numbers.T, numbers.T - 1);
    const k = state.int('k', numbers.S, mostSeen(numbers, q, look.keys(layer).length));
    const tokens = (list) => list.map((t, i) => [i, `${i} ${textOf(t)}`]);
    return {
      title: nameOf(look, layer, head),
      text:
        Math.max(numbers.T, numbers.S) <= 16
          ? ''
          : 'The tokens around the chosen query and the chosen key; sums go over all.',
      tools: h(
        'div',
        {},
        textsOf(look, layer),
        h(
          'div',
          { class: 'tools' },
          modelChoice(this.view),
          headChoice(look),
          h(
            'span',
            { 'data-keep': 'q' },
            choice('query', tokens(queries), q, (v) => state.set({ q: v })),
          ),
          h(
            'span',
            { 'data-keep': 'k' },
            choice('key', tokens(keys), k, (v) => state.set({ k: v })),
          ),
        ),
      ),
      steps: look.layers[layer].linear
        ? impliedSteps(numbers, queries)
        : headSteps(numbers, values, queries, keys, q, k),
    };
  }

  /** chooser chooses a section, or a head of a model, if there is a choice. */
  chooser() {
    const { chapter, models } = this.view;
    if (!chapter) return null;
    const options = chapter.map((title, i) => [i + 1, `${i + 1}. ${title}`]);
    if (models?.length) options.push(['head', 'A head of the model']);
    const at = this.section();
    const step = (to, text, what) =>
      button(text, () => this.go(to), {
        'aria-label': what,
        title: what,
        disabled: !at || to < 1 || to > chapter.length,
      });
    const sections = choice('section', options, at || 'head', (v) => this.go(v));
    sections.dataset.keep = 'section';
    return h(
      'div',
      { class: 'tools' },
      sections,
      step(at - 1, '←', 'the section before'),
      step(at + 1, '→', 'the next section'),
    );
  }

  /** go shows a section, or a head of a model. */
  go(section) {
    this.own = undefined;
    state.set({ section, numbers: '', change: '', cell: '' });
  }

  /** onward is the way to the next section, below this one. */
  onward() {
    const next = this.section();
    const title = next && this.view.chapter[next];
    if (!title) return null;
    const go = () => {
      this.go(next + 1);
      scrollTo(0, 0);
    };
    return h('p', { class: 'onward' }, button(`Next: ${next + 1}. ${title}`, go));
  }

  /** sentence is the form of the words. */
  sentence(words) {
    if (isExported) {
      const note = (on) => h('p', { class: 'note' }, `On the words “${on}”; attention view --chapter runs others.`);
      return words ? note(words.join(' ')) : null;
    }
    const input = h('input', {
      id: 'sentence',
      '.value': words?.join(' ') ?? this.own ?? state.get('sentence'),
      'data-keep': 'sentence',
      size: 40,
    });
    const run = (e) => {
      e.preventDefault();
      this.own = input.value.trim();
      state.set({ sentence: this.own, numbers: '' }, true);
      busy(this.load());
    };
    return h(
      'form',
      { class: 'tools', onsubmit: run },
      h('label', { for: 'sentence' }, 'Words'),
      input,
      h('button', { type: 'submit' }, 'Run'),
      button(
        this.view.text ? 'As at the start' : 'The chapter’s',
        () => {
          this.own = undefined;
          state.set({ sentence: '', numbers: '' }, true);
          busy(this.load());
        },
        { title: 'the words that attention view began with' },
      ),
    );
  }

  show(shown) {
    const kept = focused('[data-keep]')?.dataset.keep;
    this.program = new Program(shown.steps.map((s) => (s.exact ? s : { ...s, values: s.values ?? [] })));
    this.computes = shown.steps.some((s) => s.exact);
    this.restore();
    this.matrices.clear();
    this.pointed = null;
    for (const chart of this.charts) chart.close();
    this.charts = [];
    this.changes = new Set(this.changeable());
    this.readout = h(
      'p',
      { class: 'readout formula-readout', 'aria-live': 'polite' },
      'Point at a number: here stands what it is computed from.',
    );
    fill(
      this.element,
      this.chooser(),
      shown.tools,
      h(
        'h2',
        {},
        shown.title,
        ' ',
        tableButton(
          () => 'steps',
          () => this.table(),
        ),
      ),
      shown.text ? h('p', {}, shown.text) : null,
      this.computes
        ? null
        : h('p', { class: 'note' }, 'There are too many numbers to compute in the page: these are the library’s.'),
      shown.why ? why(shown.why) : null,
      h(
        'div',
        { class: 'stepsflow' },
        shown.steps.map((s, i) => h('div', { class: 'flowpart' }, arrow(s, shown.steps[i - 1]), this.step(s))),
      ),
      this.onward(),
      this.readout,
    );
    this.update();
    this.chooseFirst();
    const place = kept && all(this.element, `[data-keep="${kept}"]`)[0];
    (place?.matches('input') ? place : place?.querySelector('select'))?.focus();
  }

  /** table is all numbers, one a line. */
  table() {
    const rows = [['step', 'block', 'row', 'column', 'value']];
    for (const [name, matrix] of this.matrices) {
      const { shape, data } = this.program.value(name);
      data.forEach((v, at) => rows.push([name, ...matrix.place(shape, at), v]));
    }
    return rows;
  }

  /** step is one step with its matrix. */
  step(s) {
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
    const whole = s.whole ? ` Its corner, of ${s.whole.join(' × ')}.` : '';
    return h(
      'section',
      { class: s.part ? 'onestep part' : 'onestep', 'data-step': s.name },
      h(
        'h3',
        {},
        s.name,
        s.formula ? h('span', { class: 'formula' }, ` = ${s.formula}`) : null,
        ' ',
        tableButton(
          () => s.name.replaceAll(/[^\w.]+/g, '-'),
          () => matrix.rows(),
        ),
      ),
      h('p', { class: 'note' }, s.text + whole, s.learnt ? ' Learnt.' : '', this.changes.has(s.name) ? changeHint : ''),
      this.curve(s),
      matrix.element,
    );
  }

  /** curve is a chart of a step whose columns are a growing number; a row is a curve. */
  curve(s) {
    const columns = (s.columns ?? []).map((c) => growing.exec(c));
    if (columns.length < 3 || columns.includes(null)) return null;
    const chart = new Curves(`${s.name} over ${columns[0][1]}`, { x: columns[0][1], logX: true });
    const { data } = this.program.value(s.name);
    chart.show(
      s.rows.map((name, row) => ({
        name,
        wide: 2,
        ...stroke(row),
        points: columns.map((c, i) => [Number(c[2]), data[row * columns.length + i]]),
      })),
    );
    this.charts.push(chart);
    return chart.element;
  }

  /** update shows the values of some steps, of all without names. */
  update(names) {
    for (const [name, matrix] of this.matrices) {
      const step = this.program.steps.get(name);
      if (!names || names.has(name)) matrix.show(this.program.value(name), step.count, this.hiddenIn(step));
    }
    if (this.pointed) this.point(...this.pointed);
  }

  /** hiddenIn reports which weights are those of hidden keys. */
  hiddenIn(step) {
    if (!['softmax', 'sigmoid'].includes(step.exact?.op)) return undefined;
    const scores = this.program.of(step.exact.of[0]).data;
    return (at) => scores[at] === -Infinity;
  }

  /** point shows what a number is computed from. */
  point(name, index) {
    this.pointed = [name, index];
    const step = this.program.steps.get(name);
    const { text, uses } = explain(this.program, name, index);
    const matrix = this.matrices.get(name);
    const value = this.program.value(name);
    const at = flat(value.shape, index);
    const is = step.count ? String(value.data[at]) : number(value.data[at]);
    /** @type {(Node | string)[]} */
    const parts = [h('strong', {}, matrix.title(index))];
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

  /** changeable are the inputs and weights that are few enough for sliders, and that something depends on. */
  changeable() {
    if (!this.view.chapter || !this.section()) return [];
    return [...this.program.steps.values()]
      .filter(
        (s) =>
          !s.exact &&
          !s.count &&
          s.name !== 'ones' &&
          s.name !== 'keep' &&
          s.values.length <= mostChanged &&
          this.program.dependents(s.name).size > 0,
      )
      .map((s) => s.name);
  }

  /** choose puts the slider below the matrix of a number, if the number can be changed. */
  choose(name, index) {
    if (!this.changes.has(name)) return;
    const { shape, data } = this.program.value(name);
    const at = flat(shape, index);
    const matrix = this.matrices.get(name);
    this.changing = { name, at };
    this.slider.show(matrix.title(index), at, data[at]);
    matrix.element.after(this.slider.element);
  }

  /** chooseFirst puts the slider below the matrix of the state, or of the queries' weights, or the first one. */
  chooseFirst() {
    const all = [...this.changes];
    if (!all.length) return;
    const name =
      [state.get('change'), all.find((n) => n.includes('W_query'))].find((n) => this.changes.has(n)) ?? all[0];
    const { shape, data } = this.program.value(name);
    this.choose(name, indexOf(shape, state.int('cell', data.length)));
  }

  /** move changes the chosen number. */
  move(v) {
    const { name, at } = this.changing;
    const numbers = Array.from(this.program.value(name).data);
    numbers[at] = v;
    this.change(name, numbers);
  }

  /** reset makes all numbers as they were. */
  reset() {
    this.program.reset();
    state.set({ numbers: '' }, true);
    this.update();
    const { name, at } = this.changing;
    this.choose(name, indexOf(this.program.value(name).shape, at));
  }

  change(name, numbers) {
    this.program.set(name, numbers);
    this.update(new Set([name, ...this.program.dependents(name)]));
  }

  /** remember writes the changed numbers to the state. */
  remember() {
    const changed = this.changeable().filter((name) =>
      this.program.steps.get(name).values.some((v, i) => v !== this.program.value(name).data[i]),
    );
    state.set({ numbers: changed.map((name) => [name, ...this.program.value(name).data].join('_')).join('~') }, true);
  }

  /** restore takes the changed numbers of the state. */
  restore() {
    const changeable = this.changeable();
    for (const text of state.get('numbers').split('~').filter(Boolean)) {
      const name = changeable.find((n) => text.startsWith(`${n}_`));
      const numbers =
        name &&
        text
          .slice(name.length + 1)
          .split('_')
          .map(Number);
      if (!numbers || numbers.length !== this.program.steps.get(name).values.length) continue;
      if (numbers.every(Number.isFinite)) this.program.set(name, numbers);
    }
  }
}

const changeHint = ' Click a number to change it.';

/** why is the reason for a section, open unless the reader closed the last one. */
function why(text) {
  const details = h(
    'details',
    {
      open: state.get('why') !== 'closed',
      ontoggle: () => state.set({ why: details.open ? '' : 'closed' }, true),
    },
    h('summary', {}, 'Why'),
    h('p', { class: 'why' }, text),
  );
  return details;
}
