// The page: what it shows, and what its buttons do.

import { Board, marks, short } from "./board.js";
import { draw, readInk } from "./lanes.js";
import { load } from "./program.js";
import { Scenario, presets } from "./scenario.js";
import { tell } from "./story.js";
import { World } from "./world.js";

const $ = (id) => document.getElementById(id);
const mostSentences = 400, mostEvents = 5000; // that are kept
const first = Object.values(presets)[0];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let program; // the compiled program, once it is here
let failed = false; // it could not be loaded
let scenario, board, world;
let replay; // a recorded run: { events, next, shown, length }
let planned; // actions of the scenario that are still to come
let acting = false; // as planned
let stepAt; // when the last one that follows a state was done
let done; // actions of this run
let rows = []; // what is shown of each worker
let fresh = []; // sentences that the page does not show yet
const recorded = []; // the events of this run, if it is live

// make makes an element.
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const rate = () => (document.hidden ? 0 : Number($("rate").value));
const began = () => world?.begun >= 0;

// show prepares the page for a scenario.
function show(of) {
  scenario = of;
  clear();
  rows = board.lanes.map((lane, i) => row(i + 1));
  $("workers").replaceChildren(...rows.map(({ element }) => element));
  const name = Object.keys(presets).find((key) => Scenario.parse(presets[key]).toString() === scenario.toString());
  $("scenario").value = name ?? "";
}

// clear prepares the page for a run of the scenario.
function clear() {
  board = new Board(scenario.workers);
  planned = [...scenario.do];
  stepAt = -Infinity;
  done = [];
  fresh = [];
  recorded.length = 0;
  $("news").replaceChildren();
  for (const title of $("guarantees").querySelectorAll("dt")) title.className = "";
}

// row makes what is shown of a worker.
function row(worker) {
  const name = scenario.lock !== "readwrite" ? "worker" : scenario.writers.includes(worker) ? "writer" : "reader";
  const canvas = make("canvas");
  canvas.setAttribute("aria-hidden", "true"); // the state is beside it, in words
  const state = make("span", { className: "state" });
  const button = (action, undo) => toggle(make("button", { type: "button" }), action, undo, worker, `${name} ${worker}`);
  const cable = button("cut", "join"), stop = button("suspend", "resume"), kill = button("kill", "start");
  const remove = button("remove");
  const element = make("li", {}, make("span", {}, make("b", { textContent: `${name} ${worker} ` }), state),
    make("span", { className: "buttons" }, cable, stop, kill, remove), canvas);
  return { element, canvas, state, cable, stop, kill, remove };
}

const labels = {
  cut: "Cut", join: "Join", suspend: "Suspend", resume: "Resume", kill: "Kill", start: "Start",
  freeze: "Freeze", unfreeze: "Unfreeze", remove: "Delete node",
};

// toggle has a button do an action, or undo it: see press.
function toggle(button, action, undo, worker, of) {
  button.press = (pressed) => {
    button.does = pressed ? undo : action;
    set(button, labels[button.does]);
    button.className = pressed ? "undo" : "";
    button.setAttribute("aria-label", of ? `${labels[button.does]}, ${of}` : labels[button.does]);
  };
  button.press(false);
  button.onclick = () => act(button.does, worker);
  return button;
}

function press(button, pressed, disabled) {
  if ((button.className === "undo") !== pressed) button.press(pressed);
  if (button.disabled !== disabled) button.disabled = disabled;
}

// begin begins a run of the processes.
function begin(of) {
  world?.close();
  world = replay = undefined;
  if (of === scenario) clear();
  else show(of);
  if (!program) return set($("phase"), failed ? "" : "The program is on its way.");
  set($("phase"), "The processes start.");
  world = new World(scenario, program, hear);
}

function act(action, worker) {
  if (!began()) return false;
  const at = Math.round(world.elapsed());
  if (!world.act(action, worker)) return false;
  done.push({ at, action, worker });
  return true;
}

// actAsPlanned does what the scenario has planned until now. What follows a state waits for one that began after the
// action before it: a worker that has let go before the page came to it is met at its next hold.
function actAsPlanned() {
  if (acting) return; // what it does is an event, too
  acting = true;
  doPlanned(world.elapsed());
  acting = false;
}

