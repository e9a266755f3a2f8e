// What the pages have around them: messages, one dialog, the keyboard.
import { Refusal } from "./api.js";
import { button, make, t } from "./words.js";

export const element = (id) => document.getElementById(id);
export const main = element("content"), dialog = element("dialog");
const status = element("status"), problem = element("problem");

// ---- messages
// Args: offer: the name of what can be done about it, and the action.
export function say(text, offer) {
  status.replaceChildren(text, ...(offer ? [" ", button(offer[0], () => { status.replaceChildren(); offer[1](); }, "linklike")] : []));
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { status.replaceChildren(); }, offer ? 12000 : 6000);
}
export function complain(text) { problem.textContent = text; problem.hidden = !text; if (text) problem.scrollIntoView({ block: "nearest" }); }
let signedOut = () => {};
// Args: action: what to do where nobody is signed in.
export function onSignedOut(action) { signedOut = action; }
// The result of an action; null after a refusal, which `handled` may take, and which is shown otherwise.
export async function attempt(action, handled = () => false) {
  try {
    complain("");
    return await action();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401) signedOut();
    else if (!handled(refusal)) complain(refusal.message);
    return null;
  }
}

// ---- dialogs
export function startDialog(title) {
  const body = make("div", "dialog"), head = make("div", "dialoghead"), close = button("×", () => dialog.close());
  close.setAttribute("aria-label", t("Close"));
  head.append(make("h2", "", title), close);
  body.append(head);
  dialog.replaceChildren(body);
  dialog.setAttribute("aria-label", title);
  return body;
}
// Args: keys: pairs of keys and what they do.
export function help(keys) {
  const body = startDialog(t("Keyboard")), list = make("dl", "keys");
  for (const [key, what] of keys) {
    const name = make("dt");
    for (const one of key.split(", ")) name.append(make("kbd", "", one), " ");
    list.append(name, make("dd", "", t(what)));
  }
  body.append(list);
  dialog.showModal();
}
// What was typed in a dialog is nothing to find later.
dialog.addEventListener("close", () => dialog.replaceChildren());

// ---- the keyboard
// Args: actionOf: gives the action of a key that is not typed into a text; null for none.
export function onKeys(actionOf) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || event.defaultPrevented) return;
    if (event.target.closest("textarea, select, input:not([type=checkbox])")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    action();
  });
}
