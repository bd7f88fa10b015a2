// The likeliest next tokens as bars, at a temperature, and automatic writing.
import { isExported } from './api.js';
import { busy } from './busy.js';
import { thenOf } from './choose.js';
import { bar, button, fill, h, keepFocus, number, percent, shown } from './dom.js';
import { tableButton } from './save.js';
import * as state from './state.js';
import { placeOf, translations } from './translated.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./pass.js').Candidate} Candidate */

const pause = 120; // time between two tokens in ms
const mostWritten = 200; // tokens written without a stop

/** temperatureOf returns the temperature of the state. */
function temperatureOf() {
  const t = Number.parseFloat(state.get('temperature', '1'));
  return t >= 0 && t <= 2 ? t : 1;
}

/**
 * expected returns the likeliest tokens at a position of a pass.
 * @param {Pass} pass
 * @param {number} at
 * @returns {Promise<Candidate[]>}
 */
async function expected(pass, at) {
  const temperature = temperatureOf();
  if (temperature === 1) return pass.next[at];
  const next = await pass.keep(`next ${at} ${temperature}`, () => pass.ask('next', { at, temperature }));
  return next.likeliest;
}

/** NextTokens shows the likeliest next tokens of a model. */
export class NextTokens {
  constructor() {
    this.writing = false;
    /** @type {Pass | null} */
    this.pass = null;
    /** @type {Candidate[]} the likeliest tokens before changes */
    this.were = [];
    /** @type {Candidate[]} */
    this.are = [];
    this.title = h('span');
    this.written = h('div');
    this.list = h('div', { class: 'nextlist' });
    this.output = h('output', { for: 'temperature' });
    this.range = h('input', {
      type: 'range',
      id: 'temperature',
      min: 0,
      max: 2,
      step: 0.1,
      '.value': temperatureOf(),
      oninput: () => state.set({ temperature: this.range.value === '1' ? '' : this.range.value }),
    });
    this.one = button('Next token', () => busy(this.append()), { class: 'primary' });
    this.stream = button('Write on', () => this.writeOn());
    this.back = button('Take back', () => state.set({ then: '', q: '' }));
    this.tools = h('div', { class: 'tools' });
    /** @type {import('./save.js').Field[][]} */
    this.rows = [['token', 'before', 'after']];
    this.element = h(
      'section',
      { class: 'next-side', 'aria-label': 'what comes next' },
      h(
        'h2',
        {},
        this.title,
        ' ',
        tableButton(
          () => 'next',
          () => this.rows,
        ),
      ),
      this.written,
      this.tools,
      this.temperature(),
      this.list,
    );
  }

  temperature() {
    const tip =
      'Divides the scores before they become shares. Below 1 the likeliest token wins more often, above 1 ' +
      'chances even out; 0 takes the likeliest always. The model learnt with 1.';
    return h(
      'p',
      { class: 'temperature' },
      h('label', { for: 'temperature', 'data-tip': tip }, 'Temperature '),
      this.range,
      this.output,
    );
  }

  /**
   * show shows the likeliest tokens, and those before changes.
   * @param {Pass} before
   * @param {Pass} after
   * @param {() => boolean} isOver
   */
  async show(before, after, isOver) {
    this.element.hidden = before.next.length === 0; // an encoder writes nothing
    if (this.element.hidden) return;
    const place = placeOf(before, after);
    const [were, are] = await Promise.all([expected(before, place), expected(after, place)]);
    if (isOver()) return;
    this.pass = after;
    [this.were, this.are] = [were, are];
    const translates = before.next.length > 1;
    fill(this.title, translates ? `Character ${place} of the translation` : 'What comes next');
    keepFocus(this.written, () => fill(this.written, translates ? translations(before, after, place) : null));
    this.output.value = temperatureOf().toFixed(1);
    if (document.activeElement !== this.range) this.range.value = String(temperatureOf());
    const writes = !translates && !isExported;
    fill(this.tools, writes ? [this.one, this.stream, thenOf().length > 0 && this.back] : null);
    keepFocus(this.list, () => this.bars(were, are, before !== after, writes));
    this.rows = table(were, are);
  }

