"use strict";
// What the page draws. Texts of nodes come from anybody: they are set as textContent, never as HTML.
const $ = id => document.getElementById(id);
const mostRows = 100; // more are counted, not drawn

function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

// short is a duration in milliseconds in a few letters.
function short(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return s + "s";
  if (s < 3600) return Math.floor(s / 60) + "m " + s % 60 + "s";
  if (s < 48 * 3600) return Math.floor(s / 3600) + "h " + Math.floor(s % 3600 / 60) + "m";
  return Math.floor(s / 86400) + "d " + Math.floor(s % 86400 / 3600) + "h";
}

// set changes a text only if it is another one: what does not change need not be laid out again.
function set(e, text) { if (e.textContent !== text) e.textContent = text; }

// What stands first. Times are when something began: the smallest is the oldest, and 0 is none.
const none = Number.MAX_SAFE_INTEGER;
const orders = {
  oldest: (a, b) => (a.oldest || none) - (b.oldest || none) || (a.since || none) - (b.since || none),
  since: (a, b) => (a.since || none) - (b.since || none),
  waiting: (a, b) => b.waiting - a.waiting,
  rate: (a, b) => b.rate - a.rate,
  path: () => 0,
  kind: (a, b) => a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0,
  who: (a, b) => (a.who || "\uffff") < (b.who || "\uffff") ? -1 : (a.who || "\uffff") > (b.who || "\uffff") ? 1 : 0,
};

// chosen are the rows that a filter lets through, in an order.
function chosen(rows, filter, order) {
  const has = text => (text || "").toLowerCase().includes(filter.toLowerCase());
  return [...rows.values()].filter(r => has(r.path) || has(r.who))
    .sort((a, b) => orders[order](a, b) || (a.path < b.path ? -1 : 1));
}

const lines = new Map(); // path → the table's row, for those that are drawn

// newLine makes the table's row of a lock, without what changes.
function newLine(path) {
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), line = element("tr");
  const name = element("td"), link = element("a", path), past = element("td"), spark = document.createElementNS(ns, "polyline");
  link.href = "#" + encodeURIComponent(path);
  name.append(link);
  svg.setAttribute("viewBox", "0 0 60 20");
  svg.append(spark);
  past.append(svg);
  const cells = ["kind", "holder", "held for", "queue", "oldest wait", "acquired/s"].map(label => {
    const e = element("td");
    e.dataset.label = label;
    return e;
  });
  line.append(name, ...cells, past);
  return {line, cells, spark};
}

function drawLine(row, now) {
  if (!lines.has(row.path)) lines.set(row.path, newLine(row.path));
  const {line, cells, spark} = lines.get(row.path), past = row.past, most = Math.max(1, ...past);
  const who = (row.who || "") + (row.holders > 1 ? " and " + (row.holders - 1) + " more" : "");
  [row.kind, who, row.since ? short(now - row.since) : "", row.waiting ? String(row.waiting) : "",
    row.oldest ? short(now - row.oldest) : "", row.rate ? row.rate.toFixed(1) : ""].forEach((text, i) => set(cells[i], text));
  const points = past.map((rate, i) => (60 - past.length + i) + "," + (19 - 18 * rate / most)).join(" ");
  if (spark.getAttribute("points") !== points) spark.setAttribute("points", points);
  return line;
}

// drawOverview draws the first rows, with durations until now.
function drawOverview(rows, filter, order, now) {
  const all = chosen(rows, filter, order), first = all.slice(0, mostRows), body = first.map(row => drawLine(row, now));
  const drawn = $("rows").children;
  if (drawn.length !== body.length || body.some((line, i) => line !== drawn[i])) $("rows").replaceChildren(...body);
  const kept = new Set(first.map(row => row.path));
  for (const path of lines.keys()) if (!kept.has(path)) lines.delete(path);
  $("empty").hidden = body.length > 0;
  $("more").hidden = all.length <= mostRows;
  set($("more"), "and " + (all.length - mostRows) + " more: filter, or sort otherwise");
  for (const head of document.querySelectorAll("th[data-sort]")) head.className = head.dataset.sort === order ? "sorted" : "";
}

function drawLock(lock, ask) {
  $("path").textContent = lock.path;
  if (lock.error || !lock.contenders) {
    $("summary").textContent = lock.error || (lock.kind ? lock.kind + ": free" : "");
    $("lane").replaceChildren();
    $("behind").hidden = true;
  } else {
    const isIn = c => ["holds", "reads", "leads"].includes(c.state);
    $("summary").textContent = lock.kind + ": " + lock.holders + " hold, " + lock.waiting + " wait";
    $("lane").replaceChildren(...lock.contenders.map((c, i) => {
      const item = element("li", undefined, isIn(c) ? "in" : "");
      const came = "came " + new Date(c.since).toLocaleString() + ", token " + c.token + ", session " + lock.sessions[i];
      item.append(element("strong", c.state), " " + c.who, element("br"), element("small", came), element("br"), element("small", c.node));
      if (ask && isIn(c) && c.state !== "leads") {
        const button = element("button", "ask to leave");
        button.onclick = () => ask(lock.path, c.node);
        item.append(element("br"), button);
      }
      return item;
    }));
    $("behind").hidden = !lock.more;
    $("behind").textContent = "and " + lock.more + " more behind them";
  }
  $("recent").replaceChildren(...(lock.recent || []).toReversed().map(c =>
    element("li", new Date(c.time).toLocaleTimeString() + "  " + c.what + "  " + c.who)));
}

