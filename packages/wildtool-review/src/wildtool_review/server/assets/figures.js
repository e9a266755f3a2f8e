// The page of figures: quality by round beside the published one, the stop rule, agreement; rounds for the owner.
import { read, write } from "./api.js";
import { draw } from "./graph.js";
import { bdi, button, labelled, make, t, tell } from "./words.js";

const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;

export function roundChart(rounds, published) {
  const WIDTH = 560, HEIGHT = 240, LEFT = 44, TOP = 12, BOTTOM = 30, RIGHT = 12;
  const count = Math.max(rounds.length, published.length), inner = WIDTH - LEFT - RIGHT;
  const x = (k) => LEFT + inner * (k + 0.5) / count, y = (v) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - v);
  const ours = rounds.map((one, k) => [k, one]).filter(([, one]) => one.rate !== null);
  const words = ours.map(([, one]) => `${t("Round {0}", one.number)}: ${percent(one.rate)}`).join(", ");
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "rounds", role: "img", "aria-label": `${t("Quality by round")}. ${words}` });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      draw("text", { class: "axis", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, `${100 * value} %`));
  }
  const path = (points) => points.map(([px, py], k) => `${k ? "L" : "M"}${px} ${py}`).join(" ");
  svg.append(draw("path", { class: "published", d: path(published.map((v, k) => [x(k) - 7, y(v)])) }));
  published.forEach((v, k) => {
    svg.append(draw("circle", { class: "published", cx: x(k) - 7, cy: y(v), r: 3.5 }, draw("title", {}, `${t("published")}: ${percent(v, 0)}`)));
  });
  if (ours.length > 1) svg.append(draw("path", { class: "ours", d: path(ours.map(([k, one]) => [x(k) + 7, y(one.rate)])) }));
  for (const [k, one] of ours) {
    const label = `${t("Round {0}", one.number)}: ${percent(one.rate)} (${percent(one.low)} – ${percent(one.high)})`;
    svg.append(draw("line", { class: "interval", x1: x(k) + 7, x2: x(k) + 7, y1: y(one.low), y2: y(one.high) }),
      draw("circle", { class: "ours", cx: x(k) + 7, cy: y(one.rate), r: 5, "data-round": one.number, "data-rate": one.rate }, draw("title", {}, label)));
  }
  for (let k = 0; k < count; k += 1) svg.append(draw("text", { class: "axis", x: x(k), y: HEIGHT - 10, "text-anchor": "middle" }, String(k + 1)));
  return svg;
}

export function metricTable(group, rows) {
  const scroll = make("div", "scroll"), table = make("table", "plain"), head = make("tr"), body = make("tbody");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", t(group));
  for (const name of ["figure", "value", "95 % interval", "counts"]) {
    const cell = make("th", "", t(name));
    cell.scope = "col";
    head.append(cell);
  }
  for (const row of rows) {
    const tr = make("tr"), name = make("th", "", tell(row.name));
    name.scope = "row";
    tr.dataset.metric = row.name;
    const shown = row.value === null ? "" : row.kind === "mean" ? row.value.toFixed(3) : percent(row.value);
    const whole = Number.isInteger(row.numerator) && row.kind !== "mean";
    tr.append(name, make("td", "value", shown), make("td", "", row.low === null || row.low === undefined ? "" : `${percent(row.low)} – ${percent(row.high)}`),
      make("td", "", whole ? `${row.numerator}/${row.denominator}` : `n = ${row.denominator}`));
    body.append(tr);
  }
  const top = make("thead");
  top.append(head);
  table.append(top, body);
  scroll.append(table);
  return scroll;
}

function stopRule(stop, rounds, zero, reviewers) {
  const made = make("section", "stop"), list = make("ul");
  made.append(make("h2", "", t("When to stop")), make("p", stop.met ? "good" : "", stop.met ? t("The review may stop.") : t("Not yet: the review goes on.")));
  made.dataset.met = String(stop.met);
  const check = (good, text) => list.append(make("li", good ? "good" : "", `${good ? "✓" : "○"} ${text}`));
  check(stop.covered === stop.total, t("{0} of {1} items were reviewed", stop.covered, stop.total));
  check(stop.open_conflicts === 0, t("open conflicts: {0}", stop.open_conflicts));
  if (stop.asks_round) check(stop.last_errors === 0, stop.last_errors === null ? t(rounds.length ? "the last round has not ended" : "no round yet") : t("errors in the last round: {0}", stop.last_errors));
  made.append(list);
  if (reviewers === 1) made.append(make("p", "muted reviewers", t("One reviewer per item is enough, as the set says.")));
  if (zero !== null && stop.asks_round) made.append(make("p", "muted", t("Zero errors in one round still allow a true rate of {0} %.", (100 * zero).toFixed(1))));
  return made;
}

function roundForm(figures, refill) {
  const form = make("form", "tools roundform"), share = make("input"), seed = make("input"), boxes = [];
  share.type = "number";
  share.min = "0.01"; share.max = "1"; share.step = "0.01"; share.value = "0.2";
  seed.value = "1";
  seed.size = 6;
  const people = make("fieldset");
  people.append(make("legend", "", t("people")));
  for (const name of figures.people) {
    const box = make("input");
    box.type = "checkbox";
    box.value = name;
    boxes.push(box);
    const label = make("label", "tick");
    label.append(box, bdi(name));
    people.append(label);
  }
  const send = make("button", "plain", t("Open"));
  send.type = "submit";
  form.append(people, labelled(t("share"), share), labelled(t("seed"), seed), send);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    refill(() => write("open-round", { people: boxes.filter((box) => box.checked).map((box) => box.value), share: Number(share.value), seed: seed.value }));
  });
  return form;
}

export async function show(main, context) {
  const figures = await read("figures");
  const refill = (action) => context.attempt(async () => { await action(); await show(main, context); });
  const made = make("article", "figures");
  made.append(make("h1", "", t("Figures")));
  const figure = make("figure"), caption = make("figcaption");
  caption.append(make("span", "key ours", t("this review")), " ", make("span", "key published", t("published")));
  figure.append(roundChart(figures.rounds, figures.published), caption);
  made.append(make("h2", "", t("Quality by round")), figure, stopRule(figures.stop, figures.rounds, figures.zero_of, context.review.reviewers));
  const groups = new Map();
  for (const row of figures.metrics) groups.set(row.group, [...(groups.get(row.group) || []), row]);
  for (const [group, rows] of groups) {
    if (group === "stop rule") continue;
    const named = group === "quality by round" ? rows.map((row) => ({ ...row, name: t("Round {0}", row.name) })) : rows;
    made.append(make("h2", "", t(group)), metricTable(group, named));
  }
  if (context.review.role === "owner") {
    made.append(make("h2", "", t("Open a round")), roundForm(figures, refill));
    for (const one of figures.rounds) {
      if (!one.closed && one.ended === one.sampled) made.append(button(t("Close round {0}", one.number), () => refill(() => write("close-round", { round: one.number }))));
    }
  }
  main.replaceChildren(made);
}
