// Tensors of steps, with any number of axes. The last two axes are rows and columns.

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
 * flat returns the position of an index in a tensor's data.
 * @param {number[]} shape
 * @param {number[]} index
 */
export function flat(shape, index) {
  return shape.reduce((at, n, axis) => at * n + index[axis], 0);
}

/**
 * indexOf returns the index for a position in a tensor's data.
 * @param {number[]} shape
 * @param {number} at
 */
export function indexOf(shape, at) {
  return shape.map((n, axis) => Math.floor(at / shape.slice(axis + 1).reduce((a, b) => a * b, 1)) % n);
}
