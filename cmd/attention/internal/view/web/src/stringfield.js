// The input string of the task reverse: typed, lengthened by a slider, or of random letters.
import { button, fill, h } from './dom.js';
import * as state from './state.js';

/** @typedef {import('./panels/why.js').Reversing} Reversing */

const first = 'bighead'; // which all three models can write

/** StringField is the field for the string; ontaken is called when the reader changes it. */
export class StringField {
  /**
   * @param {Reversing} about
   * @param {(isGrown: boolean) => void} ontaken
   */
  constructor(about, ontaken) {
    this.about = about;
    this.ontaken = ontaken;
    this.others = this.draws();
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
      max: about.longest,
      step: 1,
      oninput: () => this.lengthen(Number(this.length.value)),
    });
    this.lengthText = h('output', { for: 'length' });
    this.note = h('span', { class: 'note small', role: 'status' });
    this.element = h(
      'div',
      { class: 'tools' },
      h('label', { for: 'string' }, 'String'),
      this.input,
      h('label', { for: 'length' }, 'Letters'),
      this.length,
      this.lengthText,
      button('Other letters', () => this.redraw()),
      this.note,
    );
  }

  /** text is the string in the state. */
  text() {
    return clean(state.get('text') || first, this.about);
  }

  /** draws returns as many random letters as a string may have. */
  draws() {
    const { letters, longest } = this.about;
    return Array.from({ length: longest }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
  }

  type() {
    this.ontaken(false);
    const typed = this.input.value;
    const text = clean(typed, this.about);
    const caret = clean(typed.slice(0, this.input.selectionStart ?? 0), this.about).length;
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

  lengthen(/** @type {number} */ n) {
    this.ontaken(true);
    this.grow(n);
  }

  /** grow changes the length of the string to n letters. */
  grow(/** @type {number} */ n) {
    const text = this.text();
    state.set({ text: (text + this.others.slice(text.length)).slice(0, n), at: '' });
  }

  redraw() {
    this.ontaken(false);
    this.others = this.draws();
    state.set({ text: this.others.slice(0, this.text().length), at: '' });
  }

  /** show shows the string that is written, unless the reader is typing. */
  show(/** @type {string} */ text) {
    if (document.activeElement !== this.input) this.input.value = text;
    this.length.value = String(text.length);
    fill(this.lengthText, String(text.length));
  }

  fail(/** @type {string} */ message) {
    fill(this.note, h('span', { class: 'error', role: 'alert' }, message));
  }
}

/**
 * clean removes letters of a text that the models do not know, and letters beyond the limit.
 * @param {string} text
 * @param {Reversing} about
 */
function clean(text, { letters, longest }) {
  return [...text.toLowerCase()]
    .filter((c) => letters.includes(c))
    .slice(0, longest)
    .join('');
}
