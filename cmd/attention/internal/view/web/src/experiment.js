// Curves for a step whose columns belong to a growing number.
import { Curves, stroke } from './curves.js';

const growing = /^(\w+) = (\d+)$/; // such a column

/**
 * experiment returns a chart in which each row of a step is a curve, or null for a step with other columns.
 * @param {import('./formula.js').Step} step
 * @param {() => ArrayLike<number>} values
 */
export function experiment({ name, rows = [], columns = [] }, values) {
  const found = columns.flatMap((c) => {
    const match = growing.exec(c);
    return match ? { what: match[1], x: Number(match[2]) } : [];
  });
  if (found.length < 3 || found.length < columns.length) return null;
  const [{ what }] = found;
  const chart = new Curves(`${name} over ${what}`, { x: what, logX: true });
  const data = values();
  chart.show(
    rows.map((row, i) => ({
      name: row,
      wide: 2,
      ...stroke(i),
      points: found.map(({ x }, at) => [x, data[i * found.length + at]]),
    })),
  );
  return chart;
}
