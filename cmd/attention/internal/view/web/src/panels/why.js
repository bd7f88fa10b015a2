// Why: models write a string backwards, letter by letter, with and without attention.
import { packed, path } from '../api.js';
import { Curves, stroke } from '../curves.js';
import { button, fill, h } from '../dom.js';
import { panel, Shown } from '../panel.js';
import { Race } from '../race.js';
import { Rival } from '../rival.js';
import * as state from '../state.js';
import { StringField } from '../stringfield.js';

/** @typedef {{letters: string, shortest: number, longest: number, rivals: import('../rival.js').About[]}} Reversing */

class Why extends Shown {
  /**
   * @param {HTMLElement} element
   * @param {import('../api.js').View} view
   */
  constructor(element, view) {
    super(element, view);
    const about = /** @type {Reversing} */ (view.reverse);
    this.about = about;
    this.loading = this.again = false;
    this.playing = 0;
    this.shown = ''; // the string that the models are writing
    this.still = false; // whether the next string is shown completely, for example after the slider changed its length
    this.rivals = about.rivals.map((r, i) => new Rival(r, i, (at) => this.point(at)));
    this.field = new StringField(about, (isGrown) => {
      this.race.stop();
      this.still = isGrown;
    });
    const grow = (/** @type {number} */ n) => {
      this.still = true;
      this.field.grow(n);
    };
    this.race = new Race(() => this.field.text().length, grow, about.longest);
    this.at = h('input', {
      id: 'at',
      type: 'range',
      min: 0,
      step: 1,
      oninput: () => {
        this.race.stop();
        this.stop(true);
        state.set({ at: this.at.value });
      },
    });
    this.atText = h('output', { for: 'at' });
    this.player = button('Write again', () => this.writeAgain(), { id: 'play' });
    this.chart = new Curves('Right to the last letter, % of new strings', { x: 'length' });
    this.build(element);
    this.begins = state.get('text') === '';
  }

  build(/** @type {HTMLElement} */ element) {
    const { letters, shortest, longest, rivals } = this.about;
    const from = `${letters[0]} to ${letters.at(-1)}`;
    fill(
      element,
      h('h2', {}, 'Three models write your string backwards'),
      h(
        'p',
        { class: 'lead' },
        `They have about as many parameters and have learnt from the same strings: ${shortest} to ${
          longest
        } letters, ${from}. One has to keep the whole string in a single vector; two look back at it before each ` +
          'letter. Make the string longer and see which one still can.',
      ),
      this.field.element,
      h(
        'div',
        { class: 'tools' },
        this.race.button,
        this.player,
        h('label', { for: 'at' }, 'Written'),
        this.at,
        this.atText,
      ),
      this.rivals.map((r) => r.element),
      h(
        'p',
        { class: 'note' },
        'The small pictures have a row for each letter that is written and a column for each letter of the string: ' +
          'the weights, from 0 to the largest of their row.',
      ),
      h(
        'div',
        { class: 'charts' },
        this.chart.element,
        h(
          'p',
          { class: 'note' },
          `Measured on new strings, for each length. attention why trains such models before ` +
            `your eyes; ${rivals.map((r) => r.name).join(', ')} are its names for them.`,
        ),
      ),
    );
  }

  /** load requests the outputs for the string, and afterwards for the last string typed meanwhile. */
  async load() {
    if (this.begins) {
      this.begins = false;
      this.race.open();
    }
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      do {
        this.again = false;
        const text = this.field.text();
        const answer = await packed(path('reverse', { text }));
        if (this.closed) return;
        if (!this.again) this.show(text, answer);
      } while (this.again);
    } catch (e) {
      if (!this.closed) this.field.fail(e.message);
    } finally {
      this.loading = false;
    }
  }

  /**
   * show shows the outputs of the models for a string.
   * @param {string} text
   * @param {Record<string, any>} answer
   */
  show(text, answer) {
    this.shown = text;
    this.field.show(text);
    this.rivals.forEach((r, i) => r.take(text, answer.written[i], answer));
    const { rivals, shortest } = this.about;
    this.chart.options.mark = text.length;
    this.chart.show(
      rivals.map((r, i) => ({
        name: r.name,
        wide: 2,
        ...stroke(i),
        points: r.exact.map((share, at) => [shortest + at, 100 * share]),
      })),
    );
    const quiet = this.still || matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.still = false;
    if (state.get('at') !== '' || quiet) this.stop();
    else this.play();
  }

  writeAgain() {
    this.race.stop();
    if (this.playing) this.stop();
    else this.play();
  }

  /** play writes the outputs from the first letter on, in some seconds. */
  play() {
    this.stop(true);
    const n = this.shown.length;
    const each = Math.max(50, Math.min(220, 3000 / n));
    let at = 0;
    const next = () => {
      this.draw(at);
      if (at++ === n) this.stop(true);
    };
    this.playing = setInterval(next, each);
    next();
  }

  /** stop ends the writing; with quietly the picture does not change. */
  stop(quietly = false) {
    clearInterval(this.playing);
    this.playing = 0;
    fill(this.player, 'Write again');
    if (!quietly) this.draw();
  }

  /** point shows the letter under the pointer, or else the letter in the state. */
  point(/** @type {number | undefined} */ at) {
    if (this.playing) return;
    this.draw(at);
  }

  /** draw draws the writing up to a letter. Without one it uses the letter in the state, at first the last letter. */
  draw(/** @type {number | undefined} */ at = undefined) {
    if (!this.shown) return;
    const n = this.shown.length;
    const written = at ?? state.int('at', n + 1, n);
    fill(this.player, this.playing ? 'Stop' : 'Write again');
    Object.assign(this.at, { max: n, value: written });
    this.at.setAttribute('aria-valuetext', `${written} of ${n} letters`);
    fill(this.atText, `${written} of ${n}`);
    for (const r of this.rivals) r.draw(written);
  }

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (['at', 'head'].some(is)) this.draw();
  }

  paint() {
    this.draw();
  }

  close() {
    this.race.close();
    clearInterval(this.playing);
    for (const r of this.rivals) r.close();
    this.chart.close();
  }
}

export const why = panel('why', 'Why attention', (view) => Boolean(view.reverse), Why, 'text');
