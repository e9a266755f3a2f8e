// Parts that are edited in place. A text that was typed is a draft until it is saved, or discarded on purpose.
import { read } from "./api.js";
import { context, draft, drafts, forget, item, keep, main, save } from "./saves.js";
import { button, choice, make, t, tell, visible } from "./words.js";

const editors = new Map();
const keyOf = (field) => `part ${field}`;
const living = () => [...editors.values()].filter((one) => one.node.isConnected);
export const changedEditors = () => living().filter((one) => one.changed());
export const slot = (field) => main.querySelector(`[data-field="${CSS.escape(field)}"]`);
// Opens what a node is folded away in.
export function unfold(node) {
  for (let at = node.parentElement; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}
export const findingsOf = (field) => (item.findings || []).filter((one) => one.field === field);
export const findingText = (one) => `${one.severity === "error" ? "✗" : "!"} ${tell(one.rule)}: ${tell(one.message)}`;

// Saves what was typed and not saved; whether all of it is saved.
export async function saveTyped() {
  for (const one of changedEditors()) if (!(await one.submit())) return false;
  return true;
}
export function discardTyped() {
  for (const one of changedEditors()) { forget(item.id, keyOf(one.field)); one.close(); }
}

export function editable(part, shown, options = {}) {
  const node = make("div", `part ${options.classes || ""}`);
  node.dataset.field = part.field;
  node.tabIndex = 0;
  const body = make("div", "body");
  body.append(shown);
  node.append(body);
  const found = findingsOf(part.field);
  if (found.length) node.classList.add("found");
  for (const one of found) {
    const said = make("p", `finding ${one.severity}`, findingText(one));
    said.dir = "auto";
    node.append(said);
  }
  if (item.problem) return node;
  node.openEditor = (text) => openEditor(node, part, text, options);
  const pen = button("✎", () => node.openEditor(), "plain pen");
  pen.setAttribute("aria-label", visible(`${t("Edit")} ${options.label || part.name}`));
  pen.tabIndex = -1;
  node.append(pen);
  return node;
}

function openEditor(node, part, text, options) {
  for (const one of living()) if (one.node !== node && !one.changed()) one.close();
  const open = editors.get(part.field);
  if (open && open.node === node && node.contains(open.control)) { open.control.focus(); return; }
  const id = item.id, key = keyOf(part.field), isText = part.text !== undefined, before = isText ? part.text : part.json ?? "";
  const values = options.values && !options.values.includes(before) ? [before, ...options.values] : options.values;
  const typed = text ?? draft(id, key)?.text, control = values ? choice(values, typed ?? before, options.names) : make("textarea");
  if (!values) {
    control.value = typed ?? before;
    control.dir = "auto";
    control.rows = Math.min(20, Math.max(2, control.value.split("\n").length + Math.floor(control.value.length / 90)));
    control.spellcheck = isText;
    if (!isText) control.classList.add("code");
  }
  control.dataset.draft = key;
  control.setAttribute("aria-label", visible(options.label || part.name));
  const form = make("form", "editor"), problem = make("p", "finding error"), row = make("div", "tools");
  problem.hidden = true;
  const send = make("button", "plain strong", t("Save"));
  send.type = "submit";
  const close = () => { form.remove(); node.querySelector(".body").hidden = false; editors.delete(part.field); };
  const leave = () => { if (options.inDialog) context.closeDialog(); else node.focus(); };
  const cancel = () => {
    const left = control.value;
    forget(id, key);
    close();
    leave();
    if (left !== before) context.say(t("Discarded."), [t("Undo"), () => { keep(id, key, left, before); reopen(); }]);
  };
  row.append(send, button(t("Cancel"), cancel), make("small", "", "Ctrl+Enter, Esc"));
  if (options.removable) row.append(button(t("Remove"), () => save("edit", { field: part.field, remove: true })));
  form.append(control, problem, row);
  const was = draft(id, key);
  if (was && was.before !== before) form.prepend(make("p", "finding warning", t("This was changed after you typed it. It is now: {0}", before.slice(0, 400))));
  const check = () => {
    if (isText) return true;
    try { JSON.parse(control.value); problem.hidden = true; return true; } catch (error) {
      problem.textContent = t("Not JSON: {0}", error.message);
      problem.hidden = false;
      return false;
    }
  };
  const submit = async () => {
    if (!check()) { control.focus(); return false; }
    if (control.value === before) { forget(id, key); close(); leave(); return true; }
    const sent = control.value, saved = await save("edit", { field: part.field, [isText ? "text" : "json"]: sent }, { focus: part.field, kept: { [key]: sent } });
    if (saved && options.inDialog) context.closeDialog();
    return saved;
  };
  control.addEventListener("input", () => {
    check();
    if (control.value === before) forget(id, key); else keep(id, key, control.value, was ? was.before : before);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  form.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); cancel(); }
  });
  node.querySelector(".body").hidden = true;
  node.querySelector(".body").after(form);
  editors.set(part.field, { node, control, field: part.field, close, submit, changed: () => control.value !== before });
  control.focus();
}

