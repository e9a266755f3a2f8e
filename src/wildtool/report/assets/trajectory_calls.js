// What was sent and what came at each step of a unit: numbers, and the texts as recorded, to read and to copy. Data:
// `trajectory_calls.py`.
"use strict";
wildtool.calls = (() => {
  const { make, long, pretty, visible } = wildtool.texts;
  const KEY = "$API_KEY";

  async function copy(text) {
    // Pages of other machines without encryption have no clipboard of their own.
    if (navigator.clipboard) { try { await navigator.clipboard.writeText(text); return true; } catch { /* not allowed */ } }
    const area = make("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
  // A button that copies what `text` gives, or a promise of it.
  function copier(label, text) {
    const button = make("button", "plain", label);
    button.type = "button";
    button.addEventListener("click", async () => {
      try { button.textContent = await copy(await text()) ? "Copied" : "The browser did not allow it"; } catch (error) { button.textContent = error.message; }
      setTimeout(() => { button.textContent = label; }, 2000);
    });
    return button;
  }

  const number = (value) => value.toLocaleString("en");
  // Tokens, time and attempts of a step in words; empty where nothing is known of them.
  function facts([prompt, completion, seconds, attempts, ending, changes]) {
    return [
      prompt === null ? "" : `${number(prompt)} + ${number(completion)} tokens`,
      seconds ? `${seconds.toFixed(seconds < 10 ? 2 : 0)} s` : "",
      attempts > 1 ? `${attempts} attempts` : "1 attempt",
      ending ? `ended by ${ending}` : "",
      changes.length ? `on the way: ${changes.join(", ")}` : "",
    ].filter(Boolean).join(" · ");
  }

  // The request that ends with a link of a chain, as texts of JSON; links are looked up in several places.
  function request(name, places) {
    const messages = [];
    for (let at = name; ;) {
      const link = places.map((links) => links[at]).find(Boolean);
      if (!link) throw new Error("A part of the request is missing in the record");
      const [parent, text] = link;
      if (parent === null) return { tools: text, messages: messages.reverse() };
      messages.push(text);
      at = parent;
    }
  }
  const sent = ({ tools, messages }) => [`"messages":[${messages.join(",")}]`, ...(tools === "[]" ? [] : [`"tools":${tools}`])].join(",");
  const asJson = (asked) => pretty(`{${sent(asked)}}`);

  // A command that asks the same again; the key is a variable of the shell. A text of JSON has one line, so that the mark
  // of the end cannot occur in it.
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  function asCurl(asked, { url, key_header: header, fields, seed }, repeat) {
    const rest = fields.slice(1, -1), seeded = seed === null ? [] : [`"seed":${seed + repeat}`];
    const body = `{${[...(rest ? [rest] : []), ...seeded, sent(asked)].join(",")}}`;
    return `curl ${quoted(url)} -H 'Content-Type: application/json' -H "${header}${KEY}" --data-binary @- <<'END'\n${body}\nEND\n`;
  }
  // Why no command can be made of a step; empty where one can. Other protocols than the recorded settings say are seen by
  // the form of the answer.
  function problemOf(template, reply, isRaw) {
    if (!template) return "the record does not say how its model was called";
    if (template.problem) return template.problem;
    return isRaw && !(/"choices"/.test(reply) && /"(message|delta)"/.test(reply)) ? "the answer is none of chat completions" : "";
  }

  // What was sent and what came at a step. Args: `texts` gives a promise of `{ ends, places }` for the unit.
  function step(numbers, at, { texts, template, repeat }) {
    const node = make("div", "call-texts");
    node.append(make("p", "note", facts(numbers)));
    if (numbers[6]) node.append(make("p", "note", make("b", "", "The call failed: "), long(numbers[6], "span")));
    const got = async () => {
      const { ends, places } = await texts(), end = ends[at];
      if (!end) throw new Error("The record holds nothing of this step");
      return { asked: end[0] === null ? null : request(end[0], places), reply: end[1], isRaw: end[2] };
    };
    const details = make("details", "", make("summary", "", "Request and reply as recorded"));
    details.addEventListener("toggle", async () => {
      if (!details.open || details.childElementCount > 1) return;
      const place = make("div");
      details.append(place);
      try {
        const found = await got(), problem = found.asked ? problemOf(template, found.reply, found.isRaw) : "";
        const buttons = make("div", "tools");
        if (found.asked) buttons.append(copier("Copy request as JSON", () => asJson(found.asked)));
        if (found.asked && !problem) buttons.append(copier("Copy request as curl", () => asCurl(found.asked, template, repeat)));
        if (found.reply) buttons.append(copier("Copy reply", () => found.reply));
        place.append(buttons);
        if (problem) place.append(make("p", "muted", `No curl command: ${problem}.`));
        else if (found.asked && numbers[5].length) place.append(make("p", "muted", "The request is shown as it was before what was changed on the way."));
        place.append(make("b", "", "Request"), found.asked ? long(asJson(found.asked), "pre", "said") : make("p", "muted", "Nobody recorded it: only replies were imported."));
        place.append(make("b", "", found.isRaw ? "Reply, as it came" : "Reply, as it was read"), found.reply ? long(pretty(found.reply), "pre", "said") : make("p", "muted", "None came."));
      } catch (error) { place.append(make("p", "warning", visible(error.message))); }
    });
    node.append(details);
    return node;
  }

  // Steps, tokens and time of a unit in words.
  function total(calls) {
    const known = calls.filter(([prompt]) => prompt !== null), sum = (place) => known.reduce((all, one) => all + one[place], 0);
    const seconds = calls.reduce((all, one) => all + one[2], 0), retried = calls.reduce((all, one) => all + Math.max(0, one[3] - 1), 0);
    return [
      `${calls.length} ${calls.length === 1 ? "step" : "steps"}`,
      known.length ? `${number(sum(0))} + ${number(sum(1))} tokens${known.length < calls.length ? ` in the ${known.length} that report them` : ""}` : "tokens not reported",
      seconds ? `${seconds.toFixed(seconds < 10 ? 2 : 0)} s` : "",
      retried ? `${retried} ${retried === 1 ? "attempt" : "attempts"} repeated` : "",
    ].filter(Boolean).join(" · ");
  }

  return { step, total, copier };
})();
