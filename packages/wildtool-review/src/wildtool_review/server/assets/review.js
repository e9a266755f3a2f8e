// The pages of a review: queue, item, figures; signing in; the keyboard. The address after `#` says what is shown.
import { read, Refusal, write } from "./api.js";
import * as figures from "./figures.js";
import * as items from "./item.js";
import { begin, drafts, staying } from "./saves.js";
import { attempt, complain, dialog, element, help, main, onKeys, onSignedOut, say, startDialog } from "./shell.js";
import { bdi, button, choice, labelled, link, make, showLanguage, switchLanguage, t, tell } from "./words.js";

const FILTERS = ["type", "subtype", "domain", "rule", "stage", "round", "assignee", "max_confidence"];
const ANY = { type: "any type", subtype: "any subtype", domain: "any domain", rule: "any rule", stage: "any stage", round: "any round", assignee: "anyone", max_confidence: "any confidence" };
let review = null, order = [], shown = 0, stamp = 0, turns = 0;

const KEYS = [
  ["?", "this help"], ["q", "the queue"], ["f", "figures"], ["/", "filter"], ["j", "next part, or next row"], ["k", "previous part, or previous row"],
  ["Enter, e", "edit the part, or open the row"], ["Ctrl+Enter", "save"], ["Esc", "cancel"], ["n", "next item"], ["p", "previous item"],
  ["w", "next finding"], ["a", "approve the item"], ["r", "reject: choose reasons"], ["d", "send to discussion"], ["m", "write a remark"],
  ["s", "stale tasks are checked"], ["u", "undo your last change"], ["h", "history"], ["Space", "on an edge: add or remove it"],
];

// ---- signing in
function signIn() {
  const form = make("form", "signin"), field = make("input"), send = make("button", "plain strong", t("Sign in"));
  field.type = "password";
  field.autocomplete = "current-password";
  field.required = true;
  send.type = "submit";
  // Managers of passwords expect a name; the token alone says who it is.
  const name = make("input");
  name.autocomplete = "username";
  name.value = "wildtool review";
  name.hidden = true;
  form.append(make("h1", "", t("Sign in")), name, labelled(t("Personal token"), field), send, make("p", "muted", t("Ask the owner of the review for a token: wildtool review people add")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await write("sign-in", { token: field.value });
      complain("");
      await start();
    } catch (refusal) {
      complain(refusal.message);
      field.select();
    }
  });
  main.replaceChildren(form);
  element("who").replaceChildren();
  field.focus();
}

// ---- the queue
const query = () => new URLSearchParams(location.hash.slice(1));
const addressOf = (id) => { const next = query(); next.set("item", id); return `#${next}`; };
const asked = () => {
  const found = query(), wanted = { queue: found.get("queue") || "all" };
  for (const name of [...FILTERS, "text"]) if (found.get(name)) wanted[name] = found.get(name);
  return wanted;
};
function setQuery(changes) {
  const next = query();
  next.delete("item");
  for (const [name, value] of Object.entries(changes)) if (value) next.set(name, value); else next.delete(name);
  location.hash = String(next);
}
const neighbours = (id) => {
  const at = order.indexOf(id);
  return { previous: order[at - 1], next: at < 0 ? order[0] : order[at + 1], position: at + 1, total: at < 0 ? 0 : order.length };
};

function row(item) {
  const made = make("li", "row"), name = link("", addressOf(item.id), "open");
  made.dataset.id = item.id;
  made.classList.toggle("unchecked", !item.warnings);
  name.append(bdi(item.said || item.id));
  name.title = item.id;
  const chips = make("span", "chips"), chip = (text, classes = "") => { if (text) chips.append(make("span", `chip ${classes}`, text)); };
  if (item.mine) chip(t("yours"), "accent");
  if (drafts(item.id).length) chip(t("not saved"), "warn");
  chip(t(item.stage), item.stage === "approved" ? "good" : item.stage === "rejected" ? "bad" : "");
  if (item.conflicts.length) chip(t("conflict"), "bad");
  if (item.stale) chip(t("{0} stale tasks", item.stale), "warn");
  if (item.warnings && item.warnings.length) chip(item.warnings.map(tell).join(t(", ")), item.errors ? "bad" : "warn");
  if (!item.warnings) chip(t("unchecked"));
  if (item.confidence < 1) chip(t("confidence {0} %", Math.round(100 * item.confidence)));
  const types = [...new Set(item.strata.map(([kind]) => kind).filter(Boolean))].map(tell).join(" · ");
  made.append(name, make("span", "what", [item.domain, types].filter(Boolean).join(" — ")), chips);
  return made;
}

