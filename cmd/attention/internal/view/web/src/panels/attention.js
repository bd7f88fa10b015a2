// Attention: the reader's text as tokens, the attention of the chosen token, all heads, and the next tokens.
import { busy, painted } from '../busy.js';
import { changed, factors, firstKey, hidden, isFixed } from '../changes.js';
import { chosen, headsOf, requestOf, thenOf, wrong } from '../choose.js';
import { Detail } from '../detail.js';
import { fill, h, keepFocus } from '../dom.js';
import { Gallery } from '../gallery.js';
import { hints } from '../hints.js';
import { NextTokens } from '../next.js';
import { hasModels, panel, Shown, waiting } from '../panel.js';
import { forward } from '../pass.js';
import { Play } from '../play.js';
import { choose, propose } from '../proposed.js';
import { pairText, Sentence } from '../sentence.js';
import { changedSight, mostSeen, sightOf } from '../sight.js';
import * as state from '../state.js';
import { tellsOf } from '../tells.js';
import { TextField } from '../textfield.js';
import { tokensMenu } from '../tokenpicture.js';
import { Tokens } from '../tokens.js';

/** @typedef {import('../head.js').Head | import('../mean.js').Mean} SomeHead */
/** @typedef {import('../pass.js').Pass} Pass */
/** @typedef {{ before: Pass, after: Pass }} Passes the model without and with the reader's changes */

class Attention extends Shown {
  /**
   * @param {HTMLElement} element
   * @param {import('../api.js').View} view
   */
  constructor(element, view) {
    super(element, view);
    this.loading = false;
    this.again = false;
    /** @type {Passes | null} */
    this.passes = null;
    /** @type {import('../tokens.js').Seen | null} */
    this.seen = null;
    this.layer = 0;
    /** @type {number | null} the model whose heads are in the order of some text */
    this.ordered = null;
    /** @type {[number, number] | undefined} */
    this.telling = undefined;
    this.isTold = false;
    this.wantedNext = {};
    this.next = new NextTokens();
    this.field = new TextField(view, () => this.typed());
    this.tokens = new Tokens({
      onquery: (q) => state.set({ q }),
      onkey: (k) => state.set({ k }),
      onpoint: (k) => this.point(k),
    });
    this.gallery = new Gallery(choose);
    this.play = new Play((q) => state.set({ q }), this.tokens);
    this.sentence = new Sentence();
    this.readout = h('p', { class: 'readout small' });
    this.problem = h('div');
    this.detail = new Detail();
    this.stage = h(
      'div',
      { class: 'stage', hidden: true },
      h(
        'section',
        { class: 'picture', 'aria-label': 'where the chosen token looks' },
        this.sentence.elements,
        this.tokens.element,
        h('div', { class: 'under' }, this.play.button, this.readout, tokensMenu(this)),
      ),
      this.gallery.element,
      this.detail.element,
      this.next.element,
    );
    const { name } = view.models[requestOf(view).model];
    const coming = `${name} reads the text: here come its tokens, where each looks, and what the model expects next.`;
    this.waiting = waiting(coming);
    fill(element, this.field.element, this.problem, hints(), this.waiting, this.stage);
  }

  /** typed is called at each key stroke: no picture stands as if it were that of an empty text. */
  typed() {
    this.next.stop();
    if (this.field.isEmpty()) fill(this.problem);
    this.stage.classList.toggle('stale', this.field.isEmpty() || this.problem.hasChildNodes());
  }

  /** follow shows what has changed in the state. */
  follow(/** @type {(name: string) => boolean} */ is) {
    if (!this.passes) return;
    if (['layer', 'head', 'q', 'k'].some(is)) busy(this.showHead(this.passes));
    if (['temperature', 'at'].some(is)) busy(this.showNext(this.passes));
  }

  /** load looks at the text of the state. While it looks, the text may change: then it looks again. */
  async load() {
    this.again = true;
    if (this.loading) return;
    this.loading = true;
    while (this.again && !this.closed) {
      this.again = false;
      await this.read();
    }
    this.loading = false;
  }

  async read() {
    try {
      const before = await forward(requestOf(this.view));
      if (before.model === this.ordered) before.telling ??= this.telling; // until those of this text are known
      const change = changed(before.request, before);
      const passes = { before, after: change === before.request ? before : await forward(change) };
      const heads = await headsOf(passes);
      if (this.closed || this.again) return;
      await this.show(passes, heads);
    } catch (e) {
      if (this.closed || this.again) return;
      this.waiting.remove();
      this.next.stop();
      this.field.refuse();
      fill(this.problem, wrong(e.message));
      this.stage.classList.add('stale');
    }
  }

