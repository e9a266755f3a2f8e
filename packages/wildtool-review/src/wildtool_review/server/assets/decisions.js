// Deciding about an item, alone or as an adjudicator.
import { changedEditors, saveTyped } from "./editor.js";
import { context, draft, forget, item, keep, keeping, save, stay, staying, withdraw } from "./saves.js";
import { bdi, beside, button, make, said, t } from "./words.js";

const reasonNames = (codes) => codes.map((code) => t(context.review.reasons[code] || code)).join(t(", "));
export { reasonNames };

function reasonBoxes() {
  const made = make("fieldset", "reasons"), boxes = [], id = item.id, ticked = (draft(id, "reasons")?.text || "").split(" ");
  const chosen = () => boxes.filter((one) => one.checked).map((one) => one.value);
  made.append(make("legend", "", t("Reasons")));
  for (const [code, words] of Object.entries(context.review.reasons)) {
    const label = make("label", "tick"), tick = make("input");
    tick.type = "checkbox";
    tick.value = code;
    tick.checked = ticked.includes(code);
    tick.addEventListener("change", () => { if (chosen().length) keep(id, "reasons", chosen().join(" ")); else forget(id, "reasons"); });
    boxes.push(tick);
    label.append(tick, make("span", "", t(words)));
    made.append(label);
  }
  made.hidden = !chosen().length;
  return { made, chosen, first: boxes[0] };
}
function remark() {
  const note = make("input");
  note.placeholder = t("Remark");
  note.setAttribute("aria-label", t("Remark"));
  note.dir = "auto";
  return keeping(note, "remark");
}
function needsReason(choice, reasons) {
  if (choice !== "reject" || reasons.chosen().length) return false;
  reasons.made.hidden = false;
  context.say(t("Choose at least one reason."));
  reasons.first.focus();
  return true;
}
const typedIn = (body) => ({ remark: body.note, reasons: body.reasons.join(" ") });
const worries = (one) => (one.findings || []).length + one.stale.length;

// Whether the next item comes after a decision.
function goesOn() {
  const label = make("label", "tick"), tick = make("input");
  tick.type = "checkbox";
  tick.checked = !staying();
  tick.addEventListener("change", () => stay(!tick.checked));
  label.append(tick, make("span", "", t("Go to the next item after a decision")));
  return label;
}

export function bar() {
  const made = make("div", "bar");
  made.id = "bar";
  if (item.conflict) return made;
  if (item.problem) {
    made.append(make("p", "muted", t("This item {0}. You can read it.", t(item.problem))));
    return made;
  }
  const reasons = reasonBoxes(), note = remark();
  note.id = "remark";
  // What was typed is saved first, and decided on only if that brings nothing new to look at.
  const decide = async (choice) => {
    if (needsReason(choice, reasons)) return;
    const seen = worries(item), body = { choice, reasons: reasons.chosen(), note: note.value };
    if (changedEditors().length && !(await saveTyped())) return;
    save("decide", body, { fits: (known) => worries(known) <= seen, kept: typedIn(body) });
  };
  const row = make("div", "tools"), act = (name, key, choice, classes) => {
    const made = button(t(name), () => decide(choice), `plain ${classes}`);
    made.dataset.decide = choice;
    made.append(make("kbd", "", key));
    return made;
  };
  const why = button(t("Reasons"), () => { reasons.made.hidden = !reasons.made.hidden; });
  row.append(act("Approve", "a", "approve", "yes"), act("Reject", "r", "reject", "no"), act("Discuss", "d", "discuss", ""), why, note,
    button(t("Add a remark"), () => { if (note.value) save("remark", { note: note.value }, { fits: () => true, kept: { remark: note.value } }); }));
  row.append(goesOn());
  made.append(reasons.made, row);
  if (item.withdrawable) row.append(button(t("Take back the decision"), () => withdraw(item.id)));
  if (item.decided) made.prepend(make("p", "decided", t("You decided: {0}", `${t(item.decided.choice)}${item.decided.reasons.length ? ` (${reasonNames(item.decided.reasons)})` : ""}`)));
  return made;
}

export function conflictPanel() {
  const clash = item.conflict;
  if (!clash) return "";
  const made = make("section", "conflict notice"), boxes = [], reasons = reasonBoxes(), note = remark();
  made.append(make("h2", "", `${t("Conflict")}: ${clash.reasons.map((one) => t(one)).join(t(", "))}`));
  const people = make("ul");
  for (const one of item.review ? item.review.decisions : []) {
    const line = make("li");
    line.append(bdi(one.who, "name"), `: ${t(one.choice)}${one.reasons.length ? ` (${reasonNames(one.reasons)})` : ""}`, one.note ? said(one.note, "p", "note") : "");
    people.append(line);
  }
  made.append(people);
  if (clash.changes.length) made.append(make("p", "muted", t("Select the edits that the item takes.")));
  else made.append(make("p", "muted", t("nobody edited")));
  clash.changes.forEach((one, index) => {
    const row = make("div", "change"), head = make("label", "tick"), tick = make("input");
    tick.type = "checkbox";
    tick.checked = one.together;
    tick.value = String(index);
    // Of edits that exclude each other only one is taken.
    tick.addEventListener("change", () => { if (tick.checked) for (const other of one.excludes) boxes[other].checked = false; });
    boxes.push(tick);
    head.append(tick, bdi(one.who.join(", "), "name"), " ", make("code", "muted", one.field), one.together && !one.excludes.length ? "" : make("span", "chip warn", t("excludes another edit")));
    const sides = make("div", "sides"), [left, right] = beside(one.before, one.after);
    left.prepend(make("small", "label", t("before")));
    right.prepend(make("small", "label", t("after")));
    sides.append(left, right);
    row.append(head, sides);
    made.append(row);
  });
  const end = (choice) => {
    if (needsReason(choice, reasons)) return;
    const take = choice === "approve" ? boxes.filter((one) => one.checked).map((one) => Number(one.value)) : [];
    const body = { choice, reasons: choice === "reject" ? reasons.chosen() : [], note: note.value };
    save("resolve", { ...body, take, proposal: clash.proposal, seen: clash.seen }, { kept: typedIn(body) });
  };
  const row = make("div", "tools"), yes = button(t("Approve with the selected edits"), () => end("approve"), "plain yes"), no = button(t("Reject the item"), () => end("reject"), "plain no");
  yes.dataset.decide = "approve";
  no.dataset.decide = "reject";
  row.append(yes, no, note);
  made.append(reasons.made, row);
  return made;
}
