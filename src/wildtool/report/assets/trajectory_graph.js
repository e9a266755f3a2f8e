// The gold graph of a unit: a layer for each depth; colour, outline and sign show what became of each call.
"use strict";
wildtool.graph = (() => {
  const WIDTH = 205, HEIGHT = 40, GAP_X = 14, GAP_Y = 26, PER_LINE = 2, MOST = 120;
  const SIGNS = { done: "✓", missed: "○", wrong: "✗", undecided: "?" };
  const SVG = "http://www.w3.org/2000/svg";

  function draw(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // The longest path to each node; a node on a cycle is placed below all others.
  function layers(gold) {
    const depth = gold.map(() => 0);
    for (let round = 0; round < gold.length; round += 1) {
      let moved = false;
      gold.forEach(([, , needs], node) => {
        for (const need of needs) {
          if (need >= 0 && need < gold.length && need !== node && depth[node] <= depth[need] && depth[need] < gold.length) {
            depth[node] = depth[need] + 1;
            moved = true;
          }
        }
      });
      if (!moved) break;
    }
    const found = [];
    depth.forEach((at, node) => { (found[at] = found[at] || []).push(node); });
    return found.filter(Boolean);
  }

  // A maximum of nodes per line, so that a phone can show them.
  function places(gold) {
    const at = [];
    let y = 0, widest = 1;
    for (const layer of layers(gold)) {
      for (let first = 0; first < layer.length; first += PER_LINE) {
        const line = layer.slice(first, first + PER_LINE);
        widest = Math.max(widest, line.length);
        line.forEach((node, x) => { at[node] = [x, y, line.length]; });
        y += 1;
      }
    }
    const full = widest * WIDTH + (widest - 1) * GAP_X;
    const spots = at.map(([x, line, count]) => [
      (full - (count * WIDTH + (count - 1) * GAP_X)) / 2 + x * (WIDTH + GAP_X),
      line * (HEIGHT + GAP_Y),
    ]);
    return { spots, width: full, height: y * (HEIGHT + GAP_Y) - GAP_Y };
  }

  const short = (text) => text.length > 22 ? `${text.slice(0, 12)}…${text.slice(-9)}` : text;

  // gold: [name, arguments, needs] of each call; status: done, missed, wrong or undecided.
  function of(gold, status) {
    if (!gold.length || gold.length > MOST) return null;
    const { spots, width, height } = places(gold);
    const kinds = Object.keys(SIGNS).filter((kind) => kind !== "undecided" || status.includes(kind));
    const counts = kinds.map((kind) => `${status.filter((one) => one === kind).length} ${kind}`);
    const svg = draw("svg", {
      viewBox: `-2 -2 ${width + 4} ${height + 4}`, class: "gold-graph", role: "img",
      "aria-label": (wildtool.tell || String)(`Gold graph of ${gold.length} calls: ${counts.join(", ")}. The list below has the same content.`),
    });
    svg.style.maxWidth = `${width + 4}px`;
    gold.forEach(([, , needs], node) => {
      for (const need of needs) {
        if (!spots[need] || need === node) continue;
        const [x1, y1] = [spots[need][0] + WIDTH / 2, spots[need][1] + HEIGHT];
        const [x2, y2] = [spots[node][0] + WIDTH / 2, spots[node][1]];
        const bend = Math.max(12, (y2 - y1) / 2);
        svg.append(
          draw("path", { class: "edge", d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 5}` }),
          draw("path", { class: "tip", d: `M${x2 - 4} ${y2 - 6} L${x2 + 4} ${y2 - 6} L${x2} ${y2} Z` }),
        );
      }
    });
    gold.forEach(([name], node) => {
      const [x, y] = spots[node], kind = status[node] || "missed", shown = wildtool.texts.visible(name);
      svg.append(draw("g", { class: `node ${kind}` },
        draw("title", {}, `${node + 1}. ${shown.slice(0, 300)}: ${kind}`),
        draw("rect", { x, y, width: WIDTH, height: HEIGHT, rx: kind === "done" ? 8 : kind === "wrong" ? 0 : 20 }),
        draw("text", { x: x + 10, y: y + 25, class: "sign" }, SIGNS[kind]),
        draw("text", { x: x + 28, y: y + 25 }, `${node + 1} ${short(shown)}`),
      ));
    });
    return svg;
  }

  return { of, SIGNS, layers };
})();
