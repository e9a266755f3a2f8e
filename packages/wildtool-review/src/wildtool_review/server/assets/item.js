// One item: the conversation beside tools, findings and history; every part is edited in place.
import { read } from "./api.js";
import { bar, conflictPanel, reasonNames } from "./decisions.js";
import { changedEditors, discardTyped, editable, editWhole, findingsOf, findingText, openers, reopen, resume, saveTyped, slot, unfold } from "./editor.js";
import { kinds, needs, orders, picture } from "./graph.js";
import { begin, canUndo, context, isSaving, item, keeping, main, reload, save, show as showItem, undo } from "./saves.js";
import { bdi, beside, button, choice, link, make, said, t, tell, visible } from "./words.js";
export { undo };

const LONG = 240;
let composing = false, asking = false, wanted = "", loaded = false;
export function current() { return item; }
export const isUnsaved = () => Boolean(item && (changedEditors().length || isSaving()));

// ---- places: a part is found by its pointer
export function parts() { return [...main.querySelectorAll(".part")].filter((node) => node.offsetParent !== null); }
function place(field) {
  for (let at = field; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = slot(at) || main.querySelector(`[data-field^="${CSS.escape(`${at}/`)}"]`);
    if (found) return found;
  }
  return null;
}
export function jump(field) {
  const node = place(field);
  if (!node) return;
  unfold(node);
  node.focus();
  node.scrollIntoView({ block: "center" });
}