// Opens the drafts of the item again where they were typed; the others are shown above it.
export function reopen() {
  for (const part of drafts(item.id).filter((one) => one.startsWith("part "))) {
    const node = slot(part.slice(5));
    if (node && node.openEditor && !node.querySelector(".editor")) { unfold(node); node.openEditor(); }
  }
  listKept();
}
// What opens the drafts that are typed in a dialog, by draft; those of whole parts need none.
export const openers = new Map();
function opener(part) {
  if (item.problem) return null;
  return openers.get(part) || (part.startsWith("part ") ? () => editWhole(part.slice(5), part.slice(5)) : null);
}
function listKept() {
  const kept = main.querySelector("#kept"), open = new Set([...document.querySelectorAll("[data-draft]")].map((one) => one.dataset.draft));
  if (!kept) return;
  const left = drafts(item.id).filter((part) => !open.has(part) && part !== "reasons");
  kept.hidden = !left.length;
  kept.replaceChildren(make("p", "", t("Typed and not saved:")), ...left.map((part) => {
    const row = make("div", "change"), discard = button(t("Discard"), () => { forget(item.id, part); reopen(); });
    const open = opener(part);
    row.append(make("code", "muted", part.slice(part.indexOf(" ") + 1)), make("div", "said", draft(item.id, part).text), open ? button(t("Edit"), open) : "", discard);
    return row;
  }));
}

// A reload in the middle of typing: the field that was typed in is open again, with the caret where it was.
const TYPING = "wildtool-review-typing";
const session = (action) => { try { return action(sessionStorage); } catch { return null; } };
addEventListener("pagehide", () => {
  const control = document.activeElement, part = item && control && control.dataset.draft;
  session((store) => part ? store.setItem(TYPING, JSON.stringify([item.id, part, control.selectionStart ?? null, control.selectionEnd ?? null])) : store.removeItem(TYPING));
});
export async function resume() {
  const [id, part, from, to] = JSON.parse(session((store) => store.getItem(TYPING)) || "[]");
  session((store) => store.removeItem(TYPING));
  if (id !== item.id || !draft(id, part)) return;
  const find = () => document.querySelector(`[data-draft="${CSS.escape(part)}"]`), open = opener(part);
  if (!find() && open) await open();
  const control = find();
  if (!control) return;
  control.focus();
  if (from !== null) control.setSelectionRange(from, to);
}

// JSON of a part that is too large to be in the item: fetched, then edited in a dialog.
export async function editWhole(field, label) {
  const part = await context.attempt(() => read("part", { id: item.id, field }));
  if (!part) return;
  const dialog = context.dialog(label), node = editable({ field, name: label, ...part }, make("span"), { label, inDialog: true });
  dialog.append(node);
  context.openDialog();
  node.openEditor();
  listKept();
}
