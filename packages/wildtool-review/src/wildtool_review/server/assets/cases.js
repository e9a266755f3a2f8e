// Reading failures of a run: a list of them, one in full with its labels, figures. The address after `#` says what is shown.
import { read, write } from "./api.js";
import { metricTable } from "./figures.js";
import { begin, draft, drafts, forget, keep } from "./saves.js";
import { attempt, dialog, element, help, main, onKeys, say, startDialog } from "./shell.js";
import { bdi, button, choice, labelled, link, make, said, showLanguage, switchLanguage, t, tell } from "./words.js";

const { folded, replyOf, conversation, gold, differences, verdicts } = wildtool.unit;
const { long, pretty } = wildtool.texts;
const QUEUES = ["unread", "read", "all"];
let review = null, order = [], shown = 0, turns = 0;
// The case that is shown, what is chosen of it, and whether a key would be about something not seen yet.
let current = null, chosen = new Set(), note = null, busy = false;

// ---- addresses
const query = () => new URLSearchParams(location.hash.slice(1));
const addressOf = (number) => { const next = query(); next.set("case", number); return `#${next}`; };
function setQuery(changes) {
  const next = query();
  next.delete("case");
  for (const [name, value] of Object.entries(changes)) if (value) next.set(name, value); else next.delete(name);
  location.hash = String(next);
}
function asked() {
  const found = query(), wanted = { queue: QUEUES.includes(found.get("queue")) ? found.get("queue") : "all" };
  for (const name of ["label", "text"]) if (found.get(name)) wanted[name] = found.get(name);
  return wanted;
}
const go = (number) => { if (number !== undefined) location.hash = addressOf(number); };
const neighbour = (by) => order[order.indexOf(current.case) + by];

// ---- the list
function row(one) {
  const made = make("li", "row"), name = link("", addressOf(one.case), "open"), chips = make("span", "chips");
  made.dataset.case = one.case;
  name.append(bdi(one.name));
  if (drafts(String(one.case)).length) chips.append(make("span", "chip warn", t("not saved")));
  chips.append(make("span", `chip ${one.read ? "good" : ""}`, one.read ? t("read") : t("unread")));
  for (const label of one.labels) chips.append(make("span", "chip", one.read ? label : t("proposed: {0}", label)));
  made.append(name, make("span", "what", one.error), chips);
  return made;
}

function filters(wanted) {
  const made = make("div", "tools filters"), find = make("input");
  const names = review.labels.map(([, name]) => name);
  const label = choice(["", ...names, review.none], wanted.label || "", (name) => name ? t(name) : t("any label"));
  label.setAttribute("aria-label", t("any label"));
  label.addEventListener("change", () => setQuery({ label: label.value }));
  find.type = "search";
  find.value = wanted.text || "";
  find.id = "find";
  find.placeholder = t("id, unit or class");
  find.addEventListener("change", () => setQuery({ text: find.value }));
  made.append(label, labelled(t("Find"), find));
  if (Object.keys(wanted).length > 1) made.append(link(t("Clear filters"), `#queue=${wanted.queue}`));
  return made;
}

async function showList() {
  const wanted = asked(), answer = await read("cases", wanted);
  order = answer.ids;
  const made = make("article", "queue"), tabs = make("nav", "tabs"), list = make("ol", "rows"), heading = make("h1");
  tabs.setAttribute("aria-label", t("Cases"));
  for (const name of QUEUES) {
    const tab = link(t(name), `#${new URLSearchParams({ ...wanted, queue: name })}`, "tab");
    tab.append(make("small", "", String(review.queues[name])));
    if (name === wanted.queue) tab.setAttribute("aria-current", "page");
    tabs.append(tab);
  }
  heading.append(bdi(review.set));
  list.append(...answer.rows.map(row));
  shown = answer.rows.length;
  const more = button(t("Show more"), () => attempt(async () => {
    const next = await read("cases", { ...wanted, start: shown });
    list.append(...next.rows.map(row));
    shown += next.rows.length;
    more.hidden = shown >= answer.total;
  }));
  more.hidden = shown >= answer.total;
  const drawn = make("p", "muted", t("{0} of {1} cases, drawn from {2} failures", answer.total, review.queues.all, review.failures), " · ", bdi(review.model), " · ", bdi(review.profile));
  const none = answer.total ? "" : make("p", "none", !review.queues.unread && wanted.queue === "unread" ? t("You have read all cases.") : t("No case fits."));
  return () => { made.append(heading, tabs, filters(wanted), drawn, list, none, more); return made; };
}

