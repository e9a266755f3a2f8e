// The list of runs: asks for its rows while one of them may change, and changes only what differs. A report is opened
// by the address `#open=ID&open=ID`, so that a link can go into another tab.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const EVERY_MS = 2000, OFTEN_MS = 300;
  const element = (id) => document.getElementById(id);
  const board = element("runs"), body = board.querySelector("tbody"), problem = element("runs-problem");
  const opening = element("runs-opening"), opener = element("runs-open");
  const rows = new Map();
  let timer = 0, asking = false, opened = 0;

  const make = (kind, parent, className = "") => {
    const made = document.createElement(kind);
    if (className) made.className = className;
    parent.append(made);
    return made;
  };
  const say = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const worth = (cell, value) => { cell.dataset.value = value === undefined ? "" : value; };
  const complain = (text) => { say(problem, text); problem.hidden = !text; };

  // ---- one row: its elements are made once, its texts change
  function makeRow(run) {
    const tr = document.createElement("tr"), head = make("th", tr), made = { tr };
    tr.dataset.run = run.id;
    head.scope = "row";
    made.tick = make("input", head);
    made.tick.type = "checkbox";
    made.link = make("a", head);
    made.link.href = `#open=${run.id}`;
    made.model = make("bdi", made.link);
    made.folder = make("bdi", make("small", head));
    const benchmark = make("td", tr);
    made.benchmark = make("bdi", benchmark);
    made.how = make("bdi", make("small", benchmark));
    const state = make("td", tr);
    made.state = make("span", state);
    made.since = make("small", state);
    made.workers = make("small", state, "workers");
    made.problem = make("small", state, "problem");
    made.units = make("td", tr);
    made.played = make("span", made.units);
    made.bar = make("progress", made.units);
    made.remark = make("small", made.units);
    made.worth = make("td", tr);
    made.score = make("b", made.worth);
    made.interval = make("small", made.worth);
    made.metric = make("small", made.worth);
    return made;
  }
  function fillRow(row, run) {
    const label = run.model || run.folder, readable = run.model !== undefined;
    say(row.model, label);
    say(row.folder, run.folder);
    row.tick.setAttribute("aria-label", `Select ${label} in ${run.folder}`);
    row.tick.disabled = !readable;
    if (!readable) row.link.removeAttribute("href");
    else if (!row.link.hasAttribute("href")) row.link.href = `#open=${run.id}`;
    say(row.benchmark, run.benchmark || "");
    say(row.how, run.how || "");
    say(row.state, run.state);
    row.state.classList.toggle("going", run.going);
    say(row.since, run.since ? `started ${run.since.replace("T", " ").replace("+00:00", " UTC")}` : "");
    say(row.workers, run.workers || "");
    say(row.problem, run.problem || "");
    const known = run.planned !== undefined;
    say(row.played, known ? `${run.done} of ${run.planned}` : readable && !run.problem ? "…" : "");
    worth(row.units, known && run.planned ? run.done / run.planned : undefined);
    row.bar.hidden = !known || run.done >= run.planned;
    if (known) {
      row.bar.max = Math.max(run.planned, 1);
      row.bar.value = run.done;
      row.bar.setAttribute("aria-label", `Progress of ${label}`);
    }
    say(row.remark, run.remark || "");
    say(row.score, run.score || "");
    worth(row.worth, run.score === undefined ? undefined : parseFloat(run.score) || 0);
    say(row.interval, [run.interval, run.counts].filter(Boolean).join(" · "));
    say(row.metric, run.metric || "");
  }
  function fill(runs) {
    const here = new Set(runs.map((run) => run.id)), before = rows.size;
    let changed = false, above = null;
    for (const [id, row] of rows) if (!here.has(id)) { row.tr.remove(); rows.delete(id); changed = true; }
    for (const run of runs) {
      let row = rows.get(run.id);
      if (!row) {
        row = makeRow(run);
        rows.set(run.id, row);
        if (above) above.after(row.tr);
        else body.prepend(row.tr);
        changed = true;
      }
      fillRow(row, run);
      above = row.tr;
    }
    element("runs-none").hidden = rows.size > 0;
    if (changed || before !== rows.size) board.dispatchEvent(new Event("input"));
    countTicks();
  }

  // ---- polling: every 2 s while a run is running and the page is visible
  async function ask() {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    try {
      const response = await fetch("runs.json", { cache: "no-store" });
      if (response.status === 403) {
        problem.dataset.of = "server";
        complain("`wildtool view` was started again. Open the address that it printed then.");
        return;
      }
      const answer = await response.json();
      fill(answer.runs);
      if (problem.dataset.of === "server") complain("");
      board.dataset.again = String(answer.again);
      if (answer.again && !document.hidden) timer = setTimeout(ask, EVERY_MS);
    } catch {
      problem.dataset.of = "server";
      complain("The server does not answer. Is `wildtool view` still running?");
    } finally {
      asking = false;
    }
  }

  // ---- opening
  const selected = () => [...body.querySelectorAll("input:checked")].map((tick) => tick.closest("tr").dataset.run);
  function countTicks() {
    const count = selected().length;
    opener.disabled = count === 0;
    say(opener, count === 0 ? "Open selected runs" : count === 1 ? "Open 1 run" : `Open ${count} runs together`);
  }
  const json = async (address) => (await fetch(address, { cache: "no-store" })).json();
  async function open() {
    const wanted = wildtool.query().getAll("open"), mine = ++opened;
    opening.hidden = wanted.length === 0;
    if (wanted.length === 0) return;
    problem.dataset.of = "report";
    complain("");
    const began = Date.now(), status = opening.querySelector("span");
    say(status, "Making the report …");
    let state;
    try {
      state = await json(`open.json?${new URLSearchParams(wanted.map((id) => ["run", id]))}`);
      const key = state.key;
      while (mine === opened && key && !state.address && !state.problem) {
        state = await json(`made.json?key=${encodeURIComponent(key)}`);
        if (state.step) {
          say(status, `${state.step} … (${Math.round((Date.now() - began) / 1000)} s)`);
          await new Promise((done) => { setTimeout(done, OFTEN_MS); });
        }
      }
    } catch {
      state = { problem: "The server does not answer. Is `wildtool view` still running?" };
    }
    if (mine !== opened) return;
    if (state.address) {
      location.replace(state.address);
      return;
    }
    opening.hidden = true;
    complain(state.problem);
    history.replaceState(null, "", location.pathname);
  }

  body.addEventListener("change", countTicks);
  opener.addEventListener("click", () => { location.hash = new URLSearchParams(selected().map((id) => ["open", id])); });
  element("runs-refresh").addEventListener("click", ask);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  addEventListener("hashchange", open);
  // Back from a report, the list is as it was left: it asks again.
  addEventListener("pageshow", (event) => { if (event.persisted) ask(); });
  ask();
  open();
});
