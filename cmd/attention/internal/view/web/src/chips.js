// The models that the page brings along, and the way to the reader's own.
import { button, fill, h } from './dom.js';
import * as state from './state.js';

const nothing = { text: '', then: '', hide: '', factors: '', layer: '', head: '', q: '', k: '', at: '' };

const yours =
  'attention train makes a model of your text, and attention view --model shows it, as it does a folder in the ' +
  'format of Hugging Face or a GGUF file.';

/** hasChips reports whether the page brings its models along. */
export const hasChips = (/** @type {import('./api.js').View} */ view) => view.models.some((m) => m.sample);

/** Chips choose one of the models. */
export class Chips {
  /** @param {import('./api.js').View} view */
  constructor(view) {
    this.note = h('p', { class: 'note', role: 'status' });
    this.all = view.models.map((m, i) =>
      button(m.name, () => state.set({ ...nothing, model: i || '' }), { class: 'chip', 'data-model': i }),
    );
    const own = button('Your model', () => fill(this.note, yours), { class: 'chip' });
    this.element = h('div', { class: 'chips' }, h('div', { class: 'tools' }, this.all, own), this.note);
    this.mark();
  }

  /** mark marks the chosen model. */
  mark() {
    const now = state.int('model', this.all.length);
    fill(this.note);
    this.all.forEach((b, i) => b.setAttribute('aria-pressed', String(i === now)));
  }
}
