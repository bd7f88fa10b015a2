// The sections of the chapter: the choice of a section, links to the previous and the next one, and the input words.
import { isExported } from './api.js';
import { button, choice, h } from './dom.js';
import * as state from './state.js';

/** @typedef {import('./api.js').View} View */

/** Sections choose a section of the chapter, or a head of a model; again() is called after the words change. */
export class Sections {
  /**
   * @param {View} view
   * @param {() => void} again
   */
  constructor(view, again) {
    this.view = view;
    this.again = again;
    this.titles = view.chapter ?? [];
    /** @type {string | undefined} the reader's words, even if no section can use them */
    this.own = undefined;
  }

  /** number is that of the chosen section; 0 for a head of a model. */
  number() {
    const { titles, view } = this;
    if (!titles.length || (state.get('section') === 'head' && view.models.length)) return 0;
    return state.int('section', titles.length + 1, 1) || 1;
  }

  /**
   * request returns the request for the server.
   * @returns {Record<string, string | number>}
   */
  request() {
    const sentence = this.own ?? state.get('sentence');
    const own = this.own !== undefined || sentence !== '';
    return own ? { number: this.number(), sentence } : { number: this.number() };
  }

  /** chooser chooses a section, or a head of a model, if there is a choice. */
  chooser() {
    const { titles, view } = this;
    if (!titles.length) return null;
    const options = titles.map((title, i) => [String(i + 1), `${i + 1}. ${title}`]);
    if (view.models.length) options.push(['head', 'A head of the model']);
    const at = this.number();
    const step = (/** @type {number} */ to, /** @type {string} */ text, /** @type {string} */ what) =>
      button(text, () => this.go(to), {
        'aria-label': what,
        title: what,
        disabled: !at || to < 1 || to > titles.length,
      });
    const sections = choice('section', options, at || 'head', (v) => this.go(v));
    sections.dataset.keep = 'section';
    const [before, next] = [step(at - 1, '←', 'the section before'), step(at + 1, '→', 'the next section')];
    return h('div', { class: 'tools' }, sections, before, next);
  }

  /** go shows a section, or a head of a model. */
  go(/** @type {number | string} */ section) {
    this.own = undefined;
    state.set({ section, numbers: '', change: '', cell: '' });
  }

  /** onward is the link to the next section, below this one. */
  onward() {
    const next = this.number();
    const title = next ? this.titles[next] : '';
    if (!title) return null;
    const go = () => {
      this.go(next + 1);
      scrollTo(0, 0);
    };
    return h('p', { class: 'onward' }, button(`Next: ${next + 1}. ${title}`, go));
  }

  /** form is the field for the input words of a section; without any in the state it has those of the request. */
  form(/** @type {string[] | undefined} */ words) {
    if (isExported) {
      const note = `On the words “${words?.join(' ')}”; attention view --chapter runs others.`;
      return words ? h('p', { class: 'note' }, note) : null;
    }
    const input = h('input', {
      id: 'sentence',
      '.value': words?.join(' ') ?? this.own ?? state.get('sentence'),
      'data-keep': 'sentence',
      size: 40,
    });
    const run = (/** @type {Event} */ e) => {
      e.preventDefault();
      this.take(input.value.trim());
    };
    const plain = this.view.text ? 'As at the start' : 'The chapter’s';
    return h(
      'form',
      { class: 'tools', onsubmit: run },
      h('label', { for: 'sentence' }, 'Words'),
      input,
      h('button', { type: 'submit' }, 'Run'),
      button(plain, () => this.take(undefined), { title: 'the words that attention view began with' }),
    );
  }

  /** take takes the reader's words, or the initial words if there are none. */
  take(/** @type {string | undefined} */ words) {
    this.own = words;
    state.set({ sentence: words ?? '', numbers: '' }, true);
    this.again();
  }
}
