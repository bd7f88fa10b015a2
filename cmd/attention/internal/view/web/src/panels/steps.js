// Steps: the computation of a section of the chapter, or of a head of a model, number by number.
import { json, path } from '../api.js';
import { busy } from '../busy.js';
import { chosen, headChoice, modelChoice, nameOf, pairChoice, requestOf, textsOf } from '../choose.js';
import { all, fill, focused, h } from '../dom.js';
import { headSteps } from '../headsteps.js';
import { impliedSteps } from '../implied.js';
import { hasModels, panel, problem, Shown } from '../panel.js';
import { forward } from '../pass.js';
import { tableButton } from '../save.js';
import { Sections } from '../sections.js';
import { mostSeen } from '../sight.js';
import * as state from '../state.js';
import { Worksheet } from '../worksheet.js';

/** @typedef {import('../formula.js').Step} Step */
/** @typedef {{ title: string, text?: string, why?: string, steps: Step[], tools: Node | null }} Listed */

class Steps extends Shown {
  sections = new Sections(this.view, () => busy(this.load()));
  /** @type {Worksheet | null} */
  sheet = null;

  async load() {
    const isOver = this.begin();
    const { sections } = this;
    const isChapter = sections.number() > 0;
    try {
      if (!this.sheet) {
        this.wait('The steps are computed: here come the matrices from queries, keys and values to the result.');
      }
      const shown = isChapter ? await this.ofSection() : await this.ofHead();
      if (isOver()) return;
      this.show(shown, isChapter);
    } catch (e) {
      if (isOver()) return;
      this.sheet?.close();
      this.sheet = null;
      fill(this.element, sections.chooser(), isChapter ? sections.form(undefined) : null, problem(e.message));
    }
  }

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (['change', 'cell'].some(is)) this.sheet?.chooseFirst();
  }

  paint() {
    this.sheet?.paint();
  }

  close() {
    this.sheet?.close();
  }

  /** @returns {Promise<Listed>} */
  async ofSection() {
    const request = this.sections.request();
    const section = await json(path('section', request));
    const tools = section.words ? this.sections.form(section.words) : null;
    return { ...section, title: `${request.number}. ${section.title}`, tools };
  }

  /** @returns {Promise<Listed>} */
  async ofHead() {
    const pass = await forward(requestOf(this.view));
    const [layer, of] = chosen(pass);
    const head = of === 'mean' ? 0 : of;
    const [numbers, values] = await Promise.all([pass.head(layer, head), pass.values(layer, head)]);
    const [queries, keys] = [pass.queries(layer), pass.keys(layer)];
    const q = state.int('q', numbers.T, numbers.T - 1);
    const k = state.int('k', numbers.S, mostSeen(numbers, q, keys.length));
    const isSmall = Math.max(numbers.T, numbers.S) <= 16;
    const tools = h('div', { class: 'tools' }, modelChoice(this.view), headChoice(pass), pairChoice(pass, layer, q, k));
    return {
      title: nameOf(pass, layer, head),
      text: isSmall ? '' : 'The tokens around the chosen query and the chosen key; sums go over all.',
      tools: h('div', {}, textsOf(pass, layer), tools),
      steps: pass.layers[layer].linear
        ? impliedSteps(/** @type {any} */ (numbers), queries)
        : headSteps(numbers, values, queries, keys, q, k),
    };
  }

  /**
   * show shows the steps of a section of the chapter or of a head.
   * @param {Listed} shown
   * @param {boolean} isChapter
   */
  show(shown, isChapter) {
    const kept = focused('[data-keep]')?.dataset.keep;
    this.sheet?.close();
    const sheet = (this.sheet = new Worksheet(shown.steps, isChapter));
    const csv = tableButton(
      () => 'steps',
      () => sheet.table(),
    );
    const note = 'There are too many numbers to compute in the page: these are the library’s.';
    fill(
      this.element,
      this.sections.chooser(),
      shown.tools,
      h('h2', {}, shown.title, ' ', csv),
      shown.text ? h('p', {}, shown.text) : null,
      sheet.computes ? null : h('p', { class: 'note' }, note),
      shown.why ? why(shown.why) : null,
      h('p', { class: 'note' }, colours),
      sheet.element,
      this.sections.onward(),
      sheet.readout,
    );
    const place = kept && all(this.element, `[data-keep="${kept}"]`)[0];
    if (place) (place.matches('input') ? place : place.querySelector('select'))?.focus();
  }
}

const colours =
  'Blue is positive, orange negative: the stronger, the larger in its matrix. Weights are coloured from 0 to the ' +
  'largest of their row; what a mask hides is grey.';

/** why explains the purpose of a section. It is open unless the reader closed the last one. */
function why(/** @type {string} */ text) {
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

export const steps = panel(
  'steps',
  'Steps',
  (view) => hasModels(view) || Boolean(view.chapter),
  Steps,
  'section',
  'sentence',
  'model',
  'text',
  'layer',
  'head',
  'q',
  'k',
);
