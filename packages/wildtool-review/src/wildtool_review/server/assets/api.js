// Asking the server. An answer that is no success is thrown as a `Refusal`.
import { t } from "./words.js";

export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.text ? t(answer.text, ...answer.values.map((value) => t(value))) : answer.problem || `HTTP ${status}`);
    this.status = status;
    this.answer = answer;
  }
}

async function asked(address, options) {
  let response;
  try {
    response = await fetch(address, { cache: "no-store", credentials: "same-origin", ...options });
  } catch {
    throw new Refusal(0, { problem: t("The server does not answer. Is `wildtool review` still running?") });
  }
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { answer = { problem: t(text.trim().slice(0, 300)) }; }
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

export const read = (what, query = {}) => asked(`api/${what}?${new URLSearchParams(query)}`, {});
export const write = (what, body) => asked(`api/${what}`, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});
