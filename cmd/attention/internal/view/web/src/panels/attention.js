// Attention: the reader's text as tokens, where the chosen one looks, all heads, and what comes next.
import { isExported } from '../api.js';
import { busy } from '../busy.js';
import { changed, factors, firstKey, hidden, isFixed, keysOf, setFactor, toggleHidden } from '../changes.js';
import { chosen, layerName, nameOf, requestOf, wrong } from '../choose.js';
import { Detail } from '../detail.js';
import { button, fill, h, number, percent, shown } from '../dom.js';
import { Gallery } from '../gallery.js';
import { hints } from '../hints.js';
import { implied } from '../implied.js';
import { see } from '../look.js';
import { NextTokens } from '../next.js';
import * as state from '../state.js';
import { TextField } from '../textfield.js';
import { sightOf, strongest, Tokens } from '../tokens.js';

export const attention = {
  name: 'attention',
  title: 'Attention',
  needs: (view) => view.models?.length > 0,
  show(element, view) {
    const panel = new Attention(element, view);
    busy(panel.load());
    return () => panel.close();
  },
};

class Attention {
  constructor(element, view) {
    this.element = element;
    this.closed = false;
    this.view = view;
    this.field = new TextField(view, () => this.next.stop());
    this.tokens = new Tokens({
      onquery: (q) => state.set({ q }),
      onkey: (k) => state.set({ k }),
      onpoint: (k) => this.point(k),
    });
    this.gallery = new Gallery((layer, head) => state.set({ layer, head }));
    this.next = new NextTokens();
    this.sentence = h('h2', { class: 'sentence', 'aria-live': 'polite' });
    this.where = h('p', { class: 'note where' });
    this.changes = h('div');
    this.readout = h('p', { class: 'readout small' });
    this.problem = h('div');
    this.detail = new Detail();
    this.stage = h(
      'div',
      { class: 'stage', hidden: true },
      h(
        'section',
        { class: 'picture', 'aria-label': 'where the chosen token looks' },
        this.sentence,
        this.where,
        this.changes,
        this.tokens.element,
        this.readout,
      ),
      this.gallery.element,
      this.detail.element,
      this.next.element,
    );
    this.waiting = h(
      'p',
      { class: 'note', role: 'status' },
      `${this.model().name} reads the text: here come its tokens, ` +
        'where each looks, and what the model expects next.',
    );
    fill(element, this.field.element, this.problem, hints(), this.waiting, this.stage);
    const repaint = () => this.repaint();
    addEventListener('theme', repaint);
    this.ends = [() => removeEventListener('theme', repaint), state.onChange((is) => this.follow(is))];
  }

  model() {
    return this.view.models[requestOf(this.view).model];
  }

  /** follow shows what has changed in the state. */
  follow(is) {
    if (['model', 'text', 'then', 'hide', 'factors'].some(is)) {
      busy(this.load());
      return;
    }
    if (!this.before) return;
    if (['layer', 'head', 'q', 'k'].some(is)) busy(this.showHead());
    if (['temperature', 'at'].some(is)) busy(this.showNext());
  }

  /** load looks at the text of the state. While it looks, the text may change: then it looks again. */
  async load() {
    this.again = true;
    if (this.loading) return;
    this.loading = true;
    while (this.again && !this.closed) {
      this.again = false;
      await this.look();
    }
    this.loading = false;
  }

  async look() {
    const request = requestOf(this.view);
    let before, after, heads;
    try {
      before = await see(request);
      if (before.model === this.ordered) before.telling ??= this.telling; // until those of this text are known
      const change = changed(request, before);
      after = change === request ? before : await see(change);
      heads = await this.headsOf(before, after);
    } catch (e) {
      if (this.closed || this.again) return;
      this.waiting.remove();
      this.next.stop();
      fill(this.problem, wrong(e.message));
      this.stage.classList.add('stale');
      return;
    }
    if (this.closed || this.again) return;
    this.before = before;
    this.after = after;
    this.waiting.remove();
    fill(this.problem);
    this.stage.hidden = false;
    this.stage.classList.remove('stale');
    this.field.show(before);
    this.showChanges();
    this.gallery.build(before);
    this.paintHead(heads);
    await this.showNext();
    busy(this.showGallery());
  }

  /** headsOf returns the chosen head before and after the changes. */
  headsOf(before, after) {
    const [layer, head] = chosen(before);
    return Promise.all(
      [before, after].map((look) => (head === 'mean' ? look.mean(layer) : look.head(layer, Number(head)))),
    );
  }

  async showHead() {
    const { before, after } = this;
    const wanted = (this.wanted = {});
    try {
      const heads = await this.headsOf(before, after);
      if (this.closed || this.wanted !== wanted || this.before !== before) return;
      fill(this.problem);
      this.paintHead(heads);
    } catch (e) {
      if (this.wanted === wanted) fill(this.problem, wrong(e.message));
    }
  }

  async showNext() {
    const { before, after } = this;
    const wanted = (this.wantedNext = {});
    try {
      await this.next.show(before, after, () => this.closed || this.wantedNext !== wanted);
    } catch (e) {
      if (this.wantedNext === wanted) fill(this.problem, wrong(e.message));
    }
  }