function doPlanned(time) {
  while (planned.length > 0 && !planned[0].state && planned[0].at <= time) {
    const { action, worker } = planned.shift();
    act(action, worker);
  }
  const next = planned.findIndex(({ state }) => state);
  if (next < 0) return;
  const { at, state, of, action, worker } = planned[next], since = board.since(state, of);
  if (!(since >= stepAt && since + at <= time)) return;
  const [step] = planned.splice(next, 1);
  stepAt = time;
  if (world.act(action, worker)) done.push(step);
}

// hear takes an event of this run, or of the recorded one.
function hear(event) {
  if (event.kind === "begin" && !replay) {
    set($("phase"), "Live: it happens now, in this page.");
    playground.live ??= performance.now();
    world.setRate(rate()); // not before: a start that takes no time would never end
  }
  if (event.kind === "failed" && !began() && !replay) set($("phase"), `A process has failed: ${event.text}`);
  const sentence = tell(event, board);
  board.take(event);
  if (!replay && recorded.push(event) > mostEvents) recorded.shift();
  if (sentence) fresh.push(sentence);
  if (began() && !replay) actAsPlanned();
}

// drawNews shows the sentences that have come since the last frame.
function drawNews() {
  if (fresh.length === 0) return;
  const news = $("news"), atEnd = news.scrollHeight - news.scrollTop - news.clientHeight < 40;
  for (const { at, text, guarantee, routine } of fresh) {
    const time = make("time", { textContent: `${(at / 1000).toFixed(2)} s` });
    const item = make("li", { className: routine ? "routine" : "" }, time, `${text} `);
    if (guarantee) item.append(make("a", { href: `#${guarantee}`, textContent: guarantee, onclick: goTo }));
    news.append(item);
    const title = guarantee && $(guarantee);
    if (title) Object.assign(title, { className: "acts", until: performance.now() + 3000 });
  }
  while (news.childElementCount > mostSentences) news.firstElementChild.remove();
  if (atEnd) news.scrollTop = news.scrollHeight;
  const heard = fresh.filter(({ routine }) => !routine).map(({ text }) => text);
  if (heard.length > 0 && !replay) $("newest").replaceChildren(make("span", { textContent: heard.join(" ") }));
  fresh = [];
}

// goTo shows a guarantee, and leaves the scenario of the link alone.
function goTo(event) {
  event.preventDefault();
  const title = document.querySelector(event.target.getAttribute("href"));
  title?.scrollIntoView();
  title?.focus();
}

let frames = 0, drawnAt = 0, frameAt = performance.now();

// frame brings the page up to date.
function frame(now) {
  requestAnimationFrame(frame);
  const passed = Math.min(100, now - frameAt);
  frameAt = now;
  if (!board) return;
  let time = world ? world.elapsed() : 0;
  if (replay) time = playOn(Math.max(0, passed) * rate());
  else if (began()) actAsPlanned();
  if (calm.matches && now - drawnAt < 500 || ++frames % 2 > 0) return; // thirty pictures a second are enough
  drawnAt = now;
  board.lanes.forEach((lane, i) => drawRow(rows[i], lane, time));
  drawServer();
  drawNews();
  if (board.end > 0) playground.first ??= performance.now();
  for (const title of document.querySelectorAll("dt.acts")) if (title.until < performance.now()) title.className = "";
}

// playOn shows the recorded run for some time more, from its beginning when it has ended, and returns where it is.
function playOn(passed) {
  replay.shown += passed;
  if (replay.shown > replay.length + 3000) {
    clear();
    Object.assign(replay, { next: 0, shown: 0 });
  }
  while (replay.events[replay.next]?.at <= replay.shown) hear(replay.events[replay.next++]);
  return replay.shown;
}

function drawRow(r, lane, time) {
  draw(r.canvas, lane, time);
  const token = lane.holding && !lane.asleep ? `, token ${lane.token}` : "";
  const cut = lane.cut !== undefined;
  set(r.state, (marks[lane.mark] || "pauses") + token + (cut ? "; cable cut" : ""));
  press(r.cable, cut, !began());
  press(r.stop, lane.stopped, !began() || lane.off);
  press(r.kill, lane.off, !began());
  press(r.remove, false, !began());
}

