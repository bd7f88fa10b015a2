// The arrow keys.

/**
 * arrows are the rows and columns that the arrow keys move by.
 * @type {Record<string, [number, number]>}
 */
export const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** isPlain reports whether a key is pressed without modifiers that belong to the browser's shortcuts. */
export function isPlain(/** @type {KeyboardEvent} */ e) {
  return !e.ctrlKey && !e.altKey && !e.metaKey;
}
