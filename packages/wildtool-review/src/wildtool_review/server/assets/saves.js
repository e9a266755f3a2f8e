// The item that is shown, what was typed and not saved of it, and one queue of all that is saved.
import { read, write } from "./api.js";
import { beside, button, make, t } from "./words.js";

export let item = null, context = null, main = null;
let draw = null;
const latest = new Map();

// Args: redraw: shows the item again, and puts the focus on a part.
export function begin(where, surroundings, redraw) { [main, context, draw] = [where, surroundings, redraw || draw]; }
export function show(answer, focus) { item = answer; latest.set(answer.id, answer); draw(focus); }

// ---- drafts: kept in the browser for each person, item and part, until they are saved or discarded
const memory = new Map();
const stored = (action) => { try { return action(localStorage); } catch { return null; } };
const PREFIX = "wildtool-draft ";
const place = (id, part) => PREFIX + JSON.stringify([context.review.key, context.review.who, id, part]);

export function keep(id, part, text, before = "") {
  const key = place(id, part), value = JSON.stringify({ text, before });
  memory.set(key, value);
  stored((store) => store.setItem(key, value));
}
export function forget(id, part) {
  memory.delete(place(id, part));
  stored((store) => store.removeItem(place(id, part)));
}
export function draft(id, part) {
  const found = memory.get(place(id, part)) ?? stored((store) => store.getItem(place(id, part)));
  try { return found ? JSON.parse(found) : null; } catch { return null; }
}
// Whether an item stays after a decision; kept in the browser.
let stays = null;
export const staying = () => stays ?? Boolean(stored((store) => store.getItem("wildtool-review-stays")));
export function stay(wanted) {
  stays = wanted;
  stored((store) => { if (wanted) store.setItem("wildtool-review-stays", "1"); else store.removeItem("wildtool-review-stays"); });
}
// The parts of an item that have a draft.
export function drafts(id) {
  const keys = new Set([...memory.keys(), ...(stored((store) => Object.keys(store)) || [])]), start = place(id, "").slice(0, -3);
  return [...keys].filter((key) => key.startsWith(start)).map((key) => JSON.parse(key.slice(PREFIX.length))[3]);
}
// A control whose text is a draft until it is saved.
export function keeping(control, part) {
  const id = item.id;
  control.dataset.draft = part;
  control.value = draft(id, part)?.text ?? control.value;
  control.addEventListener("input", () => { if (control.value) keep(id, part, control.value); else forget(id, part); });
  return control;
}

// ---- the queue: each save names the version that the one before it left, so that nobody overtakes themselves
let last = Promise.resolve(), waiting = 0, epoch = 0;
const undone = new Map();
export const isSaving = () => waiting > 0;
// The item of the last decision that can be taken back, while nothing was saved after it.
let decided = null;
export const canUndo = () => decided !== null || (undone.get(item.id) || []).length > 0;
// What positions in an item mean: after a save that changes it, a click on what was shown before may mean something else.
const shape = (one) => JSON.stringify([one.tasks.map((task) => [task.actions, task.parts.map((part) => [part.field, part.kind, (part.accepted || []).length])]),
  one.proposals.map((proposal) => proposal.proposal), one.tools.length]);

