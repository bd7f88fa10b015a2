// A slider that moves one number of a matrix, below that matrix.
import { button, fill, h, number } from './dom.js';

const reach = 2; // it goes from −reach to reach, or further to include its number

export class Slider {
  /**
   * onmove is called with each number, onrest when the slider is released, and onreset to restore all numbers.
   * @param {(v: number) => void} onmove
   * @param {() => void} onrest
   * @param {() => void} onreset
   */
  constructor(onmove, onrest, onreset) {
    this.name = h('span', {});
    this.output = h('output', {});
    this.range = h('input', {
      type: 'range',
      step: 'any',
      oninput: () => {
        const v = Number(this.range.value);
        fill(this.output, number(v));
        onmove(v);
      },
      onchange: onrest,
    });
    this.element = h(
      'div',
      { class: 'sliders' },
      h('label', {}, this.name, this.range, this.output),
      button('As they were', onreset, { id: 'reset', title: 'all numbers as they were' }),
    );
  }

  /**
   * show connects the slider with a named number at an index of its matrix.
   * @param {string} name
   * @param {number} at
   * @param {number} v
   */
  show(name, at, v) {
    const far = Math.max(reach, Math.abs(v));
    fill(this.name, name);
    fill(this.output, number(v));
    Object.assign(this.range, { min: -far, max: far, value: v });
    this.range.dataset.at = String(at);
  }
}
