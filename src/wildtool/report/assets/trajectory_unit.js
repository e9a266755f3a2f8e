// One unit of a run in parts: its conversation, gold, differences and verdicts. Data: `trajectory_data.py`.
"use strict";
wildtool.unit = (() => {
  const { make, long, pretty, beside: compared } = wildtool.texts;
  const PROMPT = 2500, ENDING = 900, REPEATED = 300;
  const OUTCOMES = { correct: "✓", wrong: "✗", infra_error: "!", unplayed: "–" };
  // Pages in several languages give `tell`, which translates.
  const tell = (text) => (wildtool.tell || String)(text);

  function folded(title, ...content) {
    const node = make("details", "", make("summary", "", title));
    node.addEventListener("toggle", () => { if (node.open && node.childElementCount === 1) node.append(...content.map((one) => one())); }, { once: false });
    return node;
  }
  const oneLine = (text) => { const line = text.slice(0, 400).replace(/\s+/g, " ").trim(); return line.length > 90 ? `${line.slice(0, 90)}…` : line; };

  // What happened around a reply and is no part of the conversation.
  const aside = ([title, text]) => text ? make("div", "aside", folded(title, () => long(pretty(text), "pre", "said"))) : make("p", "aside", title);

  function callCard([name, text, id], asides) {
    const card = make("div", "call", make("b", "", make("bdi", "", name || "(no name)")));
    if (id) card.append(make("small", "", ` ${id.slice(0, 60)}`));
    card.append(long(pretty(text), "pre", "said"), ...asides.map(aside));
    return card;
  }
  // Characters of a prompt, in whole lines, that the one before had too; 0 if few.
  function repeated(text, known) {
    let same = 0;
    while (same < known.length && text[same] === known[same]) same += 1;
    const line = same === known.length ? same : text.lastIndexOf("\n", same) + 1;
    return line > REPEATED && line < text.length ? line : 0;
  }
  function message([role, text, calls, parts], { fold = role === "tool" || role === "system", whole = false, known = "", asides = [] } = {}) {
    const node = make("div", `message ${["system", "user", "assistant", "tool"].includes(role) ? role : "other"}`);
    const title = role || "reply";
    if (fold && (text.length > 120 || role === "tool")) node.append(folded(`${title}: ${oneLine(text)}`, () => long(pretty(text), "pre")));
    else if (text.length > PROMPT && title !== "tool" && !whole) {
      // A prompt that holds rules and the whole dialogue: its end is what was said last.
      const head = repeated(text, known) || text.length - ENDING;
      node.append(make("small", "role", title), folded(`… the first ${head.toLocaleString("en")} characters`, () => long(text.slice(0, head))), long(text.slice(head)));
    } else if (text) node.append(make("small", "role", title), role === "tool" ? long(pretty(text), "pre") : long(text));
    else if (!calls.length) node.append(make("small", "role", title), make("em", "", "(no text)"));
    else node.append(make("small", "role", title));
    for (const [name, part] of parts) node.append(folded(`${name.slice(0, 60)}: ${oneLine(part)}`, () => long(part)));
    node.append(...calls.map((call, number) => callCard(call, asides.filter(([, , of]) => of === number))));
    return node;
  }

  // What the model saw first: the history folded, what was said last open.
  function opening(seen) {
    const last = seen.reduce((found, [role], number) => role === "user" ? number : found, seen.length - 1);
    const nodes = [];
    if (seen.length && seen[0][0] === "system") nodes.push(message(seen[0]));
    const history = seen.slice(nodes.length, Math.max(last, nodes.length));
    if (history.length) nodes.push(make("div", "message history", folded(`${history.length} earlier messages`, ...history.map((one) => () => message(one)))));
    return [...nodes, ...seen.slice(Math.max(last, seen[0] && seen[0][0] === "system" ? 1 : 0)).map((one) => message(one))];
  }

  function replyOf(role, reply, asides = []) {
    const said = message([role === "agent" ? "assistant" : role, ...reply.slice(1)], { fold: false, whole: true, asides });
    said.classList.add("reply");
    return said;
  }

  // `around` gives nodes to add to a step, by its number.
  function conversation({ happened, before }, around = () => []) {
    const node = make("div", "conversation");
    if (!happened.steps.length) node.append(...opening(before.seen), make("p", "", tell("No reply is recorded.")));
    const known = {};
    happened.steps.forEach(([role, seen, reply, done, note, asides = []], number) => {
      const step = make("section", "step", make("h3", "", tell(`Step ${number + 1}`), make("small", "", role === "agent" ? "" : ` ${role}`)));
      step.append(...(number === 0 ? opening(seen || before.seen) : seen.map((one) => message(one, { known: known[role] }))));
      const last = (seen || before.seen).at(-1);
      if (last) known[role] = last[1];
      const beside = (after) => asides.filter(([, , of, later]) => of === null && later === after).map(aside);
      step.append(...beside(false), replyOf(role, reply, asides), ...beside(true));
      if (done.length) step.append(make("p", "note done", `✓ gold ${done.map((one) => one + 1).join(", ")}`));
      if (note) step.append(make("p", "note", make("b", "", `${tell("rule")} `), long(note, "span")));
      step.append(...around(number));
      node.append(step);
    });
    // Calls that failed, and replies that the rules did not read.
    for (let number = happened.steps.length; number < (happened.calls || []).length; number += 1) {
      node.append(make("section", "step", make("h3", "", tell(`Step ${number + 1}`)), ...around(number)));
    }
    return node;
  }

  // What differs in the arguments of a call: by name of an argument, of those that a difference can belong to only once.
  function wrongArguments(calls, status, number, differences) {
    const [name] = calls[number], rivals = calls.filter(([its], other) => its === name && status[other] === "wrong");
    if (status[number] !== "wrong" || rivals.length !== 1) return new Map();
    const found = new Map();
    for (const [where, expected, got, rule] of differences) {
      if (!where.startsWith(`${name}.`)) continue;
      const [argument] = where.slice(name.length + 1).split(/[.[]/, 1);
      found.set(argument, [...(found.get(argument) || []), [where, expected, got, rule]]);
    }
    return found;
  }
  // The arguments of a gold call one by one: what was expected, and whether it came.
  function argumentTable(expected, kind, wrong) {
    const rows = expected.map(([name, text]) => [name, text, wrong.get(name)]);
    for (const [name, its] of wrong) if (!expected.some(([known]) => known === name)) rows.push([name, "", its]);
    const sign = (its) => its || kind !== "wrong" ? wildtool.graph.SIGNS[its ? "wrong" : kind] : wildtool.graph.SIGNS.done;
    return make("table", "arguments", make("tbody", "", ...rows.map(([name, text, its]) => {
      const head = make("th", "", make("bdi", "", name));
      head.scope = "row";
      const found = (its || []).map(([where, , got, rule]) => make("div", "found", make("small", "", `${tell("found")} `), got ? long(got, "span") : make("em", "", `(${tell("nothing")})`), make("small", "", ` ${rule}`)));
      return make("tr", its ? "wrong" : "", head, make("td", "", make("span", "mark", sign(its)), text ? long(pretty(text), "span") : make("em", "", `(${tell("nothing")})`), ...found));
    })));
  }
  function gold({ happened, before }) {
    const calls = happened.gold || before.gold, status = happened.status;
    const node = make("div", "gold", make("h3", "", tell("Gold")));
    const graph = calls.length > 1 ? wildtool.graph.of(calls, status) : null;
    if (graph) node.append(make("div", "graph", graph));
    node.append(make("ol", "", ...calls.map(([name, expected, needs], number) => {
      const kind = status[number] || "missed";
      const after = needs.length ? ` ${tell(`after ${needs.map((one) => one + 1).join(", ")}`)}` : "";
      const shown = Array.isArray(expected) ? argumentTable(expected, kind, wrongArguments(calls, status, number, happened.differences)) : long(pretty(expected), "pre", "said");
      return make("li", kind, make("div", "head", make("span", "mark", wildtool.graph.SIGNS[kind]), " ", make("b", "", make("bdi", "", name)), make("small", "", ` ${tell(kind)}${after}`)), shown);
    })));
    return node;
  }

  function differences({ happened }) {
    if (!happened.differences.length) return [];
    const node = make("div", "differences", make("h3", "", tell("Differences")));
    for (const [where, expected, found, rule] of happened.differences) {
      const [left, right] = compared(expected, found);
      node.append(make("div", "difference", make("b", "", make("bdi", "", where)), make("dl", "", make("dt", "", tell("expected")), make("dd", "", left), make("dt", "", tell("found")), make("dd", "", right)), make("small", "", make("span", "", `${tell("rule")}: `), long(rule, "span"))));
    }
    return [node];
  }

  function verdicts({ happened }) {
    const rows = happened.verdicts.map(([profile, outcome, error, score, reason]) => make("tr", "",
      make("th", "", profile), make("td", "", make("span", `mark ${outcome}`, OUTCOMES[outcome]), `${tell(outcome.replace("_", " "))} ${score === 0 || score === 1 ? "" : score.toFixed(2)}`),
      make("td", "", error || "–"), make("td", "", long(reason, "span"))));
    for (const row of rows) row.firstChild.scope = "row";
    const head = make("tr", "", ...["profile", "outcome", "error", "rule that decided"].map((label) => { const th = make("th", "", tell(label)); th.scope = "col"; return th; }));
    const table = make("table", "verdicts", make("caption", "", tell("Verdicts")), make("thead", "", head), make("tbody", "", ...rows));
    const scroll = make("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", tell("Verdicts"));
    return scroll;
  }

  return { OUTCOMES, folded, replyOf, conversation, gold, differences, verdicts };
})();
