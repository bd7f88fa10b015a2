// Passes: models applied to texts. Answers are kept.
import { isExported, packed, path, post } from './api.js';
import { Head } from './head.js';
import { Implied } from './implied.js';
import { Mean } from './mean.js';

/** @typedef {{ id: number, text: string, part?: boolean, of?: string, at?: number }} Token */
/** @typedef {Token & { probability: number }} Candidate */
/** @typedef {{ name: string, tokens: Token[] }} Sequence */
/** @typedef {import('./api.js').Request} Request */
/**
 * Statistics are those of a head; some have none.
 * @typedef {{ entropy?: number, first?: number, self?: number, previous?: number, largest?: number, distance?: number,
 *   telling?: number, same?: number, after?: number }} Statistics
 */
/**
 * Layer is the server's description of one attention of a model.
 * @typedef {{ path: string, role?: string, queries: number, keys: number, fixed?: boolean, heads: number,
 *   key_heads: number, width: number, t: number, s: number, scale: number, softcap?: number, additive?: boolean,
 *   turned?: boolean, sinks?: boolean, sigmoid?: boolean, sigmoid_bias?: number, linear?: boolean,
 *   pictures?: Pictures }} Layer
 */
/** @typedef {{ rows: number, cols: number, thumbnails: Float32Array, statistics: Statistics[] }} Pictures */

const mostTries = 5; // of a request that the server has forgotten
const fewPairs = 1 << 17; // of a query and a key: the page computes them at once
const mostHeads = 24; // largest number kept in a pass: for a long text each takes megabytes
const mostPasses = 6; // kept
const mapSide = 640; // more than the rows of a completely visible head, in CSS pixels

/** Pass is one model applied to one text; the server sends its description. */
export class Pass {
  telling = /** @type {[number, number] | undefined} */ (undefined); // the most telling layer and head, once known
  opens = /** @type {number | undefined} */ (undefined); // the token on which that head is most telling
  /**
   * @param {Request} request
   * @param {any} description
   */
  constructor(request, description) {
    /** @type {string} */
    this.id = '';
    this.model = 0;
    this.steps = 0;
    this.cut = 0;
    this.whole = '';
    /** @type {Sequence[]} */
    this.sequences = [];
    /** @type {Layer[]} */
    this.layers = [];
    /** @type {Candidate[][]} */
    this.next = [];
    Object.assign(this, description);
    this.request = request;
    this.renewals = 0;
    /** @type {Promise<void> | null} */
    this.renewed = null;
    /** @type {Map<string, Promise<any>>} */
    this.kept = new Map();
    /** @type {Map<string, Promise<any>>} */
    this.heads = new Map();
  }

  /**
   * ask sends a request about this pass. If the server has forgotten the pass, ask makes the server compute it again.
   * @param {string} kind
   * @param {Record<string, number>} values
   * @returns {Promise<any>}
   */
  async ask(kind, values) {
    for (let tries = 0; tries < mostTries; tries++) {
      const { renewals } = this;
      const got = await packed(path(kind, { pass: this.id, ...values }));
      if (!got.gone) return got;
      if (renewals === this.renewals) await this.renew(); // otherwise it was forgotten before that
    }
    throw new Error('the server forgets this text again and again: too many pages look at once; close some and reload');
  }

  /** renew makes the server compute a forgotten pass again, once for all callers. */
  renew() {
    this.renewed ??= post('forward', this.request)
      .then((description) => {
        if (description.steps !== this.steps) {
          // of another moment of a run
          this.kept.clear();
          this.heads.clear();
        }
        Object.assign(this, description);
        this.renewals++;
      })
      .finally(() => {
        this.renewed = null;
      });
    return this.renewed;
  }

  /**
   * keep calls make once and keeps the result. If it holds more than most results, it discards the oldest.
   * @template T
   * @param {string} key
   * @param {() => Promise<T>} make
   * @param {Map<string, Promise<any>>} kept
   * @param {number} most
   * @returns {Promise<T>}
   */
  keep(key, make, kept = this.kept, most = Infinity) {
    const before = kept.get(key);
    if (before) return before;
    const made = make().catch((e) => {
      if (kept.get(key) === made) kept.delete(key);
      throw e;
    });
    kept.set(key, made);
    if (kept.size > most) kept.delete([...kept.keys()][0]);
    return made;
  }

