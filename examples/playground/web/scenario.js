// Scenarios: how many workers contend for which lock, and what happens to them. A link carries one in its fragment:
//
//   #lock=mutex&workers=4&hold=1200&pause=300&session=4000&do=2.2:cut:2,8:join:2
//
// do lists what is done: seconds since the beginning, the action, and the number of the worker; 0 is the server.

export const locks = {
  mutex: "InterProcessMutex", readwrite: "InterProcessReadWriteLock",
  leader: "LeaderSelector", retained: "RetainedLock",
};

export const actionNames = ["cut", "join", "suspend", "resume", "kill", "start", "freeze", "unfreeze", "remove"];

export const presets = {
  "The holder's cable is cut": "lock=mutex&workers=4&do=2.2:cut:2,8:join:2",
  "A waiter's cable is cut for a moment": "lock=mutex&workers=4&session=6000&do=1.4:cut:3,4.4:join:3",
  "The holder's process is suspended": "lock=mutex&workers=4&do=2.2:suspend:2,8:resume:2",
  "The holder is killed": "lock=mutex&workers=4&do=2.2:kill:2,8:start:2",
  "The server freezes": "lock=mutex&workers=4&do=2.2:freeze:0,4:unfreeze:0,9.6:freeze:0,15.6:unfreeze:0",
  "A node is deleted by hand": "lock=mutex&workers=4&do=2.2:remove:2",
  "Readers and a writer": "lock=readwrite&workers=5&writers=3&hold=900&do=5.6:cut:3,11.6:join:3",
  "A leader is lost": "lock=leader&workers=3&hold=3000&do=5:cut:2,12:join:2",
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
    scenario.do.sort((a, b) => a.at - b.at);
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
    const actions = this.do.map(({ at, action, worker }) => `${at / 1000}:${action}:${worker}`);
    if (actions.length > 0) parts.push(`do=${actions.join(",")}`);
    return parts.join("&");
  }

  // with is the same scenario with other actions, as far as a link can have them.
  with(actions) {
    return Object.assign(new Scenario(), this, { do: actions.filter(({ at }) => at <= 3600000).slice(0, mostActions) });
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

function parseAction(text, workers) {
  const [seconds = "", action, number = "", ...rest] = text.split(":");
  if (!actionNames.includes(action) || rest.length > 0) {
    const known = actionNames.join(", ");
    throw new Error(`do=${text}: want seconds:action:worker, such as 2.2:cut:2; actions are ${known}`);
  }
  const where = `do=${text}`, server = action === "freeze" || action === "unfreeze";
  const at = Math.round(1000 * parseNumber(where, seconds, 0, 3600));
  return { at, action, worker: parseWorker(where, number, server ? 0 : 1, server ? 0 : workers) };
}