// Args: body: what is sent beside item and version, or a function that gives it then; fits: whether it still means the same
// in the item as it is then; kept: the drafts that it saves; said: what is shown afterwards.
export function save(what, body, { focus, fits, kept, said } = {}) {
  const id = item.id, before = shape(item), mine = epoch;
  const asked = { what, body, focus, kept, said, id, fits: fits || ((known) => shape(known) === before) };
  waiting += 1;
  clearTimeout(save.timer);
  save.timer = setTimeout(() => { if (waiting) context.say(t("Saving …")); }, 400);
  const done = last.then(() => mine === epoch && send(asked)).then((saved) => { if (!saved && mine === epoch) epoch += 1; return saved; })
    .finally(() => { waiting -= 1; });
  last = done.catch(() => {});
  return done;
}
async function send(asked) {
  const { what, id, kept, said, focus } = asked, known = latest.get(id);
  const body = typeof asked.body === "function" ? asked.body(known) : asked.body;
  if (!body) return true;
  if (!asked.fits(known)) {
    context.say(what === "decide" ? t("Saved, with new findings. Look at them before you decide.") : t("Your save before this one changed what it is about. Look again, and repeat it."));
    return false;
  }
  const text = body.text ?? body.json;
  const answer = await context.attempt(() => write(what, { id, seen: known.seen, ...body }), (refusal) => {
    if (refusal.answer.despite) {
      context.say(refusal.message, [t("Approve anyway"), () => save(what, { ...body, despite: true }, { ...asked, fits: () => true })]);
      return true;
    }
    if (refusal.status !== 409) return false;
    overtaken(asked, text, refusal);
    return true;
  });
  if (!answer) return false;
  for (const [part, sent] of Object.entries(kept || {})) if (draft(id, part)?.text === sent) forget(id, part);
  decided = what === "decide" && answer.withdrawable ? id : null;
  if (what !== "restore" && answer.seen !== known.seen) undone.set(id, [...(undone.get(id) || []), known.seen]);
  took(answer, focus);
  const undoable = what === "decide" ? decided !== null : canUndo() && what !== "restore" && answer.seen !== known.seen;
  context.say(said || told(what, answer, body), undoable ? [t("Undo"), undo] : null);
  context.changed();
  if (what === "decide" && item.id === id) context.decided(id);
  return true;
}
function took(answer, focus) {
  latest.set(answer.id, answer);
  if (item && item.id === answer.id && main.querySelector("article.item")) show(answer, focus);
}
const DECISIONS = ["decide", "resolve", "recheck", "remark"];
function told(what, answer, body) {
  const found = (answer.findings || []).length;
  if (DECISIONS.includes(what)) return ["remark", "recheck"].includes(what) ? t("Saved.") : t("You decided: {0}", t(body.choice));
  return found ? t("Saved. {0} findings.", found) : t("Saved.");
}
// The item once everything that waits is saved.
export const reload = (id) => last.then(() => read("item", { id }));
// Takes back a decision and shows its item, wherever the person is.
export async function withdraw(id) {
  const answer = await context.attempt(() => write("withdraw", { id, seen: latest.get(id).seen }));
  decided = null;
  if (!answer) return;
  context.say(t("Undone."));
  context.changed();
  took(answer);
  if (item.id !== id) location.hash = context.addressOf(id);
}
export function undo() {
  if (decided !== null) return withdraw(decided);
  return save("restore", (known) => {
    const version = (undone.get(known.id) || []).pop();
    return version ? { version } : null;
  }, { fits: () => true, said: t("Undone.") });
}

// Somebody was faster: both versions side by side, and nothing is overwritten before the person decides.
function overtaken(asked, mine, refusal) {
  const answer = refusal.answer, now = answer.now.text ?? answer.now.json, { what, kept, focus } = asked;
  const drop = () => { for (const part of Object.keys(kept || {})) forget(asked.id, part); };
  latest.set(asked.id, answer.item);
  if (mine !== undefined && now === mine) {
    // The answer to an earlier try was lost on its way.
    drop();
    took(answer.item, focus);
    context.say(t("Saved."));
    return;
  }
  const dialog = context.dialog(t(answer.own ? "You saved this in another tab meanwhile" : "Somebody else saved this meanwhile"));
  if (mine === undefined || now === undefined) {
    dialog.append(make("p", "", refusal.message));
  } else {
    dialog.append(make("p", "", t(answer.own ? "Neither text is lost. What should the item have?" : "Nothing of theirs or yours is lost. What should the item have?")));
    const sides = make("div", "sides"), [left, right] = beside(now, mine);
    for (const [name, node] of [[answer.own ? "Saved in the other tab" : "Saved by someone else", left], [answer.own ? "Typed here" : "Yours", right]]) {
      const side = make("section");
      side.append(make("h3", "", t(name)), node);
      sides.append(side);
    }
    dialog.append(sides);
  }
  const row = make("div", "tools"), done = (action) => () => { context.closeDialog(); action(); };
  if (mine !== undefined) {
    row.append(button(t(answer.own ? "Save what was typed here" : "Save mine"), done(() => { took(answer.item); save(what, asked.body, { ...asked, fits: null }); })));
    if (what === "edit") row.append(button(t(answer.own ? "Edit it further" : "Edit mine further"), done(() => took(answer.item, focus))));
  }
  row.append(button(t(answer.own ? "Take what is saved" : "Take theirs"), done(() => { if (mine !== undefined) drop(); took(answer.item, focus); })));
  dialog.append(row);
  context.openDialog();
}
