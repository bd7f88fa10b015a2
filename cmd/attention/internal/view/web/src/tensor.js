// Tensors of steps: numbers of any number of axes, of which the last two are rows and columns.

/** @typedef {{ shape: number[], data: Float64Array }} Tensor */

/** size is the number of elements of a shape. */
export const size = (/** @type {number[]} */ shape) => shape.reduce((a, b) => a * b, 1);

/** matrices returns the lengths of the last two axes, and the number of matrices of that size. */
export function matrices(/** @type {Tensor} */ { shape }) {
  const cols = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  return { count: size(shape) / (rows * cols || 1), rows, cols };
}

/**
 * flat is the place of an index in a tensor's data.
 * @param {number[]} shape
 * @param {number[]} index
 */
export function flat(shape, index) {
  return shape.reduce((at, n, axis) => at * n + index[axis], 0);
}

/**
 * indexOf is the index of a place in a tensor's data.
 * @param {number[]} shape
 * @param {number} at
 */
export function indexOf(shape, at) {
  return shape.map((n, axis) => Math.floor(at / shape.slice(axis + 1).reduce((a, b) => a * b, 1)) % n);
}
