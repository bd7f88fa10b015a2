// What if: another text, hidden tokens, heads switched off or scaled; what the model expects next, before and after.
import { chosen, headChoice, modelChoice, requestOf, textOf } from '../choose.js';
import { isExported } from '../api.js';
import { busy } from '../busy.js';
import { bar, button, fill, h, number, shown } from '../dom.js';
import { see } from '../look.js';
import { tableButton } from '../save.js';
import * as state from '../state.js';

export const whatif = {
  name: 'whatif',
  title: 'What if',
  needs: (view) => view.models?.length > 0 && !isExported,
  show(element, view) {
    const panel = new WhatIf(element, view);
    busy(panel.load());
    const end = state.onChange((changed) => {
      if (['model', 'text', 'hide', 'factors', 'layer', 'head', 'at'].some(changed)) busy(panel.load());
    });
    return () => { panel.closed = true; end(); };
  },
};

class WhatIf {
  constructor(element, view) {
    this.element = element;
    this.view = view;
  }

  hidden() { return state.get('hide').split('.').filter(Boolean).map(Number); }

  /** factors are the heads that are changed: {layer, head, factor}. */
  factors() {
    return state.get('factors').split('_').filter(Boolean).map((text) => {
      const [layer, head, factor] = text.split('x').map(Number);
      return { layer, head, factor };
    });
  }

  async load() {
    const wanted = (this.wanted = {});
    const request = requestOf(this.view);
    try {
      const before = await see(request);
      const fixed = before.layers.some((l) => l.fixed);
      const all = keysOf(before).reduce((n, s) => n + s.tokens.length, 0);
      const hide = fixed ? [] : this.hidden().filter((at) => at < all);
      const heads = fixed ? [] : this.factors();
      const change = { ...request, ...(hide.length ? { hide } : {}), ...(heads.length ? { heads } : {}) };
      const changed = hide.length + heads.length > 0;
      if (!this.looked && this.wanted === wanted) {
        this.show(before, null, changed ? 'The model reads the text again …' : '');
      }
      let after = null;
      let wrong = '';
      try {
        after = changed ? await see(change) : before;
      } catch (e) {
        wrong = e.message;
      }
      if (this.closed || this.wanted !== wanted) return;
      this.looked = true;
      this.show(before, after, wrong, wrong !== '');
    } catch (e) {
      if (this.wanted === wanted && !this.closed) this.show(null, null, e.message, true);
    }
  }

  show(before, after, note, isError) {
    const focused = document.activeElement?.dataset?.keep;
    const text = this.field();
    fill(this.element,
      h('h2', {}, 'What if the text, or the model, were another?'),
      h('div', { class: 'tools' }, modelChoice(this.view)),
      h('label', { for: 'whatif-text' }, 'Text'), text,
      h('div', { class: 'tools' }, button('Read this text', () => this.read(), { 'data-keep': 'read' }),
        button('Undo all changes', () => this.undo(), { 'data-keep': 'undo' })),
      before ? this.changes(before) : null,
      note ? h('p', { class: isError ? 'error' : 'note', role: isError ? 'alert' : 'status' }, note) : null,
      before && after ? this.next(before, after) : null);
    if (focused) this.element.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  /** field is where the text is written. An answer leaves what somebody writes there as it is. */
  field() {
    this.text ??= h('textarea', { rows: 3, id: 'whatif-text', 'data-keep': 'text', onkeydown: (e) => {
      if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) this.read();
    } });
    const wanted = textOf(this.view);
    if (this.shownText !== wanted) this.text.value = this.shownText = wanted;
    return this.text;
  }

  /** plain is the text of the command line, or of the model. */
  plain() { return this.view.text || this.view.models[requestOf(this.view).model].example; }

  read() {
    const { value } = this.text;
    state.set({ text: value === this.plain() ? '' : value, hide: '', at: '' });
  }

  undo() {
    this.text.value = this.plain();
    state.set({ hide: '', factors: '', text: '', at: '' });
  }

  /** changes are the controls of what can be changed. Each changes the state of when it is used, not of its drawing. */
  changes(look) {
    if (look.layers.some((l) => l.fixed)) {
      return h('p', { class: 'note' },
        'This layer has neither a mask nor heads to change: another text is what can be tried.');
    }
    return [...this.tokens(look), this.heads(look)];
  }

  tokens(look) {
    const hidden = this.hidden();
    const toggle = (i) => {
      const hide = this.hidden();
      const all = hide.includes(i) ? hide.filter((x) => x !== i) : [...hide, i];
      state.set({ hide: all.sort((a, b) => a - b).join('.') });
    };
    const all = keysOf(look);
    let from = 0;
    return all.map((sequence) => {
      const first = from;
      from += sequence.tokens.length;
      const legend = all.length > 1 ? `Hide keys of the ${sequence.name}` : 'Hide tokens as keys';
      return h('fieldset', {}, h('legend', {}, legend),
        h('div', { class: 'tokens' }, sequence.tokens.map((t, i) => button(shown(t), () => toggle(first + i),
          { class: 'token', 'aria-pressed': String(hidden.includes(first + i)), 'data-keep': `token${first + i}`,
            title: `token ${i}` }))));
    });
  }

