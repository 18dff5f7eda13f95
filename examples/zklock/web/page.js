"use strict";
// What the page hears, and when it draws.
const rows = new Map(); // path → a row of web.Row, with the rates of the last minute
let status = {fresh: 0, timeout: 0, now: 0}; // web.status, as last heard
let heard = 0; // when, by this machine's clock
let source, sequence = 0, retry = 0;
const pause = 2000; // in milliseconds, before a stream that has ended is opened again
const silence = 6000; // of zklock serve, in milliseconds, that is worth saying: it sends something every two seconds

// age is how old what is shown is, in milliseconds: what it was when it was sent, and the time since.
function age() { return status.fresh ? status.now - status.fresh + Date.now() - heard : Infinity; }

// serverNow is the time by the clock of zklock serve. Durations since what ZooKeeper's servers have dated are wrong by as
// much as their clocks differ from it.
function serverNow() { return status.now + Date.now() - heard; }

function drawAge() {
  const old = age(), stale = old > (status.timeout || 60000), quiet = heard && Date.now() - heard > silence;
  const parts = [old === Infinity ? "nothing was read yet" : "as of " + short(old) + " ago"];
  if (quiet) parts.push("zklock serve does not answer");
  else if (status.failed) parts.push(status.failed);
  if (stale && old !== Infinity) parts.push("who holds by now is not known");
  set($("age"), parts.join("; "));
  $("age").className = stale && heard ? "stale" : quiet || status.failed ? "failed" : "";
  document.body.classList.toggle("stale", stale && heard > 0);
  document.title = (stale && heard ? "! " : "") + "zklock";
}

function take(news) {
  status = news;
  heard = Date.now();
}

function takeRows(news, all) {
  take(news);
  if (all) rows.clear();
  for (const path of news.gone || []) rows.delete(path);
  const told = new Set();
  for (const row of news.rows || []) {
    const old = rows.get(row.path);
    rows.set(row.path, {...row, past: row.past || (old ? old.past : [])});
    if (!all) rows.get(row.path).past.push(row.rate);
    told.add(row.path);
  }
  for (const row of rows.values()) { // what was not sent has not changed
    if (!all && !told.has(row.path)) row.past.push(row.rate);
    if (row.past.length > 60) row.past = row.past.slice(-60);
  }
  set($("status"), (news.rows ? rows.size + " locks, " : "") + news.reads + " reads in " + news.ms.toFixed(1) + " ms");
  if (all || told.size || (news.gone || []).length) draw(); // otherwise once a second
}

function draw() {
  drawAge();
  if (!$("overview").hidden) drawOverview(rows, $("filter").value, $("sort").value, serverNow());
}

async function revoke(path, node) {
  const end = node.slice(-10);
  if (prompt("Type the last ten digits of the node, " + end + ", to ask its owner to leave.") !== end) return;
  const answer = await fetch("revoke", {method: "POST", body: JSON.stringify({path, node})});
  if (!answer.ok) alert(await answer.text());
}

// examine shows the findings for as long as their view is open.
async function examine(mine) {
  try {
    const answer = await fetch("findings");
    if (!answer.ok) throw new Error(answer.status + " " + answer.statusText);
    const found = await answer.json();
    if (mine === sequence) drawFindings(found);
  } catch (error) {
    if (mine === sequence) {
      $("examined").textContent = "the findings could not be had: " + error.message;
      $("examined").className = "failed";
    }
  }
  if (mine === sequence) setTimeout(() => { if (mine === sequence) examine(mine); }, 15000);
}

// remember shows the last hour of a lock, from the servers' logs, for as long as its page is open.
async function remember(mine, lock) {
  let pause = 15000;
  try {
    const answer = await fetch("history?path=" + encodeURIComponent(lock));
    if (answer.status === 404) return; // zklock serve has no logs
    if (!answer.ok) throw new Error(answer.status + " " + answer.statusText);
    const past = await answer.json();
    if (past.reading) pause = 2000;
    if (mine === sequence) drawPast(past);
  } catch (error) {
    if (mine === sequence) drawPast({failed: error.message, contenders: []});
  }
  if (mine === sequence) setTimeout(() => { if (mine === sequence) remember(mine, lock); }, pause);
}

// here is what the address of the page asks for: the list, if it is no text.
function here() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

// listen opens the stream of the view.
function listen() {
  clearTimeout(retry);
  if (source) source.close();
  const lock = here().startsWith("/") ? here() : "";
  source = new EventSource("events" + (lock ? "?lock=" + encodeURIComponent(lock) : ""));
  source.addEventListener("snapshot", e => takeRows(JSON.parse(e.data), true));
  source.addEventListener("delta", e => takeRows(JSON.parse(e.data), false));
  source.addEventListener("status", e => { take(JSON.parse(e.data)); drawAge(); });
  source.addEventListener("lock", e => drawLock(JSON.parse(e.data), status.revoke ? revoke : null));
  // A browser opens a stream again that breaks off, but not one that is answered by another status, as a proxy does
  // while zklock serve restarts.
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) retry = setTimeout(listen, pause);
  };
}

function open() {
  const lock = here().startsWith("/") ? here() : "";
  $("findings").hidden = here() !== "!findings";
  $("detail").hidden = !lock;
  $("overview").hidden = !$("detail").hidden || !$("findings").hidden;
  if (lock) drawLock({path: lock});
  $("past").hidden = true;
  listen();
  sequence++;
  if (lock) remember(sequence, lock);
  if (!$("findings").hidden) {
    $("examined").textContent = "examining";
    examine(sequence);
  }
  draw();
}

$("filter").oninput = draw;
$("sort").onchange = draw;
$("choose").onsubmit = () => false;
for (const head of document.querySelectorAll("th[data-sort]")) head.onclick = () => { $("sort").value = head.dataset.sort; draw(); };
window.onhashchange = open;
setInterval(draw, 1000);
open();
