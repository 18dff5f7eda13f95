"use strict";
// Texts of nodes come from anybody: they are set as textContent, never as HTML.
const $ = id => document.getElementById(id);
const rows = new Map(); // path → {path, kind, nodes, rate, past}
let source, revocable = false;

function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function spark(past) {
  const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
  const line = document.createElementNS(ns, "polyline"), most = Math.max(1, ...past);
  svg.setAttribute("viewBox", "0 0 60 20");
  line.setAttribute("points", past.map((rate, i) => (60 - past.length + i) + "," + (19 - 18 * rate / most)).join(" "));
  svg.append(line);
  return svg;
}

function drawOverview() {
  const filter = $("filter").value, body = [];
  for (const path of [...rows.keys()].sort()) {
    const row = rows.get(path);
    if (!path.includes(filter)) continue;
    const line = element("tr"), name = element("td"), link = element("a", path), past = element("td");
    link.href = "#" + encodeURIComponent(path);
    name.append(link);
    past.append(spark(row.past));
    line.append(name, element("td", row.kind), element("td", row.nodes), element("td", row.rate.toFixed(1)), past);
    body.push(line);
  }
  $("rows").replaceChildren(...body);
  $("empty").hidden = body.length > 0;
}

function take(news, all) {
  if (all) rows.clear();
  const told = new Set();
  for (const row of news.rows || []) {
    const old = rows.get(row.path);
    rows.set(row.path, {...row, past: row.past || (old ? old.past : [])});
    if (!all) rows.get(row.path).past.push(row.rate);
    told.add(row.path);
  }
  for (const row of rows.values()) { // what was not told has not changed
    if (!all && !told.has(row.path)) row.past.push(row.rate);
    row.past = row.past.slice(-60);
  }
  revocable = news.revoke;
  $("status").textContent = news.failed || rows.size + " locks, " + news.reads + " reads in " + news.ms.toFixed(1) + " ms";
  $("status").className = news.failed ? "failed" : "";
  drawOverview();
}

function drawLock(lock) {
  $("path").textContent = lock.path;
  if (lock.error) {
    $("summary").textContent = lock.error;
    $("lane").replaceChildren();
    return;
  }
  const all = lock.contenders || [], isIn = c => ["holds", "reads", "leads"].includes(c.state);
  $("summary").textContent = lock.kind + ": " + all.filter(isIn).length + " hold, " + all.filter(c => !isIn(c)).length + " wait";
  $("lane").replaceChildren(...all.map((c, i) => {
    const item = element("li", undefined, isIn(c) ? "in" : "");
    const came = "came " + new Date(c.since).toLocaleTimeString() + ", token " + c.token + ", session " + lock.sessions[i];
    item.append(element("strong", c.state), " " + c.who, element("br"), element("small", came), element("br"), element("small", c.node));
    if (revocable && isIn(c) && c.state !== "leads") {
      const button = element("button", "ask to leave");
      button.onclick = () => revoke(lock.path, c.node);
      item.append(element("br"), button);
    }
    return item;
  }));
  $("recent").replaceChildren(...(lock.recent || []).toReversed().map(c =>
    element("li", new Date(c.time).toLocaleTimeString() + "  " + c.what + "  " + c.who)));
}

async function revoke(path, node) {
  const end = node.slice(-10);
  if (prompt("Type the last ten digits of the node, " + end + ", to ask its owner to leave.") !== end) return;
  const answer = await fetch("revoke", {method: "POST", body: JSON.stringify({path, node})});
  if (!answer.ok) alert(await answer.text());
}

function open() {
  if (source) source.close();
  const lock = decodeURIComponent(location.hash.slice(1));
  $("detail").hidden = !lock;
  if (lock) drawLock({path: lock, contenders: []});
  source = new EventSource("events" + (lock ? "?lock=" + encodeURIComponent(lock) : ""));
  source.addEventListener("snapshot", e => take(JSON.parse(e.data), true));
  source.addEventListener("delta", e => take(JSON.parse(e.data), false));
  source.addEventListener("lock", e => drawLock(JSON.parse(e.data)));
  source.onerror = () => { $("status").textContent = "no connection to zklock serve"; $("status").className = "failed"; };
}

$("filter").oninput = drawOverview;
window.onhashchange = open;
open();
