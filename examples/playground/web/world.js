// The world of the playground: its processes, each in a Web Worker, the network between them, and their clock. A
// process is a contender, with a number from 1, or the server, with the number 0. Its thread is the Web Worker.

// A cable carries the messages between one worker and the server. While it is cut they wait, as packets do that TCP
// sends again and again, and arrive when it is joined.
class Cable {
  constructor() {
    this.cut = false;
    this.waiting = [];
  }
  carry(deliver) {
    if (this.cut) this.waiting.push(deliver);
    else deliver();
  }
  join() {
    this.cut = false;
    for (const deliver of this.waiting.splice(0)) deliver();
  }
}

export class World {
  // program is the compiled WebAssembly module. tell gets every event, with its time in milliseconds since the
  // beginning, which is when all workers are connected. Before that it gets failures alone.
  constructor(scenario, program, tell) {
    Object.assign(this, { scenario, program, tell });
    this.epoch = Date.now();
    this.clock = { at: this.real(), shown: 0, rate: 1, epoch: this.epoch };
    this.begun = NaN; // by the clock
    this.processes = new Map(); // number → { thread, cable, ready, suspended, generation }
    this.connections = new Map(); // number at the server → { process, number there }
    this.numbers = new Map(); // "process, generation, number there" → number at the server
    this.lastConnection = 0;
    this.frozen = false;
    this.start(0);
  }

  real() {
    return performance.timeOrigin + performance.now();
  }

  // now is the time by the clock of the processes.
  now() {
    return this.clock.shown + (this.real() - this.clock.at) * this.clock.rate;
  }

  // elapsed is the time since the beginning, in milliseconds.
  elapsed() {
    return Number.isNaN(this.begun) ? 0 : this.now() - this.begun;
  }

  setRate(rate) {
    this.clock = { ...this.clock, at: this.real(), shown: this.now(), rate };
    for (const { thread } of this.processes.values()) thread?.postMessage({ kind: "clock", clock: this.clock });
  }

  start(number) {
    const old = this.processes.get(number);
    if (old?.thread) return;
    const process = {
      thread: new Worker("process.js"), cable: old?.cable ?? new Cable(), ready: false, suspended: false,
      generation: (old?.generation ?? 0) + 1,
    };
    this.processes.set(number, process);
    process.thread.onmessage = ({ data }) => {
      if (data.event) this.hear(number, process, data.event);
      else this.route(number, process, data);
    };
    process.thread.onerror = (error) => this.report({ kind: "failed", worker: number, text: error.message });
    process.thread.postMessage({
      kind: "run", program: this.program, clock: this.clock, role: number === 0 ? "server" : "worker",
      settings: number === 0 ? {} : this.scenario.settings(number),
    });
  }

  // hear takes an event of a process.
  hear(number, process, event) {
    if (this.processes.get(number) !== process || !process.thread) return;
    if (event.kind === "ready") {
      process.ready = true;
      if (number === 0) for (let n = 1; n <= this.scenario.workers; n++) this.start(n);
      else if (!Number.isNaN(this.begun)) process.thread.postMessage({ kind: "begin", number: 0 });
      else if (this.allReady()) this.begin();
    }
    event.worker ??= number;
    if (Number.isNaN(this.begun) && event.kind !== "failed") return;
    this.tell({ ...event, at: event.at - this.epoch - (this.begun || 0) });
  }

  allReady() {
    return this.processes.size === this.scenario.workers + 1 && [...this.processes.values()].every((p) => p.ready);
  }

  begin() {
    this.begun = this.now();
    this.tell({ at: 0, kind: "begin" });
    for (const { thread } of this.processes.values()) thread?.postMessage({ kind: "begin", number: 0 });
  }

  // route carries a message of a process to the other end of its connection.
  route(number, process, { kind, number: connection, data }) {
    if (!process.thread || this.processes.get(number) !== process) return;
    if (number === 0) {
      const to = this.connections.get(connection);
      if (!to) return;
      to.process.cable.carry(() => {
        if (kind === "close") this.forget(connection, to);
        if (to.process.thread) to.process.thread.postMessage({ kind, number: to.number, data });
      });
      return;
    }
    const name = `${number}, ${process.generation}, ${connection}`;
    if (kind === "dial") {
      const at = ++this.lastConnection;
      this.numbers.set(name, at);
      this.connections.set(at, { process, number: connection, name });
    }
    const at = this.numbers.get(name);
    if (at === undefined) return;
    process.cable.carry(() => {
      if (kind === "close") this.forget(at, this.connections.get(at));
      this.processes.get(0).thread.postMessage({ kind, number: at, data });
    });
  }

  forget(at, to) {
    this.connections.delete(at);
    if (to) this.numbers.delete(to.name);
  }

  report(event) {
    this.tell({ at: this.elapsed(), ...event });
  }

  // act does something to a process or to the server. It returns false if that makes no sense now.
  act(action, number) {
    const process = this.processes.get(number);
    if (Number.isNaN(this.begun) || !process || !actions[action].call(this, process, number)) return false;
    if (!reported.includes(action)) this.report({ kind: action, worker: number });
    return true;
  }

  close() {
    for (const { thread } of this.processes.values()) thread?.terminate();
    this.processes.clear();
    this.tell = () => {};
  }
}

// What a process reports itself, once it has happened.
const reported = ["suspend", "resume", "remove"];

// What can be done. Each returns whether it has done something.
const actions = {
  cut(process, number) {
    if (number === 0 || process.cable.cut) return false;
    return (process.cable.cut = true);
  },
  join(process) {
    if (!process.cable.cut) return false;
    process.cable.join();
    return true;
  },
  suspend(process, number) {
    if (number === 0 || !process.thread || process.suspended) return false;
    process.thread.postMessage({ kind: "suspend" });
    return (process.suspended = true);
  },
  resume(process) {
    if (!process.thread || !process.suspended) return false;
    process.thread.postMessage({ kind: "resume" });
    process.suspended = false;
    return true;
  },
  // A system closes the connections of a process that has ended.
  kill(process, number) {
    if (number === 0 || !process.thread) return false;
    process.thread.terminate();
    process.thread = null;
    for (const [at, to] of [...this.connections]) {
      if (to.process !== process) continue;
      process.cable.carry(() => {
        this.forget(at, to);
        this.processes.get(0)?.thread.postMessage({ kind: "close", number: at });
      });
    }
    return true;
  },
  start(process, number) {
    if (number === 0 || process.thread) return false;
    this.start(number);
    return true;
  },
  freeze(process, number) {
    if (number !== 0 || this.frozen) return false;
    process.thread.postMessage({ kind: "freeze", number });
    return (this.frozen = true);
  },
  unfreeze(process, number) {
    if (number !== 0 || !this.frozen) return false;
    process.thread.postMessage({ kind: "unfreeze", number });
    this.frozen = false;
    return true;
  },
  remove(process, number) {
    if (number === 0) return false;
    this.processes.get(0).thread.postMessage({ kind: "remove", number });
    return true;
  },
};