// ---- what parts look like
function valueNode(part) {
  if (part.text !== undefined) return said(part.text);
  return part.json === undefined ? make("em", "muted", t("nothing")) : foldable(part.json);
}
function foldable(text) {
  if (text.length < 40 && !/[[{]/.test(text)) return said(text, "code", "said");
  if (text.length <= LONG) return said(text, "pre", "code");
  const made = make("details", "fold");
  made.append(make("summary", "", `${visible(text.replace(/\s+/g, " ").slice(0, 90))} …`), said(text, "pre", "code"));
  return made;
}
function bubble(part, who, turn, label = "") {
  const made = make("div", `bubble ${who === "User" ? "user" : "assistant"}`), head = make("div", "head");
  head.append(make("b", "", t(who)), make("small", "", label ? `${turn} · ${t(label)}` : turn));
  made.append(head, editable(part, said(part.text ?? part.json ?? ""), { label: `${t(who)} ${turn}` }));
  return made;
}

function callCard(parts, index, task, turn) {
  const made = make("div", "call"), model = item.regeneration, name = parts.find((part) => part.kind === "call");
  const head = make("div", "callhead");
  head.append(make("span", "number", String(index)), editable(name, make("code", "", name.text ?? name.json ?? "?"), { label: t("Name"), values: item.tools.map((tool) => tool.name) }));
  if (!item.problem && task.actions) head.append(button("×", () => save("steps", { field: task.actions, index }), "plain pen remove"));
  const cross = head.querySelector(".remove");
  if (cross) { cross.setAttribute("aria-label", `${t("Remove this call")} ${index}`); cross.title = t("Remove this call"); }
  made.append(head);
  const given = parts.filter((part) => part.kind === "argument"), list = make("div", "arguments");
  for (const part of given) {
    const row = make("div", "argument"), tool = item.tools.find((one) => one.name === name.text);
    const about = tool && tool.parameters.find((one) => one.name === part.name);
    const label = make("span", "name", part.name);
    if (about && about.required) label.append(make("sup", "", "*"));
    if (!item.problem) label.append(" ", moreValues(part));
    if (about) label.title = `${visible(about.type)} · ${visible(about.about)}`;
    row.append(label, editable(part, part.text !== undefined ? said(part.text, "span") : valueNode(part), { label: part.name, removable: true, values: part.text !== undefined && about && about.values.length ? about.values : null }));
    list.append(row, ...alternatives(part));
  }
  if (!given.length) list.append(make("em", "muted", t("no arguments")));
  made.append(list);
  if (!item.problem) {
    const base = name.field.replace(/\/name$/, "/arguments");
    const small = make("div", "small");
    small.append(button(t("Edit the arguments as JSON"), () => editWhole(base, `${t("arguments")} ${index}`), "linklike"));
    made.append(small);
  }
  const seen = parts.find((part) => part.kind === "observation");
  if (seen) {
    const row = make("div", "observation");
    row.append(make("small", "", `${t("observation")} ${turn}`), editable(seen, valueNode(seen), { label: t("observation") }));
    if (model && !model.running && !item.problem && task.actions) {
      row.append(button(t("Make this result again with {0}", visible(model.model)), () => regenerate({ first: item.tasks.indexOf(task), call: index }), "linklike"));
    }
    made.append(row);
  }
  return made;
}

// Other values of an argument that are as right as gold's, and a way to accept one more.
function alternatives(part) {
  return (part.accepted || []).map((one, index) => {
    const row = make("div", "alternative");
    row.append(make("small", "", `${t("or")} `), one.json === "null" ? make("em", "muted", t("left out")) : valueNode(one));
    if (!item.problem) {
      const cross = button("×", () => save("alternative", { field: part.field, index }, { focus: part.field }), "plain small");
      cross.setAttribute("aria-label", visible(`${t("No longer accept")} ${one.text ?? one.json}`));
      row.append(cross);
    }
    return row;
  });
}
function moreValues(part) {
  const name = t("Accept another value of {0}", visible(part.name)), made = button("+", () => {
    const dialog = context.dialog(name), area = make("textarea"), isText = part.text !== undefined;
    area.rows = 2;
    area.dir = "auto";
    area.setAttribute("aria-label", name);
    keeping(area, `alternative ${part.field}`);
    const answer = (body) => () => {
      const said = body(), kept = { [`alternative ${part.field}`]: area.value };
      context.closeDialog();
      save("alternative", { field: part.field, ...said }, { focus: part.field, kept });
    };
    const row = make("div", "tools");
    row.append(button(t("Save"), answer(() => ({ [isText ? "text" : "json"]: area.value })), "plain strong"), button(t("It may be left out"), answer(() => ({ json: "null" }))));
    dialog.append(area, row);
    context.openDialog();
    area.focus();
  }, "linklike");
  made.setAttribute("aria-label", name);
  made.title = name;
  openers.set(`alternative ${part.field}`, () => made.click());
  return made;
}

function label(parts, kind, name, values) {
  const part = parts.find((one) => one.kind === kind);
  if (!part) return "";
  const made = make("span", "labelled");
  made.append(make("small", "", t(name)), editable(part, make("span", "", tell(part.text ?? part.json ?? "")), { label: t(name), values, names: tell, classes: "inline" }));
  return made;
}

function taskSection(task, t0) {
  const made = make("section", "task"), head = make("div", "taskhead"), steps = new Map();
  made.id = `task-${t0}`;
  head.append(make("h2", "", t("Task {0}", t0 + 1)), label(task.parts, "type", "type", context.review.task_types), label(task.parts, "subtype", "subtype", context.review.subtypes));
  const type = task.parts.find((part) => part.kind === "type");
  if (task.graph && task.graph.derived_type && type && type.text !== task.graph.derived_type && type.text !== "Chat") {
    head.append(make("span", "chip warn", t("the graph says {0}", tell(task.graph.derived_type))));
  }
  if (task.stale) head.append(make("span", "chip warn", t("stale")));
  made.append(head);
  let turn = 0;
  const number = () => `${t0 + 1}.${(turn += 1)}`;
  for (const part of task.parts) {
    if (part.node !== null) steps.set(part.node, [...(steps.get(part.node) || []), part]);
    else if (part.kind === "user text") made.append(bubble(part, "User", number()));
    else if (!["type", "subtype"].includes(part.kind)) {
      const row = make("div", "field");
      row.append(make("small", "", `${part.kind === "other" ? t("Data") : part.name}`), editable(part, valueNode(part), { label: part.name || t("Data") }));
      made.append(row);
    }
  }
  if (task.candidates.length) made.append(candidates(task));
  for (const [index, parts] of steps) {
    if (parts.some((part) => part.kind === "call")) made.append(callCard(parts, index, task, number()));
    for (const part of parts) {
      if (part.kind === "question") made.append(bubble(part, "Assistant", number(), "asks"));
      if (part.kind === "reply") made.append(bubble(part, "User", number()));
      if (part.kind === "answer") made.append(bubble(part, "Assistant", number(), "answers"));
    }
    if (Object.hasOwn(task.extras, index)) {
      const more = make("details", "extras");
      more.append(make("summary", "", t("plan and notes of the maker")), said(task.extras[index], "pre", "code"));
      made.append(more);
    }
  }
  if (task.actions && !item.problem) {
    const row = make("div", "small"), count = steps.size;
    const tool = choice(item.tools.map((one) => one.name), ""), at = choice(Array.from({ length: count }, (_, k) => String(k)), String(Math.max(0, count - 1)), (k) => t("before step {0}", k));
    tool.setAttribute("aria-label", t("Name"));
    at.setAttribute("aria-label", t("before step {0}", ""));
    if (item.tools.length) row.append(button(t("Add a call"), () => save("steps", { field: task.actions, index: Number(at.value), add: tool.value }), "linklike"), tool, at);
    row.append(button(t("Edit all steps as JSON"), () => editWhole(task.actions, `${t("Task {0}", t0 + 1)}`), "linklike"));
    made.append(row);
  }
  if (task.graph && task.graph.nodes.length > 1) made.append(graphOf(task));
  return made;
}

function graphOf(task) {
  const made = make("details", "graphbox"), graph = task.graph;
  made.open = true;
  made.append(make("summary", "", t("Dependency graph")));
  const set = item.problem ? null : (source, target, needed, kind = "") => {
    const field = task.parts.find((part) => part.kind === "edges" && part.node === target).field;
    save("edge", { field: field.replace(/\/dependency_list$/, ""), source, needed, kind }, { focus: `need:${field}:${source}-${target}` });
  };
  const toggle = set && ((source, target) => set(source, target, !graph.edges.some((edge) => edge.written && edge.source === source && edge.target === target)));
  const drawn = picture(graph, toggle);
  if (drawn) made.append(drawn);
  if (toggle) made.append(make("small", "muted", t("Click an edge, or choose what each step needs below.")));
  const rows = needs(graph, toggle);
  rows.dataset.task = task.actions;
  made.append(rows, kinds(graph, set, context.review.edge_kinds));
  for (const part of task.parts.filter((one) => one.kind === "edges")) {
    for (const one of findingsOf(part.field)) {
      const line = make("p", `finding ${one.severity}`, `${one.severity === "error" ? "✗" : "!"} ${part.node}: ${tell(one.message)}`);
      line.dataset.field = part.field;
      line.tabIndex = 0;
      made.append(line);
    }
  }
  made.append(orders(graph));
  return made;
}

function candidates(task) {
  const made = make("details", "candidates"), user = task.parts.find((part) => part.kind === "user text");
  made.append(make("summary", "", `${t("Candidates")} (${task.candidates.length})`));
  const picked = [], cards = make("div", "cards");
  task.candidates.forEach((one, index) => {
    const row = make("div", "candidate"), box = make("input");
    box.type = "checkbox";
    box.setAttribute("aria-label", `${t("Merge")} ${index + 1}`);
    box.addEventListener("change", () => { if (box.checked) picked.push(index); else picked.splice(picked.indexOf(index), 1); });
    const same = user && user.text === one.text;
    row.append(make("b", "", `${index + 1}`), same ? make("span", "chip good", t("chosen")) : "", user && !same ? beside(user.text ?? "", one.text)[1] : said(one.text));
    for (const [name, value] of Object.entries(one.about)) row.append(make("small", "", `${tell(name)}: ${tell(value)}`));
    if (user && !item.problem) row.append(box, button(t("Choose"), () => save("choose", { field: user.field, text: one.text, candidate: index }, { focus: user.field })));
    cards.append(row);
  });
  made.append(cards);
  if (user && !item.problem) {
    const merge = button(t("Merge"), () => {
      const dialog = context.dialog(t("Merge")), area = make("textarea");
      area.value = picked.map((index) => task.candidates[index].text).join("\n");
      area.rows = 8;
      area.dir = "auto";
      area.setAttribute("aria-label", t("Merge"));
      keeping(area, `merge ${user.field}`);
      dialog.append(area, button(t("Save"), () => {
        context.closeDialog();
        save("choose", { field: user.field, text: area.value, candidate: null }, { focus: user.field, kept: { [`merge ${user.field}`]: area.value } });
      }));
      context.openDialog();
      area.focus();
    });
    openers.set(`merge ${user.field}`, () => merge.click());
    made.append(merge);
  }
  return made;
}

// ---- beside the conversation
function box(name, open, ...children) {
  const made = make("details", "box");
  made.open = open;
  made.append(make("summary", "", name), ...children);
  return made;
}
function rules() {
  const found = item.findings, list = make("ul", "findings");
  if (found === null) return box(t("Rules"), true, make("p", "muted", t(item.checking ? "The rules still read this long item …" : "The rules have not run.")));
  for (const one of found) {
    const line = make("li", one.severity), go = button(findingText(one), () => jump(one.field), "linklike");
    go.dir = "auto";
    line.append(go);
    list.append(line);
  }
  return box(`${t("Rules")} (${found.length})`, true, found.length ? list : make("p", "muted", t("The rules found nothing.")));
}
function tools() {
  const made = item.tools.map((tool) => {
    const one = make("details", "tool"), head = make("summary");
    head.append(make("code", "", tool.name));
    one.append(head, said(tool.about, "p", "about"));
    const list = make("ul");
    for (const parameter of tool.parameters) {
      const line = make("li"), values = parameter.values.length ? ` [${parameter.values.join(", ")}]` : "";
      line.append(make("code", parameter.required ? "required" : "", parameter.name), parameter.required ? make("small", "mark", ` ${t("required")}`) : "", make("small", "", ` ${parameter.type}${values}`), bdi(parameter.about ? ` ${parameter.about}` : ""));
      list.append(line);
    }
    one.append(list, editable({ ...tool, name: tool.name }, make("span"), { label: tool.name, classes: "schema" }));
    if (findingsOf(tool.field).length) one.open = true;
    return one;
  });
  return box(`${t("Tools")} (${made.length})`, made.length <= 12, ...made);
}
function history() {
  const list = make("ol", "history");
  for (const entry of [...item.history].reverse()) {
    const line = make("li"), head = make("div", "head");
    head.append(make("b", "", t(entry.kind)), " ", bdi(entry.who), make("small", "", ` ${entry.when.replace("T", " ").slice(0, 16)}`));
    line.append(head);
    if (entry.said) line.append(make("div", "", t(entry.said)));
    if (entry.reasons.length && entry.kind !== "edit") line.append(make("small", "", reasonNames(entry.reasons)));
    if (entry.field) line.append(make("code", "muted", entry.field));
    if (entry.before !== undefined) line.append(...beside(entry.before, entry.after));
    if (entry.note) line.append(said(tell(entry.note), "p", "note"));
    if (entry.version && entry.version !== item.seen && !item.problem) line.append(button(t("Restore this version"), () => save("restore", { version: entry.version }, { fits: () => true })));
    list.append(line);
  }
  const made = box(`${t("History")} (${item.history.length})`, false, item.history.length ? list : make("p", "muted", t("Nothing has happened yet.")));
  made.id = "history";
  return made;
}
function shared() {
  if (!item.shared.length) return "";
  const rows = item.shared.map((part) => {
    const row = make("div", "field");
    row.append(make("small", "", part.name), editable(part, valueNode(part), { label: part.name }));
    return row;
  });
  return box(t("Other parts"), true, ...rows);
}
// The edit is that of the row that was clicked: a save before it may change what is proposed.
function accepted(one, beside) {
  const index = item.runs.indexOf(one), meant = JSON.stringify(one.proposal);
  save("accept", { index, beside }, { fits: (known) => JSON.stringify(known.runs?.[index]?.proposal) === meant });
}
// What recorded runs say after the edits: `{model, task, before, after, note}` each, some with an edit to accept.
function runs() {
  if (!Array.isArray(item.runs)) return "";
  const verdicts = (one) => one.proposal ? "" : one.before === one.after ? sign(one.after) : `${sign(one.before)} → ${sign(one.after)}`;
  const sign = (verdict) => verdict === true ? `✓ ${t("right")}` : verdict === false ? `✗ ${t("wrong")}` : t("unknown");
  const list = make("ul", "runs");
  for (const one of item.runs) {
    const line = make("li", one.before === one.after ? "" : "flip");
    line.append(bdi(one.proposal ? tell(one.model) : String(one.model)), one.task === null || one.task === undefined ? "" : make("small", "", ` ${t("Task {0}", one.task + 1)}`),
      ` ${verdicts(one)}`, one.note ? said(tell(String(one.note)), "p", "note") : "");
    if (one.proposal && !item.problem) {
      const accept = (name, beside) => button(t(name), () => accepted(one, beside));
      const both = one.proposal.beside && one.proposal.beside.length;
      if (both) line.append(accept("Accept beside gold", true), " ");
      line.append(accept(both ? "Replace gold" : "Accept", false));
    }
    list.append(line);
  }
  return box(`${t("Recorded runs")} (${item.runs.length})`, true, list);
}

// ---- decisions
export function press(name) {
  const found = main.querySelector(`[data-decide="${name}"]`);
  if (found) found.click();
}

// Tasks, or the result of one call, made again by a model: asked for here, and looked for until its proposal is there.
async function regenerate(body) {
  const { id } = item;
  if (await save("regenerate", body, { said: t("Asked for.") })) watch(id);
}
async function watch(id) {
  const state = await context.attempt(() => read("regeneration", { id }));
  if (!state || !item || item.id !== id || !main.querySelector(".making")) return;
  if (state.running) { setTimeout(() => watch(id), 1500); return; }
  const answer = await context.attempt(() => reload(id));
  if (answer && item.id === id) showItem(answer);
}
function regeneration() {
  const now = item.regeneration;
  if (!now || item.problem || !item.tasks[0].actions) return "";
  if (now.running) return make("p", "notice making", t("{0} makes parts of this item again …", visible(now.model)));
  const made = make("details", "notice remake"), row = make("div", "tools"), keep = make("input"), label = make("label", "tick");
  const stale = item.stale.length ? Math.min(...item.stale) : 0;
  const first = choice(item.tasks.map((_, index) => String(index)), String(stale), (index) => t("from task {0}", Number(index) + 1));
  made.open = Boolean(item.stale.length || now.problem);
  made.append(make("summary", "", t("Make tasks again with {0}", visible(now.model))));
  keep.type = "checkbox";
  label.append(keep, make("span", "", t("keep the user's requests")));
  first.setAttribute("aria-label", t("First task"));
  row.append(first, label, button(t("Make again"), () => regenerate({ first: Number(first.value), keep_texts: keep.checked })));
  made.append(row);
  if (now.problem) made.append(said(now.problem, "p", "finding error"));
  return made;
}

function staleNotice() {
  if (!item.stale.length || item.problem) return "";
  const made = make("div", "notice warning");
  made.append(make("p", "", t("An earlier task or the twin was changed. Check these tasks again: {0}", item.stale.map((one) => one + 1).join(", "))));
  const done = button(t("Checked again"), () => save("recheck", { tasks: item.stale }));
  done.dataset.decide = "recheck";
  made.append(done);
  return made;
}

// What models propose, beside what is there now: one is taken as a whole, or each part from one of them.
function proposals() {
  if (!item.proposals.length) return "";
  const made = make("section", "proposal notice"), row = make("div", "tools"), chosen = {}, fields = new Map();
  made.append(make("h2", "", item.proposals.length === 1 ? t("1 proposal") : t("{0} proposals", item.proposals.length)));
  const name = (index) => `${index + 1}`;
  item.proposals.forEach((one, index) => {
    const line = make("p", "note");
    line.append(make("b", "", name(index)), ` ${t("Proposed by")} `, bdi(one.model), `: ${one.note}`);
    made.append(line);
    for (const change of one.changes) fields.set(change.field, [...(fields.get(change.field) || []), { ...change, index }]);
  });
  for (const [field, changes] of fields) {
    const part = make("div", "change"), sides = make("div", "sides many");
    part.setAttribute("role", "radiogroup");
    part.setAttribute("aria-label", field);
    const option = (label, proposal, shown) => {
      const side = make("label", "option"), radio = make("input");
      Object.assign(radio, { type: "radio", name: `proposal ${field}`, value: proposal, checked: proposal === (chosen[field] || ""), disabled: Boolean(item.problem) });
      radio.addEventListener("change", () => { if (proposal) chosen[field] = proposal; else delete chosen[field]; });
      side.append(radio, make("small", "label", label), shown);
      sides.append(side);
    };
    if (item.proposals.length === 1) chosen[field] = item.proposals[0].proposal;
    option(t("now"), "", beside(changes[0].before, changes[0].after)[0]);
    for (const one of changes) option(name(one.index), item.proposals[one.index].proposal, beside(one.before, one.after)[1]);
    part.append(make("code", "muted", field), sides);
    made.append(part);
  }
  if (!item.problem) {
    const several = item.proposals.length > 1, label = (text, index) => several ? `${t(text)} ${name(index)}` : t(text);
    item.proposals.forEach((one, index) => {
      const answer = (take) => () => save("proposal", { proposal: one.proposal, take });
      row.append(button(label("Accept", index), answer(true), "plain yes"), button(label("Discard", index), answer(false)));
    });
    row.append(button(t("Take the selected parts"), () => {
      if (Object.keys(chosen).length) save("proposal", { choices: chosen });
      else context.say(t("Select at least one part."));
    }));
  }
  made.append(row);
  return made;
}

function header() {
  const made = make("header", "itemhead"), row = make("div", "chips"), { previous, next, position, total } = context.neighbours(item.id);
  const go = make("div", "go");
  if (canUndo() && !item.problem) {
    const back = button(`↶ ${t("Undo")}`, undo);
    back.id = "undo";
    go.append(back);
  }
  if (previous) go.append(link(`← ${t("Previous")}`, context.addressOf(previous)));
  if (total) go.append(make("small", "", t("{0} of {1}", position, total)));
  if (next) go.append(link(`${t("Next")} →`, context.addressOf(next)));
  const title = make("h1");
  title.append(bdi(item.id));
  const chip = (text, classes = "") => { if (text) row.append(make("span", `chip ${classes}`, text)); };
  chip(t(item.stage), item.stage === "approved" ? "good" : item.stage === "rejected" ? "bad" : "");
  chip(item.domain);
  chip(item.lang);
  chip(t("version {0}", item.version));
  if (item.confidence < 1) chip(t("confidence {0} %", Math.round(100 * item.confidence)), item.confidence < 0.85 ? "warn" : "");
  if (item.own_copy) chip(t("your own copy"));
  if (item.review && !item.review.ended && item.review.round) chip(t("Round {0}", item.review.round));
  if (item.review && !item.review.ended && item.own_copy && item.review.others) chip(item.review.others === 1 ? t("1 other reviews it too") : t("{0} others review it too", item.review.others));
  for (const twin of item.twins) {
    const chip = link("", context.addressOf(twin), "chip");
    chip.append(`${t("twin")} `, bdi(twin));
    row.append(chip);
  }
  made.append(go, title, row);
  return made;
}

// Rules that read a long item after its save: their findings are looked for until they are there.
async function awaitRules(id) {
  clearTimeout(awaitRules.timer);
  const answer = await read("item", { id }).catch(() => null);
  if (!item || item.id !== id || !item.checking || isSaving() || !main.querySelector("article.item")) return;
  if (answer && answer.seen === item.seen && !answer.checking) showItem(answer);
  else awaitRules.timer = setTimeout(awaitRules, 1000, id);
}

// Shows the item again. Editors that are open, the text marked in them, and what is unfolded stay as they are.
function draw(focus) {
  if (composing) { document.addEventListener("compositionend", () => draw(focus), { once: true }); return; }
  const top = scrollY, open = new Map([...main.querySelectorAll("details.box")].map((one, k) => [k, one.open]));
  const typing = document.activeElement, key = typing && typing.dataset.draft, caret = key && typing.selectionStart !== undefined ? [typing.selectionStart, typing.selectionEnd] : null;
  const made = make("article", "item"), columns = make("div", "columns"), talk = make("div", "talk"), aside = make("aside"), kept = make("div", "notice kept");
  kept.id = "kept";
  kept.hidden = true;
  openers.clear();
  item.tasks.forEach((task, index) => talk.append(taskSection(task, index)));
  aside.append(rules(), runs(), tools(), shared(), history());
  columns.append(talk, aside);
  made.append(header(), kept, staleNotice(), regeneration(), proposals(), conflictPanel(), columns, bar());
  main.replaceChildren(made);
  [...main.querySelectorAll("details.box")].forEach((one, k) => { if (open.has(k)) one.open = open.get(k); });
  reopen();
  const again = key && main.querySelector(`[data-draft="${CSS.escape(key)}"]`);
  if (again) {
    again.focus({ preventScroll: true });
    if (caret && caret[0] !== null) again.setSelectionRange(...caret);
  } else if (focus) {
    const need = /^need:(.*):(\d+-\d+)$/.exec(focus);
    const node = need ? main.querySelector(`[data-task="${CSS.escape(need[1].replace(/\/\d+\/dependency_list$/, ""))}"] [data-need="${need[2]}"]`) : slot(focus);
    if (node) node.focus({ preventScroll: true });
  } else if (main.contains(document.activeElement) && document.activeElement.dataset.draft) document.activeElement.blur();
  scrollTo(0, top);
  clearTimeout(awaitRules.timer);
  if (item.checking) awaitRules.timer = setTimeout(awaitRules, 500, item.id);
}

export async function show(where, id, surroundings) {
  const same = item && item.id === id;
  wanted = id;
  begin(where, surroundings, draw);
  const answer = await reload(id);
  if (wanted !== id) return;
  if (!same || !main.querySelector("article.item")) main.replaceChildren();
  showItem(answer);
  if (!loaded) await resume();
  loaded = true;
  if (item.regeneration && item.regeneration.running) watch(id);
  if (!same) scrollTo(0, 0);
  document.title = `${visible(item.id)} · wildtool review`;
}

// What to do with texts that were typed, when somebody goes elsewhere; whether they may go.
export async function leave() {
  if (!item || !main || !main.querySelector("article.item") || !changedEditors().length || asking) return true;
  asking = true;
  const dialog = context.dialog(t("This text is not saved")), row = make("div", "tools");
  let choice = "keep";
  const answer = (name, value, classes) => button(t(name), () => { choice = value; context.closeDialog(); }, classes);
  dialog.append(make("p", "", t("What should become of it?")), row);
  row.append(answer("Save", "save", "plain strong"), answer("Keep as a draft", "keep"), answer("Discard", "discard"));
  context.openDialog();
  await new Promise((resolve) => { dialog.closest("dialog").addEventListener("close", resolve, { once: true }); });
  asking = false;
  if (choice === "discard") discardTyped();
  return choice !== "save" || saveTyped();
}
addEventListener("compositionstart", () => { composing = true; });
addEventListener("compositionend", () => { composing = false; }, true);
document.getElementById("dialog").addEventListener("close", () => { if (item && main && main.querySelector("article.item")) reopen(); });
