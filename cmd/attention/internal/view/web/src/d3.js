// What the page uses of d3: the program serves the bundle of these in this module's place.
export { bisector, extent } from 'd3-array';
export { axisBottom, axisLeft } from 'd3-axis';
export { format } from 'd3-format';
export { scaleLinear, scaleLog } from 'd3-scale';
export { select } from 'd3-selection';
export { line } from 'd3-shape';
export { zoom, zoomIdentity } from 'd3-zoom';
