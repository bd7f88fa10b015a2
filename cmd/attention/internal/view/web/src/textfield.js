// The field for the reader's text, on which the whole page depends.
import { isExported } from './api.js';
import { Chips, hasChips } from './chips.js';
import { modelChoice, plainOf, textOf, thenOf } from './choose.js';
import { button, fill, h } from './dom.js';
import * as state from './state.js';

const rest = 30; // ms after a key stroke until the model reads the text

/** TextField is where the text is written. */
export class TextField {
  /**
   * ontyped is called at each keystroke.
   * @param {import('./api.js').View} view
   * @param {() => void} ontyped
   */
  constructor(view, ontyped) {
    this.view = view;
    this.ontyped = ontyped;
    this.area = h('textarea', {
      id: 'text',
      rows: 1,
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => this.typed(),
    });
    this.area.readOnly = isExported;
    this.note = h('p', { class: 'note' });
    this.reset = button('The example', () => state.set({ text: '', then: '', hide: '', q: '', at: '' }), {
      class: 'quiet',
    });
    this.chips = hasChips(view) ? new Chips(view) : null;
    this.element = h(
      'section',
      { class: 'ask', 'aria-label': 'the text' },
      this.chips?.element,
      h(
        'div',
        { class: 'tools' },
        h('label', { for: 'text' }, 'Your text'),
        this.chips ? null : modelChoice(view),
        isExported ? null : this.reset,
      ),
      this.area,
      this.note,
    );
    /** @type {string | null} what the reader has just written */
    this.written = null;
    this.timer = 0;
    const refit = () => this.fit();
    addEventListener('resize', refit);
    const forget = state.onChange((is) => {
      if (['text', 'model', 'then'].some(is)) this.take();
      this.chips?.mark();
    });
    this.ends = () => {
      forget();
      removeEventListener('resize', refit);
    };
    this.take();
  }

  /** take takes the text of the state, unless the reader has just written it. */
  take() {
    const text = textOf(this.view);
    if (this.written !== text && thenOf().length === 0) this.write(text);
    this.written = null;
  }

  write(/** @type {string} */ text) {
    if (this.area.value !== text) this.area.value = text;
    this.fit();
  }

  fit() {
    this.area.style.height = 'auto';
    this.area.style.height = `${Math.min(this.area.scrollHeight + 2, 160)}px`;
  }

  isEmpty() {
    return this.area.value === '';
  }

  /** refuse forgets what was said of the text before one that the model cannot read. */
  refuse() {
    fill(this.note);
  }

  typed() {
    this.fit();
    if (this.isEmpty()) fill(this.note, 'Write something: the model reads it at each key stroke.');
    this.ontyped();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), rest);
  }

  /** read makes the text of the field that of the state. */
  read() {
    const { value } = this.area;
    this.timer = 0;
    if (!value) return; // all of it is being written anew, and the old text is still read
    this.written = value;
    state.set({ text: value === plainOf(this.view) ? '' : value, then: '', hide: '', q: '', at: '' });
  }

  /** show shows what the model has read: with the tokens that it has written, and what its window leaves out. */
  show(/** @type {import('./pass.js').Pass} */ pass) {
    if (thenOf().length && !this.timer) this.write(pass.whole);
    this.fit();
    fill(
      this.note,
      pass.cut ? `The text is longer than the model’s window: its first ${pass.cut} tokens are not seen.` : null,
    );
  }

  hasFocus() {
    return document.activeElement === this.area;
  }

  close() {
    clearTimeout(this.timer);
    this.ends();
  }
}
