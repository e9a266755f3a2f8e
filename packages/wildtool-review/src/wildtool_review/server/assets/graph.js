// The dependency graph of a task: layers by depth; every edge can be toggled by mouse and keyboard.
import { choice, make, t, tell, visible } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 168, HEIGHT = 34, GAP_X = 22, GAP_Y = 44, TIGHT = 8, PER_LINE = 2, MOST = 60;

export function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const short = (text) => text.length > 18 ? `${text.slice(0, 10)}…${text.slice(-7)}` : text;

// The depth of a node is the longest way to it along dependencies that are written. Nodes of one depth stand together: in a
// line, or in several close ones, on one ground.
function places(graph) {
  const depth = graph.nodes.map(() => 0), drawn = graph.edges.filter((edge) => edge.written);
  for (let round = 0; round < graph.nodes.length; round += 1) {
    let moved = false;
    for (const { source, target } of drawn) {
      if (source in depth && target in depth && source !== target && depth[target] <= depth[source] && depth[source] < depth.length) {
        depth[target] = depth[source] + 1;
        moved = true;
      }
    }
    if (!moved) break;
  }
  const layers = [];
  depth.forEach((at, node) => { (layers[at] = layers[at] || []).push(node); });
  const full = PER_LINE * WIDTH + (PER_LINE - 1) * GAP_X, spots = [], grounds = [], shown = layers.filter(Boolean);
  let y = 0;
  shown.forEach((layer, at) => {
    const top = y;
    for (let k = 0; k < layer.length; k += PER_LINE) {
      const line = layer.slice(k, k + PER_LINE), own = line.length * WIDTH + (line.length - 1) * GAP_X;
      // Layers of one node step aside in turn, so that long edges pass beside them.
      const shift = layer.length === 1 && shown.length > 2 ? (at % 2 ? 30 : -30) : 0;
      line.forEach((node, x) => { spots[node] = [(full - own) / 2 + x * (WIDTH + GAP_X) + shift, y, at]; });
      y += HEIGHT + TIGHT;
    }
    y -= TIGHT;
    if (layer.length > PER_LINE) grounds.push([top, y - top]);
    y += GAP_Y;
  });
  return { spots, grounds, width: full, height: Math.max(HEIGHT, y - GAP_Y) };
}

function describe(edge, names) {
  const sure = edge.confidence === null ? "" : `, ${t("confidence")} ${Math.round(100 * edge.confidence)} %`;
  const state = edge.written ? t("written") : t("inferred, not written");
  return visible(`${edge.source} ${names[edge.source]} → ${edge.target} ${names[edge.target]}: ${state}${edge.set_kind || edge.kind ? `, ${t(edge.set_kind || edge.kind)}` : ""}${sure}${edge.evidence ? `. ${tell(edge.evidence)}` : ""}`);
}

// The graph as a picture. toggle(source, target) is called for an edge; null where nothing may change.
export function picture(graph, toggle) {
  if (!graph.nodes.length || graph.nodes.length > MOST) return null;
  const { spots, grounds, width, height } = places(graph);
  const svg = draw("svg", { viewBox: `-2 -4 ${width + 4} ${height + 8}`, class: "graph", role: "group", "aria-label": t("Dependency graph") });
  svg.style.maxWidth = `${width + 4}px`;
  for (const [y, tall] of grounds) svg.append(draw("rect", { class: "ground", x: -2, y: y - 4, width: width + 4, height: tall + 8, rx: 9 }));
  for (const edge of graph.edges) {
    if (!spots[edge.source] || !spots[edge.target] || edge.source === edge.target) continue;
    const [x1, y1] = [spots[edge.source][0] + WIDTH / 2, spots[edge.source][1] + HEIGHT];
    const [x2, y2] = [spots[edge.target][0] + WIDTH / 2, spots[edge.target][1]];
    const bend = Math.max(14, (y2 - y1) / 2);
    const line = `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 6}`;
    const group = draw("g", { class: `edge ${edge.written ? "written" : "inferred"}${edge.inferred ? "" : " unseen"}` },
      draw("title", {}, describe(edge, graph.nodes)),
      draw("path", { class: "reach", d: line }),
      draw("path", { class: "line", d: line }),
      draw("path", { class: "tip", d: `M${x2 - 4} ${y2 - 7} L${x2 + 4} ${y2 - 7} L${x2} ${y2 - 1} Z` }));
    if (toggle) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "switch");
      group.setAttribute("aria-checked", String(edge.written));
      group.setAttribute("aria-label", describe(edge, graph.nodes));
      group.dataset.edge = `${edge.source}-${edge.target}`;
      group.addEventListener("click", () => toggle(edge.source, edge.target));
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        toggle(edge.source, edge.target);
      });
    }
    svg.append(group);
  }
  graph.nodes.forEach((name, node) => {
    const [x, y, at] = spots[node];
    svg.append(draw("g", { class: "node", "data-depth": at }, draw("title", {}, visible(`${node} ${name}`)),
      draw("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 7 }),
      draw("text", { x: x + 10, y: y + 22 }, `${node} ${short(visible(name))}`)));
  });
  return svg;
}