  /** head is the head that is scaled. */
  head(look) {
    const [layer, head] = chosen(look);
    return { layer, head: head === 'mean' ? 0 : head };
  }

  heads(look) {
    const { layer, head } = this.head(look);
    const all = this.factors();
    const now = all.find((f) => f.layer === layer && f.head === head)?.factor ?? 1;
    const write = (list) => state.set({ factors: list.map((f) => `${f.layer}x${f.head}x${f.factor}`).join('_') });
    const but = (f) => this.factors().filter((x) => x.layer !== f.layer || x.head !== f.head);
    const set = (factor) => {
      const f = { ...this.head(look), factor };
      write(factor === 1 ? but(f) : [...but(f), f]);
    };
    const range = h('input', { type: 'range', min: 0, max: 2, step: 0.1, '.value': now, 'data-keep': 'factor',
      onchange: () => set(Number(range.value)) });
    return h('fieldset', {}, h('legend', {}, 'Scale heads'),
      h('div', { class: 'tools' }, headChoice(look), h('label', {}, 'factor ', range, ` ${now}`),
        button(now === 0 ? 'Switch on' : 'Switch off', () => set(now === 0 ? 1 : 0), { 'data-keep': 'off' })),
      all.length ? h('div', { class: 'tokens' }, all.map((f) =>
        button(`layer ${f.layer}, head ${f.head} × ${f.factor} ✕`, () => write(but(f)),
          { title: 'undo this factor' }))) : null);
  }

  next(before, after) {
    const at = this.place(before, after);
    const [old, now] = [before.next[at], after.next[at]];
    const was = new Map(old.map((c) => [c.id, c.probability]));
    const bars = (list, compare) => h('table', { class: 'next' }, h('caption', {}, compare ? 'after' : 'before'),
      h('tbody', {}, list.map((c) => h('tr', {}, h('th', { scope: 'row' }, shown(c)),
        h('td', {}, bar(c.probability)),
        h('td', { class: 'value' }, number(c.probability)),
        compare ? h('td', { class: 'value' }, was.has(c.id) ? signed(c.probability - was.get(c.id)) : 'new') : null))));
    const signed = (d) => (Math.abs(d) < 5e-5 ? '=' : (d > 0 ? '+' : '−') + Math.abs(d).toFixed(4));
    const rows = () => [['token', 'before', 'after'], ...[...new Set([...old, ...now].map((c) => c.id))].map((id) => {
      const [b, a] = [old, now].map((l) => l.find((c) => c.id === id));
      return [(b ?? a).text, b?.probability, a?.probability];
    })];
    const isTranslation = before.next.length > 1;
    const title = isTranslation ? `Character ${at}: the likeliest ` : 'What comes next: the ten likeliest tokens ';
    return h('section', {}, isTranslation ? this.written(before, after, at) : null,
      h('h3', {}, title, tableButton(() => 'next', rows)),
      h('div', { class: 'columns both' }, bars(old), bars(now, true)));
  }

  /** place returns which place of the translation is shown: the state's, the first that differs, or the last. */
  place(before, after) {
    const last = before.next.length - 1;
    const differs = before.next.findIndex((_, i) => last > 0 && writtenAt(before, i).id !== writtenAt(after, i).id);
    return state.int('at', last + 1, differs < 0 ? last : differs);
  }

  /** written returns the translations before and after, whose characters choose the place. */
  written(before, after, at) {
    const row = (look, name) => h('p', { class: 'tokens', role: 'group', 'aria-label': `translation ${name}` },
      h('span', { class: 'rowname' }, name),
      look.next.map((_, i) => {
        const token = writtenAt(look, i);
        const other = token.id !== writtenAt(before, i).id;
        const title = `character ${i}${other ? ', another than before' : ''}`;
        return button(shown(token) + (other ? '*' : ''), () => state.set({ at: i }),
          { class: 'token place', 'data-keep': `${name}${i}`, 'aria-current': i === at ? 'true' : null, title });
      }));
    return h('section', {}, h('h3', {}, 'The translation'), row(before, 'before'), row(after, 'after'),
      h('p', { class: 'note' }, '* is another character than before. A second line of the text is how the ' +
        'translation begins; the model writes the rest.'));
  }
}

/** keysOf are the sequences whose tokens are keys of some layer. */
function keysOf(look) {
  const used = new Set(look.layers.map((l) => l.keys));
  return look.sequences.filter((_, i) => used.has(i));
}

/** writtenAt is the token that is written at a place of a translation: the last sequence. */
function writtenAt(look, i) { return look.sequences.at(-1).tokens[i]; }
