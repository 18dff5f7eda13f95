// A process of the playground, in a Web Worker of its own: an instance of the Go program, with a clock that the page
// sets and a network that the page carries. The page can suspend it as SIGSTOP does. While it is suspended neither a
// timer nor a message gets through to the program, and since nothing else resumes a program in WebAssembly, it does not
// execute an instruction. Its clock goes on.
"use strict";

const { timeOrigin } = performance;
const sinceOrigin = performance.now.bind(performance);
const real = {
  now: () => timeOrigin + sinceOrigin(),
  setTimeout: self.setTimeout.bind(self),
  clearTimeout: self.clearTimeout.bind(self),
};

// The clock of all processes: it has shown `shown` when the real one showed `at`, and runs `rate` times as fast. It
// stands still until the page sets it.
const clock = { at: 0, shown: 0, rate: 0, epoch: 0 };
let latest = 0;

// now is the time in milliseconds. It does not go back when the rate changes.
function now() {
  return (latest = Math.max(latest, clock.shown + (real.now() - clock.at) * clock.rate));
}

// Timers run by that clock.
const timers = new Map(); // number → { due, call, handle }
let lastTimer = 0;
const longest = 2 ** 31 - 1; // milliseconds that a browser can wait
let suspended = false;
let goesOn; // ends the wait of a program that is to start while the process is suspended

function arm(number) {
  const timer = timers.get(number);
  real.clearTimeout(timer.handle);
  if (suspended || clock.rate === 0) return;
  timer.handle = real.setTimeout(() => {
    if (now() < timer.due) return arm(number);
    timers.delete(number);
    timer.call();
  }, Math.min(longest, Math.max(0, (timer.due - now()) / clock.rate)));
}

function after(call, delay = 0) {
  timers.set(++lastTimer, { due: now() + Number(delay), call });
  arm(lastTimer);
  return lastTimer;
}

function setClock(to) {
  Object.assign(clock, to);
  for (const number of timers.keys()) arm(number);
}

// The program takes its time from these.
class VirtualDate extends Date {
  constructor(...of) {
    super(...(of.length === 0 ? [VirtualDate.now()] : of));
  }
  static now() {
    return Math.floor(clock.epoch + now());
  }
}
const override = (name, value) => Object.defineProperty(self, name, { value, configurable: true, writable: true });
override("Date", VirtualDate);
override("performance", { now });
override("setTimeout", after);
override("clearTimeout", (number) => {
  real.clearTimeout(timers.get(number)?.handle);
  timers.delete(number);
});

// What the program sees of the page. Messages take the latency of one way, and none overtakes another.
const latency = 2; // milliseconds
const queued = []; // messages for the program that it does not get yet
let listening = false;

self.host = {
  role: "", settings: "",
  tell: (event) => postMessage({ event: JSON.parse(event) }),
  send: (kind, number, data) => postMessage({ kind, number, data }, data ? [data.buffer] : []),
  listens() {
    listening = true;
    drain();
  },
};

function drain() {
  while (listening && !suspended && queued.length > 0 && queued[0].due <= now()) {
    const message = queued.shift();
    self.host.receive(message.kind, message.number, message.data);
  }
}

const report = (kind, text) => postMessage({ event: { kind, at: VirtualDate.now(), text } });

const orders = {
  async run(message) {
    setClock(message.clock);
    Object.assign(self.host, { role: message.role, settings: JSON.stringify(message.settings) });
    try {
      importScripts("wasm_exec.js");
      const go = new Go();
      const instance = await WebAssembly.instantiate(message.program, go.importObject);
      if (suspended) await new Promise((resolve) => (goesOn = resolve));
      await go.run(instance);
      report("failed", "the process has ended");
    } catch (error) {
      report("failed", String(error));
    }
  },
  clock: (message) => setClock(message.clock),
  suspend() {
    suspended = true;
    for (const timer of timers.values()) real.clearTimeout(timer.handle);
    report("suspend");
  },
  resume() {
    report("resume");
    suspended = false;
    goesOn?.();
    for (const number of timers.keys()) arm(number);
    after(() => suspended || report("runs"), 20); // behind the timers that are due
  },
};

self.onmessage = ({ data: message }) => {
  if (Object.hasOwn(orders, message.kind)) return orders[message.kind](message);
  queued.push({ ...message, due: now() + latency });
  after(drain, latency);
};