const mostLanes = 40; // clients; more are counted, not drawn

// drawPast draws a lane for each client of the last hour, the newest first: when it waited, and when it held the lock.
function drawPast(past) {
  $("past").hidden = false;
  const from = Date.parse(past.from), to = Date.parse(past.to), clients = new Map();
  for (const c of past.contenders.toReversed()) {
    const key = c.session + " " + c.who;
    if (!clients.has(key)) clients.set(key, []);
    clients.get(key).push(c);
  }
  const parts = [];
  if (past.to) parts.push("from " + new Date(from).toLocaleTimeString() + " to " + new Date(to).toLocaleString() + ", by the servers' logs");
  if (past.to && !past.contenders.length) parts.push("no contender");
  if (past.more) parts.push(past.more + " older contenders are left out");
  if (clients.size > mostLanes) parts.push((clients.size - mostLanes) + " more clients are not drawn");
  if (past.reading) parts.push(past.reading);
  if (past.failed) parts.push("the logs cannot be read: " + past.failed);
  set($("span"), parts.join("; "));
  $("span").className = past.failed ? "failed" : "";
  $("lanes").replaceChildren(...[...clients.values()].slice(0, mostLanes).map(list => drawLane(list, from, to)));
  const notes = [...(past.mayOverlap || []).map(why => "holds may have overlapped: " + why), ...(past.notes || [])];
  $("pastnotes").replaceChildren(...notes.map(note => element("li", note)));
}

function drawLane(list, from, to) {
  const ns = "http://www.w3.org/2000/svg", line = element("tr"), svg = document.createElementNS(ns, "svg");
  const width = 1000, at = time => (Math.max(time, from) - from) / Math.max(1, to - from) * width;
  svg.setAttribute("viewBox", "0 0 " + width + " 10");
  svg.setAttribute("preserveAspectRatio", "none");
  const bar = (kind, begin, end, text) => {
    const rect = document.createElementNS(ns, "rect"), title = document.createElementNS(ns, "title");
    rect.setAttribute("class", kind);
    rect.setAttribute("x", Math.min(begin, width - 2));
    rect.setAttribute("width", Math.max(2, end - begin)); // a short hold is seen, too
    rect.setAttribute("height", 10);
    title.textContent = text;
    rect.append(title);
    svg.append(rect);
  };
  let held = 0, unknown = false;
  for (const c of list) {
    // What is not known is not drawn: of a begin or an end in a gap of the logs, only the moment at the other side.
    const ended = c.ended ? Date.parse(c.ended) : c.gone ? NaN : to, begun = c.earlier ? from : Date.parse(c.letIn);
    const until = c.held ? c.earlier ? NaN : begun : ended, queued = Date.parse(c.queued);
    if (c.held ? queued < until : queued <= until) bar("waits", at(queued), at(until), "waited from " + new Date(queued).toLocaleTimeString());
    if (!c.held) continue;
    const lasted = ended - begun, known = !Number.isNaN(lasted), one = Number.isNaN(begun) ? ended : begun;
    if (known) held += lasted;
    if (!known || c.earlier) unknown = true;
    if (Number.isNaN(one)) continue;
    bar("holds", at(one), at(known ? ended : one), "held " +
      (c.earlier ? "since before the logs" : Number.isNaN(begun) ? "since a time that is not known" : "from " + new Date(begun).toLocaleTimeString()) +
      (known ? " for " + short(lasted) : "") + ", token " + c.token + ", " + (c.how || "holds"));
  }
  const cell = element("td");
  cell.append(svg);
  line.append(element("td", list[0].who || list[0].session), cell, element("td", list.filter(c => c.held).length + " × held, " + short(held) + (unknown ? " or longer" : "")));
  return line;
}

function drawFindings(answer) {
  const rank = {wrong: 0, look: 1, unknown: 2, ok: 3};
  $("examined").textContent = "examined " + new Date(answer.time).toLocaleTimeString() +
    (answer.failed ? "; the locks could not be: " + answer.failed : "");
  $("examined").className = answer.failed ? "failed" : "";
  $("found").replaceChildren(...answer.findings.toSorted((a, b) => rank[a.level] - rank[b.level]).map(f => {
    const item = element("li", undefined, f.level);
    item.append(element("strong", f.level.toUpperCase()), " " + f.about + ": " + f.what + (f.who ? " (" + f.who + ")" : ""));
    if (f.advice) item.append(element("br"), element("small", "→ " + f.advice));
    return item;
  }));
}
