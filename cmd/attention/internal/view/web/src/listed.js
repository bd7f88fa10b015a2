// The columns of the list of runs.
import { number } from './dom.js';
import { duration } from './duration.js';

/** @typedef {{name: string, begin?: string, seconds?: number, state: string, steps: number, planned_steps: number,
 *   model: string, text: string, parameters?: number, losses: {training?: number, validation?: number}}} Listed */

/**
 * columns of the table: a name, the text of a run's cell, and whether it is a number.
 * @type {{ name: string, of: (r: Listed) => string, isNumber?: boolean }[]}
 */
export const columns = [
  { name: 'State', of: (r) => (r.state === 'running' ? 'trains' : r.state) },
  {
    name: 'Steps',
    of: (r) => (r.steps === r.planned_steps ? String(r.steps) : `${r.steps} of ${r.planned_steps}`),
    isNumber: true,
  },
  { name: 'Validation', of: (r) => number(r.losses.validation, 3), isNumber: true },
  { name: 'Training', of: (r) => number(r.losses.training, 3), isNumber: true },
  { name: 'Time', of: (r) => duration(r.seconds), isNumber: true },
  { name: 'Begun', of: (r) => (r.begin ? r.begin.slice(0, 16).replace('T', ' ') : '–') },
  { name: 'Model', of: (r) => r.model },
  { name: 'Text', of: (r) => r.text },
];
