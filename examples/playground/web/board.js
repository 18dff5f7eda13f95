// What is known of the processes, from their events: which worker holds, which wait, and since when.

// Marks of a lane, in the order of the legend.
export const marks = {
  waits: "waits", away: "not connected", reads: "holds, with other readers", holds: "holds",
  unsure: "holds, not connected", lost: "LOST", stopped: "suspended", off: "killed", idle: "",
};

export const short = (node) => /(?:lock-|__[A-Z]+__)?\d+$/.exec(node ?? "")?.[0] ?? "";

class Lane {
  constructor() {
    this.role = "idle"; // waits, reads, holds, lost or idle
    this.away = false; // not connected
    this.stopped = false; // suspended
    this.asleep = false; // suspended, or resumed and not yet at its first look
    this.since = 0; // when it was suspended last
    this.removed = ""; // a node that was deleted by hand
    this.expired = false; // the server has ended its session
    this.off = false; // killed
    this.cut = undefined; // since when its cable is cut
    this.node = "";
    this.predecessor = ""; // the node that it waits for, or waited for last
    this.token = 0;
    this.hold = undefined; // the present one: { from, read }
    this.waiting = undefined; // since when it waits
    this.spans = []; // { mark, from }
  }

  get holding() {
    return this.role === "holds" || this.role === "reads";
  }

  // mark is what the worker is now.
  get mark() {
    if (this.off) return "off";
    if (this.asleep) return "stopped";
    if (this.away && this.role !== "lost") return this.holding ? "unsure" : "away";
    return this.role;
  }
}

export class Board {
  constructor(workers) {
    this.lanes = Array.from({ length: workers }, () => new Lane());
    this.queue = []; // the lock's nodes at the server: { name, worker }
    this.frozen = undefined; // since when the server is frozen
    this.holds = 0;
    this.past = []; // holds that have ended: { worker, from, to, read }
    this.overlaps = 0;
    this.lapsed = undefined; // { at, read } of a lease that ended by its clock, if no worker was let in since
    this.end = 0; // the time of the newest event
  }

  lane(worker) {
    return this.lanes[worker - 1];
  }

  queued(node) {
    return this.queue.some(({ name }) => name === node);
  }

  // since is when a worker came into the state in which it is, or the server; undefined if it is not in it.
  since(state, worker) {
    const lane = this.lane(worker);
    switch (state) {
      case "holds":
        return lane.holding && !lane.asleep ? lane.hold?.from : undefined;
      case "waits":
        return lane.role === "waits" ? lane.waiting : undefined;
      case "cut":
        return lane.cut;
      case "frozen":
        return this.frozen;
    }
    return undefined;
  }

  // take takes an event.
  take(event) {
    this.end = Math.max(this.end, event.at);
    if (event.kind === "queue") this.queue = event.queue ?? [];
    if (event.kind === "freeze") this.frozen = event.at;
    if (event.kind === "unfreeze") this.frozen = undefined;
    const lane = this.lane(event.worker);
    if (!lane) return;
    takes[event.kind]?.call(this, lane, event);
    const span = lane.spans.at(-1);
    if (span?.mark !== lane.mark) lane.spans.push({ mark: lane.mark, from: Math.max(span?.from ?? 0, event.at) });
  }

  // endHold ends a worker's hold. Holds are compared when both have ended: a process that was suspended reports late
  // when its lease ended.
  endHold(worker, at) {
    const lane = this.lane(worker), { hold } = lane;
    if (!hold) return;
    lane.hold = undefined;
    const ended = { ...hold, worker, to: at };
    for (const other of this.past) {
      if (other.worker !== worker && other.from < at && hold.from < other.to && !(other.read && hold.read)) this.overlaps++;
    }
    this.past.push(ended);
    if (this.past.length > 500) this.past.shift();
  }
}

const takes = {
  asks(lane) {
    lane.role = "waits";
    lane.node = lane.predecessor = "";
    lane.waiting = undefined;
  },
  // The report of a wait may come after its end.
  waits(lane, event) {
    if (lane.role !== "waits") return;
    lane.node = event.node;
    lane.predecessor = event.predecessor;
    lane.waiting ??= event.at;
    lane.expired = false;
  },
  acquired(lane, event) {
    this.holds++;
    this.lapsed = undefined;
    if (event.node !== lane.removed) lane.hold = { from: event.at, read: Boolean(event.read) };
    lane.expired = false;
    lane.role = event.read ? "reads" : "holds";
    lane.node = event.node;
    lane.token = event.token;
  },
  released(lane, event) {
    this.endHold(event.worker, event.at);
    lane.role = "idle";
  },
  lost(lane, event) {
    if (this.queued(event.node)) this.lapsed = { at: event.at, read: Boolean(lane.hold?.read) };
    this.endHold(event.worker, event.at);
    lane.role = "lost";
  },
  // A hold whose node is deleted by hand is over, and its worker and the next one hear of that at one time. A worker
  // that has not heard of it may still be let in at that node.
  removed(lane, event) {
    if (!event.node) return;
    lane.removed = event.node;
    if (event.node === lane.node) this.endHold(event.worker, event.at);
  },
  expired: (lane) => (lane.expired = true),
  state(lane, event) {
    lane.away = event.state !== "CONNECTED" && event.state !== "RECONNECTED";
  },
  cut: (lane, event) => (lane.cut = event.at),
  join: (lane) => (lane.cut = undefined),
  suspend(lane, event) {
    lane.stopped = lane.asleep = true;
    lane.since = event.at;
  },
  resume: (lane) => (lane.stopped = false),
  runs: (lane) => (lane.asleep = lane.stopped),
  kill(lane, event) {
    // A suspended process has executed nothing since.
    this.endHold(event.worker, lane.asleep ? lane.since : event.at);
    lane.off = true;
    lane.stopped = lane.asleep = lane.away = false;
    lane.role = "idle";
  },
  start(lane) {
    lane.off = lane.expired = false;
    lane.away = true; // until it is connected
  },
};