  /**
   * bars shows the likeliest tokens as bars. A click on a bar appends its token if the model writes.
   * @param {Candidate[]} were
   * @param {Candidate[]} are
   * @param {boolean} compare
   * @param {boolean} writes
   */
  bars(were, are, compare, writes) {
    const most = Math.max(...are.map((c) => c.probability), ...(compare ? were.map((c) => c.probability) : []));
    const was = new Map(were.map((c) => [c.id, c.probability]));
    const row = (/** @type {Candidate} */ c) => {
      const old = was.get(c.id);
      const parts = [
        h('span', { class: 'what' }, shown(c)),
        h(
          'span',
          { class: 'bars' },
          bar(c.probability / most),
          compare && old !== undefined ? h('span', { class: 'was', '.style': `left:${(100 * old) / most}%` }) : null,
        ),
        h('span', { class: 'value' }, percent(c.probability)),
        compare ? h('span', { class: 'value change' }, difference(c.probability, old)) : null,
      ];
      if (!writes) return h('li', {}, h('div', { class: 'candidate' }, parts));
      return h(
        'li',
        {},
        button('', () => busy(this.append(c)), { class: 'candidate', title: 'append this token' }, parts),
      );
    };
    fill(
      this.list,
      h('ol', { class: compare ? 'compared' : null }, are.map(row)),
      compare ? h('p', { class: 'note' }, 'The mark on a bar is the share before your changes.') : null,
    );
  }

  /**
   * append appends a token to the text, or a drawn token if none is given. It returns false if the reader has chosen
   * another text meanwhile.
   * @param {Candidate} [token]
   */
  async append(token) {
    const text = () => ['model', 'text', 'then'].map((key) => state.get(key, '')).join('\n');
    const before = text();
    const { id } = token ?? (await draw(/** @type {Pass} */ (this.pass)));
    if (text() !== before) return false;
    state.set({ then: [...thenOf(), id].join('.'), q: '' });
    return true;
  }

  /** writeOn appends token after token until it is stopped. */
  async writeOn() {
    this.writing = !this.writing;
    fill(this.stream, this.writing ? 'Stop' : 'Write on');
    const wait = (/** @type {number} */ ms) => new Promise((over) => setTimeout(over, ms));
    for (let n = 0; this.writing && n < mostWritten; n++) {
      const { pass } = this;
      if (!(await busy(this.append()))) break;
      const written = state.get('then');
      while (this.writing && this.pass === pass) await wait(20);
      await wait(pause);
      if (state.get('then') !== written) break; // the reader has chosen another text
    }
    this.stop();
  }

  stop() {
    this.writing = false;
    fill(this.stream, 'Write on');
  }
}

/** draw draws a token by the chances of all. */
async function draw(/** @type {Pass} */ pass) {
  const values = { at: 0, temperature: temperatureOf(), draw: Math.random() };
  return (await pass.ask('next', values)).drawn;
}

/**
 * difference returns the change of a token's probability, in percentage points.
 * @param {number} now
 * @param {number | undefined} old
 */
function difference(now, old) {
  if (old === undefined) return 'new';
  const d = 100 * (now - old);
  if (d === 0) return '=';
  return (d > 0 ? '+' : '') + number(d, 2);
}

/**
 * table returns the probabilities before and after as rows.
 * @param {Candidate[]} were
 * @param {Candidate[]} are
 * @returns {import('./save.js').Field[][]}
 */
function table(were, are) {
  const all = new Map([...were, ...are].map((c) => [c.id, c.text]));
  const of = (/** @type {Candidate[]} */ list, /** @type {number} */ id) => list.find((c) => c.id === id)?.probability;
  return [['token', 'before', 'after'], ...[...all].map(([id, text]) => [text, of(were, id), of(are, id)])];
}