function filters(wanted) {
  const made = make("div", "tools filters"), find = make("input");
  for (const name of FILTERS) {
    const values = name === "max_confidence" ? ["0.85", "0.7", "0.5"] : review.filters[name].map(String);
    if (!values.length) continue;
    const names = (value) => value === "" ? t(ANY[name]) : name === "stage" ? t(value) : name === "round" ? t("Round {0}", value) : name === "max_confidence" ? t("below {0} %", 100 * value) : ["type", "subtype", "rule"].includes(name) ? tell(value) : value;
    const control = choice(["", ...values], wanted[name] || "", names);
    control.setAttribute("aria-label", t(ANY[name]));
    control.addEventListener("change", () => setQuery({ [name]: control.value }));
    made.append(control);
  }
  find.type = "search";
  find.value = wanted.text || "";
  find.id = "find";
  find.placeholder = t("id or text");
  find.addEventListener("change", () => setQuery({ text: find.value }));
  made.append(labelled(t("Find"), find));
  if (Object.keys(wanted).length > 1) made.append(link(t("Clear filters"), `#queue=${wanted.queue}`));
  return made;
}

async function showQueue() {
  const wanted = asked(), mine = (stamp += 1), answer = await read("queue", wanted);
  if (mine !== stamp) return;
  order = answer.ids;
  const made = make("article", "queue"), tabs = make("nav", "tabs"), list = make("ol", "rows");
  tabs.setAttribute("aria-label", t("Queue"));
  for (const [name, count] of Object.entries(review.queues)) {
    if (name === "unchecked" && !count) continue;
    const tab = link(t(name), `#${new URLSearchParams({ ...wanted, queue: name })}`, "tab");
    tab.append(make("small", "", String(count)));
    tab.dataset.queue = name;
    if (name === wanted.queue) tab.setAttribute("aria-current", "page");
    tabs.append(tab);
  }
  const heading = make("h1");
  heading.append(bdi(review.set));
  made.append(heading, tabs, filters(wanted));
  const counts = make("p", "muted", t("{0} of {1} items", answer.total, review.total));
  if (review.reviewers === 1) counts.append(make("span", "reviewers", ` · ${t("One reviewer per item is enough, as the set says.")}`));
  made.append(counts);
  for (const item of answer.items) list.append(row(item));
  made.append(list);
  if (!answer.total) {
    const none = make("p", "none", `${t("Nothing in this queue.")} `);
    if (wanted.queue !== "all") none.append(link(t("Show all items"), "#queue=all"));
    made.append(none);
  }
  shown = answer.items.length;
  const more = button(t("Show more"), () => attempt(async () => {
    const next = await read("queue", { ...wanted, start: shown });
    for (const item of next.items) list.append(row(item));
    shown += next.items.length;
    more.hidden = shown >= next.total;
  }));
  more.hidden = shown >= answer.total;
  made.append(more);
  main.replaceChildren(made);
  document.title = "wildtool review";
}

// ---- rules that run over new items meanwhile
let checking = false;
async function watchChecks() {
  clearTimeout(watchChecks.timer);
  const found = await read("checks").catch(() => ({})), line = element("checks"), was = checking;
  checking = Boolean(found.running);
  line.hidden = !checking && !found.problem;
  line.textContent = found.problem ? t("The rules stopped: {0}", found.problem) : t("The rules run: {0} of {1} items are checked.", found.checked, found.total);
  if (checking) watchChecks.timer = setTimeout(watchChecks, 2000);
  if (checking || was) await attempt(refreshRows);
  if (checking) review.queues.unchecked = found.total - found.checked;
  else if (was) await context.changed();
  for (const tab of main.querySelectorAll(".tab")) tab.querySelector("small").textContent = String(review.queues[tab.dataset.queue]);
}
// Rows that were not checked when they were shown, as they are now.
async function refreshRows() {
  if (!main.querySelector(".row.unchecked")) return;
  const answer = await read("queue", asked()), now = new Map(answer.items.map((item) => [item.id, item]));
  for (const old of main.querySelectorAll(".row.unchecked")) {
    const item = now.get(old.dataset.id);
    if (!item || !item.warnings) continue;
    const made = row(item), focused = old.contains(document.activeElement);
    old.replaceWith(made);
    if (focused) made.querySelector(".open").focus();
  }
}

