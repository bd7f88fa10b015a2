// Why: models write a string backwards, letter by letter, with and without attention.
import { packed, path } from '../api.js';
import { busy } from '../busy.js';
import { Curves, stroke } from '../curves.js';
import { button, fill, h } from '../dom.js';
import { Rival } from '../rival.js';
import * as state from '../state.js';

/** @typedef {{letters: string, shortest: number, longest: number, rivals: import('../rival.js').About[]}} Reversing */

export const why = {
  name: 'why',
  title: 'Why attention',
  needs: (view) => Boolean(view.reverse),
  show(element, view) {
    const panel = new Why(element, view.reverse);
    busy(panel.load());
    const end = state.onChange((changed) => {
      if (changed('text')) busy(panel.load());
      else if (['at', 'head'].some(changed)) panel.draw();
    });
    const repaint = () => panel.draw();
    addEventListener('theme', repaint);
    return () => {
      removeEventListener('theme', repaint);
      end();
      panel.close();
    };
  },
};

const first = 'bighead'; // which all three know how to write

class Why {
  /**
   * @param {HTMLElement} element
   * @param {Reversing} about
   */
  constructor(element, about) {
    this.about = about;
    this.still = false; // the next string is shown as a whole: a slider makes it grow
    this.rivals = about.rivals.map((r, i) => new Rival(r, i, (at) => this.point(at)));
    this.others = this.draws();
    this.build(element);
  }

  build(element) {
    const { letters, shortest, longest, rivals } = this.about;
    this.input = h('input', {
      id: 'string',
      size: 42,
      spellcheck: 'false',
      autocomplete: 'off',
      autocapitalize: 'none',
      oninput: () => this.type(),
      onblur: () => {
        this.input.value = this.text();
      },
    });
    this.length = h('input', {
      id: 'length',
      type: 'range',
      min: 1,
      max: longest,
      step: 1,
      oninput: () => this.lengthen(Number(this.length.value)),
    });
    this.lengthText = h('output', { for: 'length' });
    this.at = h('input', {
      id: 'at',
      type: 'range',
      min: 0,
      step: 1,
      oninput: () => {
        this.stop(true);
        state.set({ at: this.at.value });
      },
    });
    this.atText = h('output', { for: 'at' });
    this.player = button('Write again', () => (this.playing ? this.stop() : this.play()), { id: 'play' });
    this.note = h('span', { class: 'note small', role: 'status' });
    this.chart = new Curves(`Right to the last letter, % of new strings`, { x: 'length' });
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
      h(
        'div',
        { class: 'tools' },
        h('label', { for: 'string' }, 'String'),
        this.input,
        h('label', { for: 'length' }, 'Letters'),
        this.length,
        this.lengthText,
        button('Other letters', () => this.redraw()),
        this.note,
      ),
      h('div', { class: 'tools' }, this.player, h('label', { for: 'at' }, 'Written'), this.at, this.atText),
      this.rivals.map((r) => r.element),
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

  /** text is the string of the state. */
  text() {
    return clean(state.get('text') || first, this.about);
  }

  /** draws returns random letters, as many as a string may have. */
  draws() {
    const { letters, longest } = this.about;
    return Array.from({ length: longest }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
  }

  type() {
    const typed = this.input.value;
    const text = clean(typed, this.about);
    const caret = clean(typed.slice(0, this.input.selectionStart), this.about).length;
    if (text !== typed) {
      this.input.value = text;
      this.input.setSelectionRange(caret, caret);
    }
    const { letters, longest } = this.about;
    const left = [...typed].some((c) => !letters.includes(c.toLowerCase()));
    let note = '';
    if (left) note = `The models know the letters ${letters[0]} to ${letters.at(-1)} only.`;
    else if (typed.length > longest) note = `The models have learnt strings of up to ${longest} letters.`;
    fill(this.note, note);
    if (text) state.set({ text, at: '' });
  }

  lengthen(n) {
    const text = this.text();
    this.still = true;
    state.set({ text: (text + this.others.slice(text.length)).slice(0, n), at: '' });
  }

  redraw() {
    this.others = this.draws();
    state.set({ text: this.others.slice(0, this.text().length), at: '' });
  }

  /** load asks what the models write for the string, and for the last one of those typed meanwhile. */
  async load() {
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      do {
        this.again = false;
        const text = this.text();
        const answer = await packed(path('reverse', { text }));
        if (this.closed) return;
        if (!this.again) this.show(text, answer);
      } while (this.again);
    } catch (e) {
      if (!this.closed) fill(this.note, h('span', { class: 'error', role: 'alert' }, e.message));
    } finally {
      this.loading = false;
    }
  }

  show(text, answer) {
    this.shown = text;
    if (document.activeElement !== this.input) this.input.value = text;
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

  /** play writes from the first letter on, in some seconds. */
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

  /** stop ends the writing; quietly without a change of what is drawn. */
  stop(quietly = false) {
    clearInterval(this.playing);
    this.playing = null;
    fill(this.player, 'Write again');
    if (!quietly) this.draw();
  }

  /** point shows a letter that is pointed at; none goes back to that of the state. */
  point(at) {
    if (this.playing) return;
    this.draw(at);
  }

  /** draw draws the writing up to a letter: that of the state without one, which is the last one at first. */
  draw(at) {
    if (this.shown === undefined) return;
    const n = this.shown.length;
    const written = at ?? state.int('at', n + 1, n);
    fill(this.player, this.playing ? 'Stop' : 'Write again');
    this.length.value = n;
    fill(this.lengthText, String(n));
    Object.assign(this.at, { max: n, value: written });
    this.at.setAttribute('aria-valuetext', `${written} of ${n} letters`);
    fill(this.atText, `${written} of ${n}`);
    for (const r of this.rivals) r.draw(written);
  }

  close() {
    this.closed = true;
    clearInterval(this.playing);
    for (const r of this.rivals) r.close();
    this.chart.close();
  }
}

/** clean keeps of a text the letters that the models know, as many as they take. */
function clean(text, { letters, longest }) {
  return [...text.toLowerCase()]
    .filter((c) => letters.includes(c))
    .slice(0, longest)
    .join('');
}
