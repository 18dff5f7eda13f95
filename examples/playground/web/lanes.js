// Lanes: what each worker did over time, the present on the right.

import { marks } from "./board.js";

const least = 10000, most = 30000; // milliseconds that a lane is wide

// Marks differ in shape as well as in colour: where each begins and how high it is, as parts of the lane.
const shapes = {
  waits: [0.44, 0.12], away: [0.6, 0.12], reads: [0.35, 0.6], holds: [0.1, 0.8], unsure: [0.1, 0.8],
  lost: [0, 1], stopped: [0.3, 0.2], off: [0.9, 0.1],
};

const ink = {};

// readInk takes the colours of the style sheet.
export function readInk() {
  const style = getComputedStyle(document.documentElement);
  for (const mark of Object.keys(marks)) ink[mark] = style.getPropertyValue(`--${mark}`).trim();
}

// draw draws the lane of a worker until a time.
export function draw(canvas, lane, until) {
  const wide = Math.round(canvas.clientWidth * devicePixelRatio), high = Math.round(18 * devicePixelRatio);
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, wide, high);
  const span = Math.min(most, Math.max(least, until)), from = until - Math.max(span, 1) > 0 ? until - span : 0;
  const x = (at) => ((at - from) / span) * wide;
  while (lane.spans.length > 1 && lane.spans[1].from < until - most) lane.spans.shift();
  lane.spans.forEach(({ mark, from: begun }, i) => {
    if (mark === "idle") return;
    const left = Math.max(0, x(begun)), right = Math.min(wide, x(lane.spans[i + 1]?.from ?? until));
    if (right < 0) return;
    const [top, height] = shapes[mark];
    context.fillStyle = context.strokeStyle = ink[mark];
    context.lineWidth = devicePixelRatio;
    const width = Math.max(1, right - left);
    if (mark === "unsure") context.strokeRect(left, top * high, width, height * high);
    else context.fillRect(left, top * high, width, height * high);
  });
}