// What each step needs, as buttons: any edge can be set here, also those that the picture does not have.
export function needs(graph, toggle) {
  const made = make("div", "needs");
  if (graph.nodes.length > MOST) return made;
  graph.nodes.forEach((name, target) => {
    if (target === 0) return;
    const row = make("div", "need");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", t("step {0} needs", target));
    row.append(make("span", "of", t("step {0} needs", target)));
    for (let source = 0; source < target; source += 1) {
      const edge = graph.edges.find((one) => one.source === source && one.target === target);
      const box = make("button", `plain number${edge && !edge.written ? " inferred" : ""}`, String(source));
      box.type = "button";
      box.disabled = !toggle;
      box.setAttribute("aria-pressed", String(Boolean(edge && edge.written)));
      box.title = edge ? describe(edge, graph.nodes) : `${source} ${visible(graph.nodes[source])}`;
      if (toggle) {
        box.dataset.need = `${source}-${target}`;
        box.addEventListener("click", () => toggle(source, target));
      }
      row.append(box);
    }
    made.append(row);
  });
  return made;
}

// Why each step needs another: what the item says, or else what was inferred. set(source, target, needed, kind) is called
// for a choice; null where nothing may change.
export function kinds(graph, set, names) {
  const made = make("details", "kinds"), written = graph.edges.filter((edge) => edge.written && edge.source in graph.nodes && edge.target in graph.nodes);
  made.append(make("summary", "", t("Kinds of dependencies ({0} set)", written.filter((edge) => edge.set_kind).length)));
  made.open = written.some((edge) => edge.set_kind);
  for (const edge of written) {
    const row = make("label", "need"), inferred = edge.kind ? t("inferred: {0}", t(edge.kind)) : t("not set");
    const control = choice(["", ...names], edge.set_kind, (name) => name ? t(name) : inferred);
    control.disabled = !set;
    control.dataset.kind = `${edge.source}-${edge.target}`;
    if (set) control.addEventListener("change", () => set(edge.source, edge.target, true, control.value));
    row.append(make("span", "of", `${edge.source} → ${edge.target}`), control);
    made.append(row);
  }
  return written.length ? made : "";
}

export function orders(graph) {
  const made = make("details", "orders"), count = graph.orders.length;
  const head = !count && !graph.more_orders ? t("The graph has a cycle: no order is valid.")
    : graph.more_orders ? t("more than {0} valid orders", count) : count === 1 ? t("1 valid order") : t("{0} valid orders", count);
  made.append(make("summary", "", graph.min_depth === null ? head : `${head}, ${t("at least {0} steps", graph.min_depth)}`));
  const list = make("ol");
  for (const order of graph.orders) list.append(make("li", "", order.map((step) => step.length > 1 ? `{${step.join(", ")}}` : String(step[0])).join(" → ")));
  made.append(list);
  return made;
}