function drawServer() {
  const frozen = board.frozen !== undefined;
  set($("server-state"), frozen ? "frozen" : "answers");
  press($("freeze"), frozen, !began());
  const names = board.queue.map(({ name, worker }) => short(name) + (worker ? ` of ${worker}` : ""));
  if ($("queue").shown !== names.join()) {
    $("queue").shown = names.join();
    $("queue").replaceChildren(...names.map((textContent) => make("li", { textContent })));
  }
  set($("summary"), `Holds: ${board.holds}. Holds that overlapped and must not: ${board.overlaps}.`);
}

async function showRecording() {
  const { fragment, events } = await (await fetch("recording.json")).json();
  if (world || scenario.toString() !== fragment) return;
  replay = { events, next: 0, shown: 1500, length: events.at(-1).at };
  set($("phase"), "A recorded run. The live one is on its way.");
}

async function showGuarantees() {
  const list = await (await fetch("guarantees.json")).json();
  for (const { name, title, text } of list) {
    const head = make("dt", { id: name, textContent: `${name} ${title}`, tabIndex: -1 });
    $("guarantees").append(head, make("dd", { textContent: text }));
  }
}

// copy makes a link of the scenario and of what was done in this run.
async function copy() {
  const link = new URL(location.href), actions = [...done, ...planned], linked = scenario.with(actions);
  link.hash = linked.toString();
  history.replaceState(null, "", link);
  const whole = linked.do.length === actions.length;
  const parts = [whole ? "The link has what was done in this run" : "The link has the first actions of this run"];
  try {
    await navigator.clipboard.writeText(link.href);
    parts.push("is copied");
  } catch {
    parts.push("is in the address bar");
  }
  set($("phase"), `${parts.join(", and ")}.`);
}

function wire() {
  for (const name of Object.keys(presets)) $("scenario").append(make("option", { value: name, textContent: name }));
  $("scenario").append(make("option", { value: "", textContent: "as in the link", hidden: true }));
  const choose = (of) => {
    set($("wrong"), "");
    begin(of);
  };
  $("scenario").onchange = () => choose(Scenario.parse(presets[$("scenario").value]));
  const setRate = () => began() && world.setRate(rate());
  $("rate").onchange = setRate;
  // Actions of the scenario need frames, and hidden pages have none.
  document.addEventListener("visibilitychange", setRate);
  $("restart").onclick = () => choose(scenario);
  toggle($("freeze"), "freeze", "unfreeze", 0);
  $("routine").onchange = () => $("news").classList.toggle("all", $("routine").checked);
  $("copy").onclick = copy;
  addEventListener("hashchange", read);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readInk);
  $("legend").append(...Object.entries(marks).filter(([, word]) => word).map(([mark, word]) => {
    const colour = make("i");
    colour.style.background = `var(--${mark})`;
    return make("span", {}, colour, word);
  }));
}

// read begins the scenario of the link. A link to a guarantee leaves the one that runs alone.
function read() {
  const guarantee = /^#G\d+$/.test(location.hash);
  if (guarantee && scenario) return;
  set($("wrong"), "");
  try {
    begin(Scenario.parse(guarantee ? first : location.hash.slice(1) || first));
  } catch (error) {
    set($("wrong"), `The link is wrong: ${error.message}`);
    begin(Scenario.parse(first));
  }
}

async function main() {
  readInk();
  wire();
  read();
  requestAnimationFrame(frame);
  const fetched = Promise.all([showRecording(), showGuarantees()]).catch((error) => set($("wrong"), String(error)));
  try {
    const progress = (part) => set($("progress"), `${Math.round(100 * part)} % of the program are here.`);
    program = await load("playground.wasm.gz", progress);
    await fetched;
    set($("progress"), "");
    begin(scenario);
  } catch (error) {
    failed = true;
    for (const id of ["phase", "progress"]) set($(id), "");
    set($("wrong"), `The program cannot be loaded: ${error.message}`);
  }
}

// What tests look at: the events of this run, and when the first picture and the first live run were there.
const playground = { recorded, act, board: () => board, world: () => world, scenario: () => scenario };
globalThis.playground = playground;
main();
