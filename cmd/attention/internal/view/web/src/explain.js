// The formula of one number of a step, with the numbers in it.
import { number } from './dom.js';
import { joined } from './formula.js';
import { flat, matrices } from './tensor.js';
import { atom, held, product, sum, terms } from './terms.js';

/** @typedef {import('./formula.js').Formula} Formula */
/** @typedef {import('./formula.js').Program} Program */
/** @typedef {import('./terms.js').Text} Text */

/**
 * explain returns the computation of a step's number at an index as text, and the numbers of other steps that it uses.
 * @param {Program} program
 * @param {string} name
 * @param {number[]} index
 */
export function explain(program, name, index) {
  const step = program.step(name);
  const writer = new Writer(program);
  return { text: step.exact ? writer.at(step.exact, index)[0] : '', uses: writer.uses };
}

class Writer {
  constructor(/** @type {Program} */ program) {
    this.program = program;
    /** @type {[string, number][]} the steps and places of numbers that are used */
    this.uses = [];
  }

  /**
   * at returns the text of a formula's number at an index.
   * @param {Formula} f
   * @param {number[]} index
   * @returns {Text}
   */
  at(f, index) {
    const of = f.of ?? [];
    switch (f.op) {
      case 'step':
        return this.step(f.step ?? '', index);
      case 'number':
        return [String(f.number ?? 0), atom];
      case 'root':
        return [`√${f.number ?? 0}`, atom];
      case 'row':
        return this.at(of[0], [f.number ?? 0, ...index]);
      case 'stack':
        return this.at(of[index[0]], index.slice(1));
      case 'transpose':
        return this.at(of[0], [...index.slice(0, -2), ...index.slice(-2).reverse()]);
      case 'exp':
      case 'log':
      case 'tanh':
      case 'sigmoid':
        return [`${f.op}(${this.at(of[0], index)[0]})`, atom];
      case 'tril':
        return isLater(index) ? ['0', atom] : this.at(of[0], index);
      case 'fill':
        return this.fill(of, index);
      case 'plus':
        return [`${this.at(of[0], index)[0]} + ${this.like(of[1], index)[0]}`, sum];
      case 'times':
        return this.product(this.at(of[0], index), this.like(of[1], index));
      case 'over':
        return this.over(this.at(of[0], index), this.divisor(of, index));
      case 'sum':
        return terms(this.width(of[0]), (n) => this.at(of[0], [...index, n]));
      case 'dot':
        return this.dot(of, index);
      case 'best':
        return [`best(${this.row(of[0], index).join(', ')})[${index.at(-1)}]`, atom];
      case 'softmax':
        return this.softmax(of, index);
      case 'additive':
        return this.additive(of, index);
      default:
        return this.moved(f, index);
    }
  }

  /**
   * step is a number of a step.
   * @param {string} name
   * @param {number[]} index
   * @returns {Text}
   */
  step(name, index) {
    const { shape, data } = this.program.value(name);
    const at = flat(
      shape,
      index.slice(index.length - shape.length).map((i, axis) => i % shape[axis]),
    );
    this.uses.push([name, at]);
    return [number(data[at]), data[at] < 0 ? sum : atom];
  }

  /**
   * fill is a number of the first operand, or −∞ where the second one, or a causal mask without it, hides it.
   * @param {Formula[]} of
   * @param {number[]} index
   * @returns {Text}
   */
  fill(of, index) {
    let hidden = isLater(index);
    if (of[1]) {
      const { shape, data } = this.program.of(of[1]);
      hidden = !data[flat(shape, index)];
    }
    return hidden ? ['−∞', sum] : this.at(of[0], index);
  }

  /**
   * width is how many columns a formula's value has.
   * @param {Formula} f
   */
  width(f) {
    return matrices(this.program.of(f)).cols;
  }

  /**
   * like returns the element of a second operand, which has the shape of the first, fewer axes, or a single number.
   * @param {Formula} f
   * @param {number[]} index
   */
  like(f, index) {
    const { shape } = this.program.of(f);
    const last = index.slice(index.length - shape.length);
    return this.at(
      f,
      last.map((n, axis) => n % shape[axis]),
    );
  }

  /**
   * divisor is the second operand, which may have a number for each row.
   * @param {Formula[]} of
   * @param {number[]} index
   */
  divisor(of, index) {
    const [a, b] = of.map((f) => this.program.of(f).shape.length);
    return b && b < a ? this.at(of[1], index.slice(0, -1)) : this.like(of[1], index);
  }

  /**
   * @param {Text} a
   * @param {Text} b
   * @returns {Text}
   */
  product(a, b) {
    return [`${held(a, product)}·${held(b, product)}`, product];
  }

  /**
   * @param {Text} a
   * @param {Text} b
   * @returns {Text}
   */
  over(a, b) {
    return [`${held(a, product)} / ${held(b, atom)}`, product];
  }

  /**
   * @param {Formula[]} of
   * @param {number[]} index
   */
  dot(of, index) {
    const [a, b] = of.map((f) => this.program.of(f).shape);
    if (!a.length) return this.product(this.at(of[0], []), this.at(of[1], index));
    if (!b.length) return this.product(this.at(of[0], index), this.at(of[1], []));
    const lead = b.length > 1 ? index.slice(0, -1) : index;
    const last = b.length > 1 ? index.slice(-1) : [];
    const block = b.length > 2 ? [lead[0]] : [];
    return terms(this.width(of[0]), (n) =>
      this.product(this.at(of[0], [...lead, n]), this.at(of[1], [...block, n, ...last])),
    );
  }

  /**
   * row is the texts of the numbers in a row of a formula.
   * @param {Formula} f
   * @param {number[]} index
   */
  row(f, index) {
    const n = this.program.of(f).shape.at(-1) ?? 0;
    return Array.from({ length: n }, (_, at) => this.at(f, [...index.slice(0, -1), at])[0]);
  }

  /**
   * @param {Formula[]} of
   * @param {number[]} index
   */
  softmax(of, index) {
    /** @type {(n: number) => Text} */
    const exp = (n) => [`exp(${this.at(of[0], [...index.slice(0, -1), n])[0]})`, atom];
    const above = exp(index[index.length - 1]);
    let below = terms(this.width(of[0]), exp);
    if (of[1]) below = [`${below[0]} + exp(${this.at(of[1], [])[0]})`, sum];
    return this.over(above, below);
  }

  /**
   * @param {Formula[]} of
   * @param {number[]} index
   */
  additive([q, k, v], [t, s]) {
    return terms(this.program.of(q).shape[1], (d) =>
      this.product(this.at(v, [0, d]), [`tanh(${this.at(q, [t, d])[0]} + ${this.at(k, [s, d])[0]})`, atom]),
    );
  }

  /**
   * moved returns a number that another operand has at another index.
   * @param {Formula} f
   * @param {number[]} index
   */
  moved({ op, of = [], number: heads = 1 }, index) {
    const all = of.map((g) => this.program.of(g));
    if (op === 'join') {
      const [part, col] = joined(all, index[1]);
      return this.at(of[part], [index[0], col]);
    }
    const { shape } = all[0];
    if (op === 'split') {
      const [h, t, i] = index;
      return this.at(of[0], [t, (h * shape[1]) / heads + i]);
    }
    const d = shape[2]; // merge
    return this.at(of[0], [Math.floor(index[1] / d), index[0], index[1] % d]);
  }
}

/** isLater reports whether a column is after its row. */
function isLater(/** @type {number[]} */ index) {
  return index[index.length - 1] > index[index.length - 2];
}