  /** showGallery shows all heads. The most telling one is chosen unless the reader has chosen one. */
  async showGallery() {
    const { before, after } = this;
    const isOver = () => this.closed || this.before !== before || this.after !== after;
    const typing = this.field.hasFocus() || this.next.writing;
    const keep = typing && this.ordered === before.model;
    try {
      const heads = await this.gallery.show(before, after, keep, isOver);
      if (isOver()) return;
      before.telling = keep ? this.telling : [heads[0].layer, heads[0].head];
      this.telling = before.telling;
      this.isTold = !keep;
      this.ordered = before.model;
      await this.showHead();
    } catch (e) {
      if (!isOver()) fill(this.problem, wrong(e.message));
    }
  }

  /** paintHead shows where the chosen token looks. */
  paintHead(/** @type {any[]} */ [was, is]) {
    const { before, after } = this;
    const [layer, head] = chosen(before);
    this.layer = layer;
    this.q = state.int('q', is.T, is.T - 1);
    const offset = firstKey(before, layer);
    const n = before.keys(layer).length;
    this.seen = {
      q: this.q,
      after: sightOf(is, this.q),
      before: before === after ? null : sightOf(was, this.q),
      hidden: new Set(
        isFixed(before)
          ? []
          : hidden()
              .map((at) => at - offset)
              .filter((k) => k >= 0 && k < n),
      ),
      k: state.int('k', n),
    };
    this.tokens.show(after, layer, this.seen);
    this.gallery.choose(layer, head, factors());
    this.tell(layer, head);
    this.point(null);
    this.detail.show(before, after, this.seen);
  }

  /** tell says in a sentence where the chosen token looks. */
  tell(layer, head) {
    const { before, after } = this;
    const queries = after.queries(layer);
    const keys = after.keys(layer);
    const { weights } = this.seen.after;
    const same = queries === keys;
    const name = (k) => (same && k === this.q ? 'itself' : h('q', {}, keys[k] ? shown(keys[k]) : 'an extra key'));
    const most = strongest(this.seen.after, 3).filter((k, i) => i === 0 || weights[k] >= 0.1);
    const parts = most.flatMap((k, i) => [i ? ', ' : '', name(k), ` ${percent(weights[k], 2)}`]);
    fill(this.sentence, h('q', {}, shown(queries[this.q])), most.length ? ' looks at ' : ' looks at nothing', parts);
    const auto = state.get('layer') + state.get('head') === '' && this.isTold;
    fill(
      this.where,
      `This is ${nameOf(before, layer, head).replace('L', 'l')}${auto ? ', which tells most of this text' : ''}. ` +
        'The arcs go to the tokens that it looks at: the thicker and bluer, the more.',
      before.layers[layer].linear ? ` ${implied}` : '',
    );
  }

  /** showChanges lists what the reader has changed. */
  showChanges() {
    const { before } = this;
    if (before === this.after) {
      fill(this.changes);
      return;
    }
    const all = keysOf(before).flatMap((s) => s.tokens);
    const undo = (text, act) =>
      isExported ? h('span', { class: 'chip' }, text) : button(`${text} ✕`, act, { class: 'chip', title: 'undo this' });
    fill(
      this.changes,
      h(
        'div',
        { class: 'changes' },
        hidden()
          .filter((at) => at < all.length)
          .map((at) => undo(`“${shown(all[at])}” ${at} is hidden`, () => toggleHidden(at))),
        factors().map((f) =>
          undo(`${layerName(before.layers[f.layer] ?? {}, f.layer)} · ${f.head} × ${f.factor}`, () =>
            setFactor(f.layer, f.head, 1),
          ),
        ),
        isExported
          ? null
          : button('Undo all changes', () => state.set({ hide: '', factors: '' }), { 'data-keep': 'undo' }),
        h('p', { class: 'note' }, 'Above the tokens: with your changes. Below, dashed: before them.'),
      ),
    );
  }

  /** point tells the weight of a key. */
  point(k) {
    if (!this.seen) return;
    const { after, before } = this.seen;
    this.tokens.mark(k);
    const tokens = this.after.keys(this.layer);
    if (k === null || !tokens[k]) {
      fill(this.readout, ' ');
      return;
    }
    const query = shown(this.after.queries(this.layer)[this.q]);
    const text = (w) => (Number.isNaN(w) ? 'not seen: hidden by the mask' : `weight ${number(w)}`);
    fill(
      this.readout,
      `“${query}” ${this.q} → “${shown(tokens[k])}” ${k}: ${text(after.weights[k])}`,
      before ? `, before: ${text(before.weights[k])}` : '',
    );
  }

  repaint() {
    if (!this.seen) return;
    this.tokens.paint(this.after.keys(this.layer), this.seen);
    this.gallery.paint();
    this.detail.paintScale();
  }

  close() {
    this.closed = true;
    this.next.stop();
    this.tokens.close();
    this.field.close();
    for (const f of this.ends) f();
  }
}
