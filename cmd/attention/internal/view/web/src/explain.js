// One number of a step: the formula that it is computed by, with its numbers.
import { number } from './dom.js';
import { joined } from './formula.js';

const most = 12; // terms of a sum that are written

/** explain returns how a step's number at an index is computed, as text, and the numbers of steps that it uses. */
export function explain(program, name, index) {
  const step = program.steps.get(name);
  if (!step.exact) return { text: '', uses: [] };
  const writer = new Writer(program);
  return { text: writer.at(step.exact, index)[0], uses: writer.uses };
}

/** flat is the place of an index in a tensor's data. */
export function flat(shape, index) {
  return shape.reduce((at, n, axis) => at * n + index[axis], 0);
}

/** indexOf is the index of a place in a tensor's data. */
export function indexOf(shape, at) {
  return shape.map((n, axis) => Math.floor(at / shape.slice(axis + 1).reduce((a, b) => a * b, 1)) % n);
}

const [sum, product, atom] = [0, 1, 2]; // how tightly a text holds together

class Writer {
  constructor(program) {
    this.program = program;
    this.uses = [];
  }

  /** at returns the text of a formula's number at an index, and how tightly it holds together. */
  at(f, index) {
    const of = f.of ?? [];
    switch (f.op) {
      case 'step':
        return this.step(f.step, index);
      case 'number':
        return [String(f.number ?? 0), atom];
      case 'root':
        return [`√${f.number ?? 0}`, atom];
      case 'row':
        return this.at(of[0], [f.number ?? 0, ...index]);
      case 'stack':
        return this.at(of[index[0]], index.slice(1));
      case 'transpose':
        return this.at(of[0], [...index.slice(0, -2), index.at(-1), index.at(-2)]);
      case 'exp':
      case 'log':
      case 'tanh':
      case 'sigmoid':
        return [`${f.op}(${this.at(of[0], index)[0]})`, atom];
      case 'tril':
        return index.at(-1) > index.at(-2) ? ['0', atom] : this.at(of[0], index);
      case 'fill':
        return this.fill(of, index);
      case 'plus':
        return [`${this.at(of[0], index)[0]} + ${this.like(of[1], index)[0]}`, sum];
      case 'times':
        return this.product(this.at(of[0], index), this.like(of[1], index));
      case 'over':
        return this.over(this.at(of[0], index), this.divisor(of, index));
      case 'sum':
        return this.terms(this.program.of(of[0]).shape.at(-1), (n) => this.at(of[0], [...index, n]));
      case 'dot':
        return this.dot(of, index);
      case 'best':
        return [`1 if ${this.at(of[0], index)[0]} is the largest of its row, else 0`, sum];
      case 'softmax':
        return this.softmax(of, index);
      case 'additive':
        return this.additive(of, index);
      default:
        return this.moved(f, index);
    }
  }

  step(name, index) {
    const { shape, data } = this.program.value(name);
    const at = flat(shape, index.slice(index.length - shape.length));
    this.uses.push([name, at]);
    return [number(data[at]), data[at] < 0 ? sum : atom];
  }

  fill(of, index) {
    let hidden = index.at(-1) > index.at(-2);
    if (of[1]) {
      const { shape, data } = this.program.of(of[1]);
      hidden = !data[flat(shape, index)];
    }
    return hidden ? ['−∞', sum] : this.at(of[0], index);
  }

  /** like is a second operand, which has the first one's shape, or fewer axes. */
  like(f, index) {
    const { length } = this.program.of(f).shape;
    return this.at(f, index.slice(index.length - length));
  }

  divisor(of, index) {
    const [a, b] = of.map((f) => this.program.of(f).shape.length);
    return b && b < a ? this.at(of[1], index.slice(0, -1)) : this.like(of[1], index);
  }

  held([text, tightness], least) {
    return tightness < least ? `(${text})` : text;
  }

  product(a, b) {
    return [`${this.held(a, product)}·${this.held(b, product)}`, product];
  }

  over(a, b) {
    return [`${this.held(a, product)} / ${this.held(b, atom)}`, product];
  }

  /** terms is a sum of n terms, of which those in the middle are left out if they are many. */
  terms(n, term) {
    if (n === 1) return term(0);
    const left = n > most;
    const write = (from, to) => Array.from({ length: to - from }, (_, i) => this.held(term(from + i), product));
    if (!left) return [write(0, n).join(' + '), sum];
    return [[...write(0, most - 4), '…', ...write(n - 3, n)].join(' + ') + `: ${n} terms`, sum];
  }

  dot(of, index) {
    const [a, b] = of.map((f) => this.program.of(f).shape);
    if (!a.length) return this.product(this.at(of[0], []), this.at(of[1], index));
    if (!b.length) return this.product(this.at(of[0], index), this.at(of[1], []));
    const lead = b.length > 1 ? index.slice(0, -1) : index;
    const last = b.length > 1 ? [index.at(-1)] : [];
    const block = b.length > 2 ? [lead[0]] : [];
    return this.terms(a.at(-1), (n) =>
      this.product(this.at(of[0], [...lead, n]), this.at(of[1], [...block, n, ...last])),
    );
  }

  softmax(of, index) {
    const exp = (n) => [`exp(${this.at(of[0], [...index.slice(0, -1), n])[0]})`, atom];
    const above = exp(index.at(-1));
    let below = this.terms(this.program.of(of[0]).shape.at(-1), exp);
    if (of[1]) below = [`${below[0]} + exp(${this.at(of[1], [])[0]})`, sum];
    return this.over(above, below);
  }

  additive([q, k, v], [t, s]) {
    return this.terms(this.program.of(q).shape[1], (d) =>
      this.product(this.at(v, [0, d]), [`tanh(${this.at(q, [t, d])[0]} + ${this.at(k, [s, d])[0]})`, atom]),
    );
  }

  /** moved is a number that another operand has at another place. */
  moved(f, index) {
    if (f.op === 'join') {
      const [part, col] = joined(
        f.of.map((g) => this.program.of(g)),
        index[1],
      );
      return this.at(f.of[part], [index[0], col]);
    }
    const { shape } = this.program.of(f.of[0]);
    if (f.op === 'split') {
      const [h, t, i] = index;
      return this.at(f.of[0], [t, (h * shape[1]) / f.number + i]);
    }
    const d = shape[2]; // merge
    return this.at(f.of[0], [Math.floor(index[1] / d), index[0], index[1] % d]);
  }
}