  /**
   * show shows passes and the chosen head of both.
   * @param {Passes} passes
   * @param {SomeHead[]} heads
   */
  async show(passes, heads) {
    this.passes = passes;
    this.waiting.remove();
    fill(this.problem);
    this.stage.hidden = false;
    this.stage.classList.remove('stale');
    this.field.show(passes.before);
    this.sentence.list(passes.before, passes.before !== passes.after);
    this.paintHead(passes, heads);
    await this.showNext(passes);
    busy(this.showGallery(passes));
  }

  async showHead(/** @type {Passes} */ passes) {
    const isOver = this.begin();
    try {
      const heads = await headsOf(passes);
      if (isOver() || this.passes !== passes) return;
      fill(this.problem);
      this.paintHead(passes, heads);
    } catch (e) {
      if (!isOver()) fill(this.problem, wrong(e.message));
    }
  }

  async showNext(/** @type {Passes} */ { before, after }) {
    const wanted = (this.wantedNext = {});
    try {
      await this.next.show(before, after, () => this.closed || this.wantedNext !== wanted);
      this.sentence.follow(this.next, this.seen);
    } catch (e) {
      if (this.wantedNext === wanted) fill(this.problem, wrong(e.message));
    }
  }

  /** showGallery shows all heads. The most telling one is chosen unless the reader has chosen one. */
  async showGallery(/** @type {Passes} */ passes) {
    const { before, after } = passes;
    const isOver = () => this.closed || this.passes !== passes;
    await painted(); // the first head, of which nobody waits for the others
    if (isOver()) return;
    const typing = this.field.hasFocus() || thenOf().length > 0;
    const keep = typing && this.ordered === before.model;
    try {
      const heads = await this.gallery.show(before, after, keep, isOver);
      if (isOver()) return;
      const [layer, head, token] = (await tellsOf(before)).best ?? [heads[0].layer, heads[0].head];
      if (isOver()) return;
      before.opens = keep ? undefined : token;
      before.telling = keep ? this.telling : [layer, head];
      this.telling = before.telling;
      [this.isTold, this.ordered] = [!keep, before.model];
      const opens = propose(before);
      await this.showHead(passes);
      if (opens && this.view.models[before.model].sample && before.sequences.length > 1) this.play.open();
    } catch (e) {
      if (!isOver()) fill(this.problem, wrong(e.message));
    }
  }

  /**
   * paintHead shows the attention of the chosen token, before and after the changes.
   * @param {Passes} passes
   * @param {SomeHead[]} heads
   */
  paintHead({ before, after }, [was, is]) {
    const [layer, head] = chosen(before);
    const q = state.int('q', is.T, is.T - 1);
    const offset = firstKey(before, layer);
    const n = before.keys(layer).length;
    const mine = isFixed(before) ? [] : hidden().map((at) => at - offset);
    const seen = {
      q,
      after: sightOf(is, q),
      before: before === after ? null : changedSight(sightOf(was, q), sightOf(is, q)),
      hidden: new Set(mine.filter((k) => k >= 0 && k < n)),
      k: state.int('k', n, mostSeen(is, q, n)),
    };
    [this.layer, this.seen] = [layer, seen];
    this.tokens.show(after, layer, seen);
    this.play.at(q);
    this.gallery.arrange(before, layer, q);
    this.gallery.choose(layer, head, factors());
    keepFocus(this.sentence.where, () => this.sentence.tell(before, after, seen, this.isTold));
    this.point(null);
    this.detail.show(before, after, seen);
    this.sentence.follow(this.next, this.seen);
  }

  /** point tells the weight of a key. */
  point(/** @type {number | null} */ k) {
    if (!this.seen || !this.passes) return;
    this.tokens.mark(k);
    fill(this.readout, pairText(this.passes.after, this.layer, this.seen, k));
  }

  paint() {
    if (!this.seen || !this.passes) return;
    this.tokens.paint(this.seen);
    this.gallery.paint(this.gallery.pictures);
  }

  close() {
    this.play.close();
    this.next.stop();
    this.tokens.close();
    this.field.close();
  }
}

export const attention = panel(
  'attention',
  'Attention',
  hasModels,
  Attention,
  'model',
  'text',
  'then',
  'hide',
  'factors',
);
