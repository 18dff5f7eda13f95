// Scenarios: how many workers contend for which lock, and what happens to them. A link carries one in its fragment:
//
//   #lock=mutex&workers=4&hold=1200&pause=300&session=4000&do=0.4@holds2:cut:2,8:join:2
//
// do lists what is done: when, the action, and the number of the worker; 0 is the server. When is a number of seconds
// since the beginning, or a number of seconds, a state, and the worker that has been in it for so long. States are holds,
// waits and cut, and frozen of the server. Actions that follow a state are done in the order of the list. Each waits for
// a state that began after the action before it, so they tell the same story on a slow machine.

export const locks = {
  mutex: "InterProcessMutex", readwrite: "InterProcessReadWriteLock",
  leader: "LeaderSelector", retained: "RetainedLock",
};

export const actionNames = ["cut", "join", "suspend", "resume", "kill", "start", "freeze", "unfreeze", "remove"];

// The states of a worker, or of the server, since which time can be counted: see Board.since.
const states = ["holds", "waits", "cut", "frozen"];

export const presets = {
  "The holder's cable is cut": "lock=mutex&workers=4&do=0.4@holds2:cut:2,0.4@holds4:join:2",
  "A waiter's cable is cut for a moment": "lock=mutex&workers=4&session=6000&do=0.4@waits3:cut:3,3@cut3:join:3",
  "The holder's process is suspended": "lock=mutex&workers=4&do=0.4@holds2:suspend:2,0.4@holds4:resume:2",
  "The holder is killed": "lock=mutex&workers=4&do=0.4@holds2:kill:2,0.4@holds4:start:2",
  "The server freezes": "lock=mutex&workers=4&do=0.4@holds2:freeze:0,1.8@frozen0:unfreeze:0,0.4@holds4:freeze:0,6@frozen0:unfreeze:0",
  "A node is deleted by hand": "lock=mutex&workers=4&do=0.4@holds2:remove:2",
  "Readers and a writer": "lock=readwrite&workers=5&writers=3&hold=900&do=0.3@holds3:cut:3,0.3@holds5:join:3",
  "A leader is lost": "lock=leader&workers=3&hold=3000&do=1@holds2:cut:2,1@holds3:join:2",
  "A lock that stays with its client": "lock=retained&workers=2&hold=100&pause=100&late=4000",
};

const mostActions = 200;

const number = (name, least, most, standard) => ({ name, least, most, standard });
const numbers = [
  number("workers", 1, 8, 4), number("hold", 0, 600000, 1200), number("pause", 0, 600000, 300),
  number("session", 500, 600000, 4000), number("late", 0, 80000, 300),
];

export class Scenario {
  // parse reads the fragment of a link. It throws an Error that says what is wrong.
  static parse(fragment) {
    const said = new URLSearchParams(fragment);
    const scenario = new Scenario();
    scenario.lock = said.get("lock") ?? "mutex";
    if (!Object.hasOwn(locks, scenario.lock)) {
      throw new Error(`lock=${scenario.lock}: want one of ${Object.keys(locks).join(", ")}`);
    }
    for (const { name, least, most, standard } of numbers) {
      scenario[name] = parseNumber(name, said.get(name) ?? standard, least, most);
    }
    scenario.workers = Math.floor(scenario.workers);
    const list = (name) => (said.get(name) ?? "").split(",").filter(Boolean);
    scenario.writers = list("writers").map((n) => parseWorker(`writers=${n}`, n, 1, scenario.workers));
    scenario.do = list("do").map((text) => parseAction(text, scenario.workers));
    if (scenario.do.length > mostActions) throw new Error(`do: ${scenario.do.length} actions are more than ${mostActions}`);
    for (const name of said.keys()) {
      if (!Object.hasOwn(scenario, name)) throw new Error(`${name}: unknown; a link has lock, workers, hold, pause, session, late, writers and do`);
    }
    scenario.do = inOrder(scenario.do);
    return scenario;
  }

  // settings are those of a worker. Workers begin one after the other.
  settings(worker) {
    return {
      worker, lock: this.lock, write: this.writers.includes(worker), start: 300 + (worker - 1) * this.late,
      hold: this.hold, pause: this.pause, session: this.session,
    };
  }

  toString() {
    const parts = [`lock=${this.lock}`];
    for (const { name, standard } of numbers) {
      if (this[name] !== standard || name === "workers") parts.push(`${name}=${this[name]}`);
    }
    if (this.writers.length > 0) parts.push(`writers=${this.writers.join(",")}`);
    const actions = this.do.map(({ at, state = "", of = "", action, worker }) =>
      `${at / 1000}${state && `@${state}${of}`}:${action}:${worker}`);
    if (actions.length > 0) parts.push(`do=${actions.join(",")}`);
    return parts.join("&");
  }

  // with is the same scenario with other actions, as far as a link can have them.
  with(actions) {
    const kept = actions.filter(({ at }) => at <= 3600000).slice(0, mostActions);
    return Object.assign(new Scenario(), this, { do: inOrder(kept) });
  }
}

function parseNumber(name, text, least, most) {
  const value = text === "" ? NaN : Number(text);
  if (!(value >= least && value <= most)) throw new Error(`${name}: ${text || "nothing"} is no number from ${least} to ${most}`);
  return value;
}

function parseWorker(where, text, least, most) {
  const worker = parseNumber(where, text, least, most);
  if (!Number.isInteger(worker)) throw new Error(`${where}: there is no worker ${text}`);
  return worker;
}

// inOrder returns first the actions at times since the beginning, then those after states.
function inOrder(actions) {
  const timed = actions.filter(({ state }) => !state).sort((a, b) => a.at - b.at);
  return [...timed, ...actions.filter(({ state }) => state)];
}

function parseAction(text, workers) {
  const [when = "", action, number = "", ...rest] = text.split(":");
  if (!actionNames.includes(action) || rest.length > 0) {
    const known = actionNames.join(", ");
    throw new Error(`do=${text}: want seconds:action:worker, such as 2.2:cut:2; actions are ${known}`);
  }
  const where = `do=${text}`, server = action === "freeze" || action === "unfreeze";
  const [seconds, after] = when.split(/@(.*)/);
  const at = Math.round(1000 * parseNumber(where, seconds, 0, 3600));
  const planned = { at, action, worker: parseWorker(where, number, server ? 0 : 1, server ? 0 : workers) };
  if (after === undefined) return planned;
  const state = states.find((name) => after.startsWith(name));
  if (!state) throw new Error(`do=${text}: want seconds@state and a worker, such as 0.4@holds2; states are ${states.join(", ")}`);
  const ofServer = state === "frozen";
  return { ...planned, state, of: parseWorker(where, after.slice(state.length), ofServer ? 0 : 1, ofServer ? 0 : workers) };
}
