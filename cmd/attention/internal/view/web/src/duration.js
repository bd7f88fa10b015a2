/** duration formats a time in a suitable unit. */
export function duration(/** @type {number | undefined} */ seconds) {
  if (seconds === undefined) return '–';
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
