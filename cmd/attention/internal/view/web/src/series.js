// The points of curves.
import { bisector } from './d3.js';

/** @typedef {(number | null)[]} Point its horizontal and its vertical coordinate */
/**
 * Series is a curve, or a level: one number for all steps. A quiet one is not named.
 * @typedef {{ name: string, points?: Point[], level?: number, ink?: string, dash?: string, wide?: number,
 *   quiet?: boolean }} Series
 */
/**
 * Curve is a series whose missing numbers are NaN; a level has no points.
 * @typedef {Omit<Series, 'points'> & { points: number[][] }} Curve
 */

/**
 * drawn returns the points of a line. If there are many, it returns the lowest and the highest point of each pixel.
 * @param {number[][]} points
 * @param {(x: number) => number} x
 */
export function drawn(points, x) {
  if (points.length <= 1000) return points;
  /** @type {number[][]} */
  const out = [];
  /** @type {number[] | null} */
  let low = null;
  /** @type {number[] | null} */
  let high = null;
  let column = NaN;
  const flush = () => {
    if (low === high && low) out.push(low);
    else if (low && high) out.push(...(low[0] < high[0] ? [low, high] : [high, low]));
    low = high = null;
  };
  for (const p of points) {
    const at = Math.round(x(p[0]));
    if (at !== column || Number.isNaN(p[1])) flush();
    column = at;
    if (Number.isNaN(p[1])) out.push(p);
    else {
      if (!low || p[1] < low[1]) low = p;
      if (!high || p[1] > high[1]) high = p;
    }
  }
  flush();
  return out;
}

/** last is the last number of a curve. */
export function last(/** @type {Curve} */ s) {
  return s.level ?? s.points.at(-1)?.[1];
}

/**
 * nearest returns the point closest to a place, or the last point without a place.
 * @param {number[][]} points
 * @param {number | undefined} at
 */
export function nearest(points, at) {
  if (at === undefined || !points.length) return points.at(-1);
  const i = bisector((p) => p[0]).center(points, at);
  return points[i];
}