  /**
   * head returns a head of a layer.
   * @param {number} layer
   * @param {number} head
   */
  head(layer, head) {
    const of = this.layers[layer];
    const make = async () => {
      const parts = await this.ask('head', { layer, head });
      return of.linear ? /** @type {any} */ (new Implied(of, parts)) : new Head(of, parts);
    };
    return this.keep(`${layer} ${head}`, make, this.heads, mostHeads);
  }

  /**
   * pictured returns a head which, for a long text, has an overview for a picture of all its weights.
   * @param {number} layer
   * @param {number} head
   */
  pictured(layer, head) {
    const { t, s, linear } = this.layers[layer];
    if (t * s <= fewPairs || linear || isExported) return this.head(layer, head);
    const side = Math.min(2048, Math.ceil(mapSide * (devicePixelRatio || 1)));
    const make = async () => {
      const [of, overview] = await Promise.all([this.head(layer, head), this.ask('overview', { layer, head, side })]);
      of.overview = overview;
      return of;
    };
    return this.keep(`${layer} ${head} pictured`, make, this.heads, mostHeads);
  }

  /**
   * values returns the values of a head of a layer, and its sink.
   * @param {number} layer
   * @param {number} head
   */
  values(layer, head) {
    return this.keep(`${layer} ${head} values`, () => this.ask('values', { layer, head }));
  }

  /**
   * journey returns the way of a token through the model and a layer.
   * @param {number} layer
   * @param {number} token
   * @returns {Promise<import('./stage.js').Way>}
   */
  journey(layer, token) {
    return this.keep(`${layer} journey ${token}`, () => this.ask('journey', { layer, token }), this.heads, mostHeads);
  }

  /** mean returns the mean of a layer's heads. */
  mean(/** @type {number} */ layer) {
    return this.keep(
      `${layer} mean`,
      async () => {
        const all = Array.from({ length: this.layers[layer].heads }, (_, i) => this.head(layer, i));
        return new Mean(await Promise.all(all));
      },
      this.heads,
      mostHeads,
    );
  }

  /**
   * thumbnails returns the thumbnails and statistics of a layer's heads.
   * @param {number} layer
   * @returns {Promise<Pictures>}
   */
  thumbnails(layer) {
    return this.keep(`${layer} thumbnails`, () => this.ask('thumbnails', { layer }));
  }

  /** queries returns the tokens of a layer's queries. */
  queries(/** @type {number} */ layer) {
    return this.sequences[this.layers[layer].queries].tokens;
  }

  /** keys returns the tokens of a layer's keys. */
  keys(/** @type {number} */ layer) {
    return this.sequences[this.layers[layer].keys].tokens;
  }
}

/** @type {Map<string, Promise<Pass>>} */
const passes = new Map();

/**
 * onPass is called with each pass that a panel requests.
 * @type {Set<(pass: Pass) => void>}
 */
export const onPass = new Set();

/** forgetAll makes the next pass of each request a new one. */
export function forgetAll() {
  passes.clear();
}

/** forget makes the next pass of a request a new one. */
export function forget(/** @type {Request} */ request) {
  passes.delete(JSON.stringify(request));
}

/**
 * ask requests a pass, and keeps it until other passes are requested.
 * @param {string} key
 * @param {Request} request
 */
function ask(key, request) {
  const asked = post('forward', request)
    .then((d) => new Pass(request, d))
    .catch((e) => {
      passes.delete(key);
      throw e;
    });
  passes.set(key, asked);
  if (passes.size > mostPasses) passes.delete([...passes.keys()][0]);
  return asked;
}

/**
 * forward returns the pass of a request.
 * @param {Request} request
 * @returns {Promise<Pass>}
 */
export function forward(request) {
  const key = JSON.stringify(request);
  const seen = passes.get(key) ?? ask(key, request);
  seen.then(
    (pass) => onPass.forEach((f) => f(pass)),
    () => {},
  ); // callers get errors
  return seen;
}
