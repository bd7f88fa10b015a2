// What if: another text, hidden tokens, heads switched off or scaled; what the model expects next, before and after.
import { headChoice, modelChoice, chosen, requestOf } from '../choose.js';
import { isExported } from '../api.js';
import { button, fill, h, number, svg, visible } from '../dom.js';
import { see } from '../look.js';
import { tableButton } from '../save.js';
import * as state from '../state.js';

export const whatif = {
  name: 'whatif',
  title: 'What if',
  needs: (view) => view.models?.length > 0 && !isExported,
  show(element, view) {
    const panel = new WhatIf(element, view);
    panel.load();
    const end = state.onChange((changed) => {
      if (['model', 'text', 'hide', 'factors', 'layer', 'head'].some(changed)) panel.load();
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
      const hide = this.hidden().filter((at) => at < before.sequences[0].tokens.length);
      const heads = this.factors();
      const change = { ...request, ...(hide.length ? { hide } : {}), ...(heads.length ? { heads } : {}) };
      const changed = hide.length + heads.length > 0;
      if (!this.looked && this.wanted === wanted) this.show(before, null, changed ? 'The model reads the text again …' : '');
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
    const text = h('textarea', { rows: 3, id: 'whatif-text', 'data-keep': 'text', '.value': state.get('text') || this.view.text });
    const read = () => state.set({ text: text.value === this.view.text ? '' : text.value, hide: '' });
    text.addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) read(); });
    fill(this.element,
      h('h2', {}, 'What if the text, or the model, were another?'),
      h('div', { class: 'tools' }, modelChoice(this.view)),
      h('label', { for: 'whatif-text' }, 'Text'), text,
      h('div', { class: 'tools' }, button('Read this text', read, { 'data-keep': 'read' }),
        button('Undo all changes', () => state.set({ hide: '', factors: '', text: '' }), { 'data-keep': 'undo' })),
      before ? [this.tokens(before), this.heads(before)] : null,
      note ? h('p', { class: isError ? 'error' : 'note', role: isError ? 'alert' : 'status' }, note) : null,
      before && after ? this.next(before, after) : null);
    if (focused) this.element.querySelector(`[data-keep="${focused}"]`)?.focus();
  }

  tokens(look) {
    const hide = this.hidden();
    const toggle = (i) => state.set({ hide: (hide.includes(i) ? hide.filter((x) => x !== i) : [...hide, i]).sort((a, b) => a - b).join('.') });
    return h('fieldset', {}, h('legend', {}, 'Hide tokens as keys'), h('div', { class: 'tokens' },
      look.sequences[0].tokens.map((t, i) => button(visible(t.text), () => toggle(i),
        { class: 'token', 'aria-pressed': String(hide.includes(i)), 'data-keep': `token${i}`, title: `token ${i}` }))));
  }

  heads(look) {
    const [layer, of] = chosen(look);
    const head = of === 'mean' ? 0 : of;
    const all = this.factors();
    const others = all.filter((f) => f.layer !== layer || f.head !== head);
    const now = all.find((f) => f.layer === layer && f.head === head)?.factor ?? 1;
    const write = (list) => state.set({ factors: list.map((f) => `${f.layer}x${f.head}x${f.factor}`).join('_') });
    const set = (factor) => write(factor === 1 ? others : [...others, { layer, head, factor }]);
    const range = h('input', { type: 'range', min: 0, max: 2, step: 0.1, '.value': now, 'data-keep': 'factor',
      onchange: () => set(Number(range.value)) });
    return h('fieldset', {}, h('legend', {}, 'Scale heads'),
      h('div', { class: 'tools' }, headChoice(look), h('label', {}, 'factor ', range, ` ${now}`),
        button(now === 0 ? 'Switch on' : 'Switch off', () => set(now === 0 ? 1 : 0), { 'data-keep': 'off' })),
      all.length ? h('div', { class: 'tokens' }, all.map((f) => button(`layer ${f.layer}, head ${f.head} × ${f.factor} ✕`,
        () => write(all.filter((x) => x !== f)), { title: 'undo this factor' }))) : null);
  }

  next(before, after) {
    const was = new Map(before.next.map((c) => [c.id, c.probability]));
    const bars = (list, compare) => h('table', { class: 'next' }, h('caption', {}, compare ? 'after' : 'before'),
      h('tbody', {}, list.map((c) => h('tr', {}, h('th', { scope: 'row' }, visible(c.text)),
        h('td', {}, svg('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', class: 'bar', 'aria-hidden': 'true' }, svg('rect', { width: 100 * c.probability, height: 10 }))),
        h('td', { class: 'value' }, number(c.probability)),
        compare ? h('td', { class: 'value' }, was.has(c.id) ? signed(c.probability - was.get(c.id)) : 'new') : null))));
    const signed = (d) => (Math.abs(d) < 5e-5 ? '=' : (d > 0 ? '+' : '') + number(d));
    const rows = () => [['token', 'before', 'after'], ...[...new Set([...before.next, ...after.next].map((c) => c.id))].map((id) => {
      const [b, a] = [before, after].map((l) => l.next.find((c) => c.id === id));
      return [(b ?? a).text, b?.probability, a?.probability];
    })];
    return h('section', {}, h('h3', {}, 'What comes next: the ten likeliest tokens ', tableButton(() => 'next', rows)),
      h('div', { class: 'columns' }, bars(before.next), bars(after.next, true)));
  }
}