// ---- one case
// What was chosen and typed of a case and is not saved; it is kept in the browser.
function typed(number) {
  const kept = draft(String(number), "said");
  return kept && JSON.parse(kept.text);
}
function remember() {
  const before = current.said || { labels: current.proposed, note: "" };
  const same = note.value === before.note && chosen.size === before.labels.length && before.labels.every((name) => chosen.has(name));
  if (same) forget(String(current.case), "said");
  else keep(String(current.case), "said", JSON.stringify({ labels: [...chosen], note: note.value, seen: current.base }));
}

function labelButton([key, name, about]) {
  const made = button("", () => toggle(name), "plain label");
  made.append(bdi(name), make("kbd", "", key));
  if (current.proposed.includes(name)) made.append(make("small", "", ` ${t("proposed by a rule")}`));
  made.dataset.label = name;
  made.title = wildtool.texts.visible(about);
  made.setAttribute("aria-pressed", String(chosen.has(name)));
  return made;
}
function toggle(name) {
  if (!chosen.delete(name)) chosen.add(name);
  for (const one of main.querySelectorAll("[data-label]")) one.setAttribute("aria-pressed", String(chosen.has(one.dataset.label)));
  remember();
}

function bar(answer) {
  const made = make("div", "bar"), labels = make("div", "tools"), row = make("div", "tools"), about = make("dl");
  made.id = "bar";
  labels.setAttribute("role", "group");
  labels.setAttribute("aria-label", t("Labels"));
  labels.append(...review.labels.map(labelButton));
  note = make("input");
  note.placeholder = t("Note");
  note.setAttribute("aria-label", t("Note"));
  note.dir = "auto";
  note.value = (typed(answer.case) || answer.said || { note: "" }).note;
  note.addEventListener("input", remember);
  note.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); note.blur(); } });
  const send = button(t("Save"), save, "plain yes"), state = make("span", "muted", answer.said ? t("read") : t("unread"));
  send.append(make("kbd", "", "s"));
  for (const [, name, meaning] of review.labels) if (meaning) about.append(make("dt", "", bdi(name)), make("dd", "", bdi(meaning)));
  row.append(note, send, state);
  made.append(labels, row);
  if (about.childElementCount) made.append(make("details", "", make("summary", "", t("What the labels mean")), about));
  return made;
}

// The step at which the rules decided, or the last one, beside what was expected.
function wrongBesideGold(answer, found) {
  const steps = found.happened.steps, sides = make("div", "sides"), left = make("section");
  const [role, , reply, , note] = steps[answer.decided ?? steps.length - 1] || [];
  left.append(make("h3", "", answer.decided === null ? t("The last reply") : t("Step {0}, which decided", answer.decided + 1)));
  left.append(reply ? replyOf(role, reply) : make("p", "", t("No reply is recorded.")));
  if (note) left.append(said(note, "p", "note"));
  sides.append(left, gold(found));
  return sides;
}

async function showCase(number) {
  const [answer, list] = await Promise.all([read("case", { case: number }), order.length ? null : read("cases", asked())]);
  if (list) order = list.ids;
  return () => {
    const unsaved = typed(answer.case), before = answer.said ? answer.said.labels : answer.proposed;
    current = { ...answer, base: unsaved ? unsaved.seen : answer.seen };
    chosen = new Set(unsaved ? unsaved.labels : before);
    const made = make("article", "item trajectory"), head = make("header", "itemhead"), ways = make("div", "go"), heading = make("h1");
    const found = { happened: answer.happened, before: { seen: [], gold: [] } }, at = order.indexOf(answer.case);
    heading.append(bdi(answer.name));
    for (const [sign, name, by] of [["‹", "Previous case", -1], ["›", "Next case", 1]]) {
      const to = neighbour(by), way = to === undefined ? make("span", "muted", sign) : link(sign, addressOf(to));
      if (to !== undefined) way.setAttribute("aria-label", t(name));
      ways.append(way);
      if (by < 0) ways.append(make("span", "muted", t("{0} of {1}", at + 1, order.length)));
    }
    head.append(heading, ways);
    const why = make("p", "why");
    why.append(make("span", "chip bad", answer.error || t("no class")), " ", long(answer.reason, "span", ""));
    made.append(head, make("h2", "", t("Why it is wrong"), " (", bdi(review.profile), ")"), why, wrongBesideGold(answer, found), ...differences(found),
      make("h2", "", t("Conversation")), conversation(found), make("h2", "", t("Other rules and tools")), verdicts(found),
      folded(t("{0} tools", answer.tools.length), ...answer.tools.map((text) => () => long(pretty(text), "pre", "said"))), bar(answer));
    return made;
  };
}

