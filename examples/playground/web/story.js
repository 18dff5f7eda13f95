// Sentences for what happens, each with the guarantee that acts in it.

import { short } from "./board.js";

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// tell returns the sentence of an event, the guarantee, and whether it is of an ordinary turn; nothing if there is no
// sentence. The board has not taken the event yet.
export function tell(event, board) {
  const found = sentences[event.kind]?.(event, board, board.lane(event.worker), `Worker ${event.worker}`);
  if (!found) return undefined;
  const [text, guarantee, routine = false] = found;
  return { at: event.at, text, guarantee, routine };
}

const sentences = {
  begin: () => ["All workers are connected.", ""],
  waits(event, board, lane, who) {
    if (lane.role !== "waits") return undefined;
    const ahead = board.queue.find(({ name }) => name === event.predecessor)?.worker;
    return [`${who} waits behind ${ahead ? `worker ${ahead}` : short(event.predecessor)}, and watches that node.`, "G4", true];
  },
  acquired(event, board, lane, who) {
    if (event.node === lane.removed) {
      return [`${who} is let in at ${short(event.node)}, and has not heard yet that this node was deleted by hand.`, "G8"];
    }
    const { lapsed } = board;
    const asleep = board.lanes.findIndex((other) => other.asleep && other.holding && !board.queued(other.node)) + 1;
    if (lapsed && !(lapsed.read && event.read)) {
      return [`${who} is let in, ${seconds(event.at - lapsed.at)} after the lease before had ended by its holder's clock.`, "G2"];
    }
    if (asleep && !event.read) {
      const other = `Worker ${asleep} is suspended, and has not looked at its lease since.`;
      return [`${who} is let in with the token ${event.token}. ${other}`, "G9"];
    }
    const node = short(event.node);
    if (lane.predecessor) return [`${who} is let in at the node ${node}, in the order of the queue. Its token is ${event.token}.`, "G3", true];
    return [`${who} holds ${node}, with the token ${event.token}.`, "G1", true];
  },
  left(event, board, lane, who) {
    return [`${who} holds without a connection. By its own clock its lease is valid for ${seconds(event.left)} more.`, "G2"];
  },
  lost(event, board, lane, who) {
    if (event.removed) return [`${who} hears that its node was deleted, and has lost the lock.`, "G8"];
    if (lane.asleep) return afterSleep(event, board, lane, who);
    if (!board.queued(event.node)) return [`${who} has lost the lock: ${event.text}.`, "G7"];
    const node = `Its node is still at the server, so no ${lane.role === "reads" ? "writer" : "other worker"} can be let in.`;
    return [`${who} has lost the lock, by its own clock: ${event.text}. ${node}`, "G2"];
  },
  state(event, board, lane, who) {
    const place = lane.role === "waits" && lane.node ? " It keeps its place for as long as its session lasts." : "";
    switch (event.state) {
      case "SUSPENDED":
        return [`${who} has no connection.${place}`, "G10"];
      case "RECONNECTED":
        return [`${who} is connected again.`, "G10"];
      case "LOST":
        return [`${who}: the client's session is over.`, "G7"];
    }
    return undefined;
  },
  expired(event) {
    const of = event.worker ? `worker ${event.worker}` : "a worker that has had no node in it";
    return [`The server ends the session of ${of}.${event.node ? " Its node goes with it." : ""}`, "G5"];
  },
  failed: (event, board, lane, who) => [`${lane ? who : "The server"}: ${event.text}`, ""],
  cut: (event, board, lane, who) => [`${who}: the cable is cut.${lane.off ? "" : " Neither end notices yet."}`, ""],
  join: (event, board, lane, who) => [`${who}: the cable is whole again.`, ""],
  suspend(event, board, lane, who) {
    const text = `${who}: the process is suspended.`;
    return lane.holding ? [`${text} Its lease ends by the clock, but it cannot look at that.`, "G2"] : [text, ""];
  },
  resume: (event, board, lane, who) => [`${who}: the process goes on.`, ""],
  kill(event, board, lane, who) {
    const session = lane.expired ? "Its session is over." : "Its session lasts until its timeout.";
    return [`${who}: the process is killed. ${session}`, "G5"];
  },
  start: (event, board, lane, who) => [`${who}: the process is started.`, ""],
  freeze: () => ["The server freezes: it reads nothing and answers nothing.", ""],
  unfreeze: () => ["The server goes on where it stood.", ""],
  removed(event, board, lane, who) {
    if (!event.node) return [`${who} has no node to delete.`, ""];
    return [`${who}: the node ${short(event.node)} is deleted by hand.`, "G8"];
  },
};

// afterSleep is what the first look of a process that was suspended finds.
function afterSleep(event, board, lane, who) {
  const text = `${who} looks at its lease for the first time since it was suspended, and the lease is over: ${event.text}.`;
  const shared = (other) => other.role === "reads" && lane.role === "reads";
  const newer = board.lanes.find((other) => other !== lane && other.holding && other.token > lane.token && !shared(other));
  if (!newer) return [text, "G2"];
  return [`${text} The lock has the token ${newer.token} by now: a store that compares tokens refuses ${lane.token}.`, "G9"];
}