// ---- what the address names
const context = {
  get review() { return review; },
  attempt, say, addressOf, neighbours, decided: (id) => attempt(() => decided(id)),
  dialog: startDialog, openDialog: () => dialog.showModal(), closeDialog: () => dialog.close(),
  changed: () => attempt(async () => { review = await read("review"); }),
};
// After a decision: the next item that this person can decide on, in the order of the queue.
async function decided(id) {
  if (staying()) return;
  const left = new Set((await read("queue", { ...asked(), undecided: "1" })).ids), at = order.indexOf(id);
  const next = [...order.slice(at + 1), ...order.slice(0, at + 1)].find((one) => one !== id && left.has(one));
  if (next && query().get("item") === id) go(next);
}
async function turn() {
  const found = query(), page = found.has("figures") ? "figures" : "queue", item = items.current(), mine = (turns += 1);
  if (!review) return;
  if (item && found.get("item") !== item.id) {
    const free = await items.leave();
    if (mine !== turns) return;
    if (!free) { history.replaceState(null, "", main.dataset.shown); return; }
  }
  if (dialog.open) dialog.close();
  for (const one of document.querySelectorAll("[data-page]")) {
    if (one.dataset.page === page) one.setAttribute("aria-current", "page"); else one.removeAttribute("aria-current");
  }
  await attempt(async () => {
    if (found.has("item")) {
      if (!order.length) order = (await read("queue", asked())).ids;
      await items.show(main, found.get("item"), context);
      lookAhead();
    } else {
      review = await read("review");
      if (page === "figures") await figures.show(main, context);
      else await showQueue();
    }
  });
  main.dataset.shown = location.hash;
}
// Judging recorded answers to an item for the first time takes a moment: the next one is asked for while this one is read.
function lookAhead() {
  clearTimeout(lookAhead.timer);
  const item = items.current(), next = item && item.runs && neighbours(item.id).next;
  if (next) lookAhead.timer = setTimeout(() => read("item", { id: next }).catch(() => {}), 300);
}
async function start() {
  showLanguage();
  const session = await attempt(() => read("sign-in"));
  if (session && !session.who) signIn();
  const answer = session && session.who ? await attempt(() => read("review")) : null;
  if (!answer) return;
  review = answer;
  begin(main, context, null);
  const who = element("who");
  who.replaceChildren(bdi(review.who), review.role === review.who ? "" : make("small", "", ` ${tell(review.role)}`));
  if (review.signed_in) {
    who.append(button(t("Sign out"), async () => { await attempt(() => write("sign-out", {})); review = null; order = []; location.hash = ""; signIn(); }));
  }
  if (!location.hash) history.replaceState(null, "", `#queue=${review.queues.mine ? "mine" : "all"}`);
  await turn();
  watchChecks();
}

// ---- the keyboard
function step(by) {
  const rows = main.querySelector(".rows") ? [...main.querySelectorAll(".rows .open")] : items.parts();
  if (!rows.length) return;
  const at = rows.findIndex((one) => one === document.activeElement || one.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
let warned = -1;
function nextFinding() {
  const found = (items.current() && items.current().findings) || [];
  if (!found.length) return;
  warned = (warned + 1) % found.length;
  items.jump(found[warned].field);
}
const inItem = () => query().has("item");
const go = (id) => { if (id) location.hash = addressOf(id); };
const ACTIONS = {
  "?": () => help(KEYS),
  q: () => setQuery({ figures: "" }),
  f: () => { location.hash = "figures="; },
  "/": () => { const find = element("find"); if (find) find.focus(); },
  j: () => step(1),
  k: () => step(-1),
  n: () => inItem() && go(neighbours(items.current().id).next),
  p: () => inItem() && go(neighbours(items.current().id).previous),
  e: () => { const part = document.activeElement.closest(".part"); if (part && part.openEditor) part.openEditor(); },
  w: () => inItem() && nextFinding(),
  a: () => inItem() && items.press("approve"),
  r: () => inItem() && items.press("reject"),
  d: () => inItem() && items.press("discuss"),
  s: () => inItem() && items.press("recheck"),
  u: () => inItem() && items.undo(),
  m: () => { const remark = element("remark"); if (remark) remark.focus(); },
  h: () => { const past = element("history"); if (past) { past.open = !past.open; past.scrollIntoView(); } },
};
onKeys((event) => {
  if (event.key === "Enter" && event.target.matches(".part") && event.target.openEditor) return () => event.target.openEditor();
  return Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : null;
});
onSignedOut(signIn);
element("keys").addEventListener("click", () => help(KEYS));
element("language").addEventListener("click", () => { switchLanguage(); start(); });
addEventListener("hashchange", turn);
addEventListener("beforeunload", (event) => { if (items.isUnsaved()) event.preventDefault(); });
start();