async function save() {
  if (busy || !current) return;
  busy = true;
  const id = String(current.case), body = { case: current.case, labels: [...chosen], note: note.value };
  const answer = await attempt(() => write("label", { ...body, seen: current.base }), (refusal) => refusal.status === 409 && overtaken(refusal));
  busy = false;
  if (!answer) return;
  forget(id, "said");
  say(t("Saved: {0}", body.labels.join(t(", ")) || t(review.none)));
  await attempt(async () => {
    const left = new Set((await read("cases", { ...asked(), queue: "unread" })).ids), at = order.indexOf(body.case);
    if (query().get("case") !== id) return;
    const next = [...order.slice(at + 1), ...order.slice(0, at + 1)].find((one) => left.has(one));
    if (next !== undefined) go(next); else setQuery({ queue: "unread" });
  });
}
// What the same reader saved in another window is shown before it is replaced.
function overtaken(refusal) {
  const now = refusal.answer.said, body = startDialog(t("You saved this case in another window")), row = make("div", "tools");
  body.append(make("p", "", refusal.message));
  if (now) body.append(make("p", "", t("Saved: {0}", now.labels.join(t(", ")) || t(review.none))), said(now.note, "p", "note"));
  const done = (action) => () => { dialog.close(); action(); };
  row.append(button(t("Save mine"), done(() => { current.base = refusal.answer.seen; save(); })),
    button(t("Take what is saved"), done(() => { forget(String(current.case), "said"); turn(); })));
  body.append(row);
  dialog.showModal();
  return true;
}

// ---- figures
async function showFigures() {
  const figures = await read("figures"), made = make("article", "figures"), groups = new Map(), readers = make("ul");
  for (const metric of figures.metrics) groups.set(metric.group, [...(groups.get(metric.group) || []), metric]);
  for (const [name, count] of figures.readers) readers.append(make("li", "", bdi(name), ` ${t("{0} of {1}", count, review.queues.all)}`));
  made.append(make("h1", "", t("Figures")), make("h2", "", t("Cases read")), figures.readers.length ? readers : make("p", "", t("Nobody has read any case yet.")));
  for (const [group, rows] of groups) made.append(make("h2", "", tell(group)), metricTable(group, rows));
  return () => made;
}

// ---- what the address names
async function turn() {
  const found = query(), mine = (turns += 1), page = found.has("figures") ? "figures" : "queue";
  busy = true;
  if (dialog.open) dialog.close();
  for (const one of document.querySelectorAll("[data-page]")) {
    if (one.dataset.page === page) one.setAttribute("aria-current", "page"); else one.removeAttribute("aria-current");
  }
  const drawn = await attempt(async () => {
    review = await read("review");
    return found.has("case") ? showCase(found.get("case")) : page === "figures" ? showFigures() : showList();
  });
  if (mine !== turns) return;
  busy = false;
  current = null;
  if (!drawn) return;
  main.replaceChildren(drawn());
  document.title = `${current ? current.name : review.set} – wildtool review`;
  main.dataset.shown = location.hash;
  if (current) scrollTo(0, 0);
}
async function start() {
  showLanguage();
  review = await attempt(() => read("review"));
  if (!review) return;
  begin(main, { get review() { return review; } }, null);
  element("who").replaceChildren(bdi(review.who));
  if (!location.hash) history.replaceState(null, "", `#queue=${review.queues.unread ? "unread" : "all"}`);
  await turn();
}

// ---- the keyboard
const KEYS = [["?", "this help"], ["1, 2, …", "give or take back a label"], ["t", "write a note"], ["s", "save, and open the next unread case"],
  ["n", "next case"], ["b", "previous case"], ["q", "the list of cases"], ["/", "filter"]];
const ACTIONS = {
  "?": () => help(KEYS),
  "/": () => { const find = element("find"); if (find) find.focus(); },
  q: () => setQuery({ figures: "" }),
  n: () => go(current ? neighbour(1) : order[0]),
  b: () => { if (current) go(neighbour(-1)); },
  s: save,
  t: () => { if (current) note.focus(); },
};
onKeys((event) => {
  // What is typed while something is saved or opened would be about a case that nobody has seen.
  if (busy) return null;
  const label = current && review.labels.find(([key]) => key === event.key);
  if (label) return () => toggle(label[1]);
  return Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : null;
});
element("keys").addEventListener("click", () => help(KEYS));
element("language").addEventListener("click", () => { switchLanguage(); start(); });
addEventListener("hashchange", turn);
start();
