// Texts of models on a page: hostile, huge, of any direction. They are only ever the text of a node.
"use strict";
wildtool.texts = (() => {
  const LONGEST = 4000, DIFF_CELLS = 1e6, PRETTY_LONGEST = 100000;
  const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

  // An element; children are nodes or texts, and a text stays one.
  function make(tag, classes = "", ...children) {
    const node = document.createElement(tag);
    if (classes) node.className = classes;
    node.append(...children.map((child) => typeof child === "string" ? document.createTextNode(visible(child)) : child));
    return node;
  }

  // What acts on a reader's screen becomes its escape.
  const visible = (text) => text.replace(HARMFUL, (sign) => sign === "\r" ? "" : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

  // A text of any length: cut, with a button that shows all.
  function long(text, tag = "div", classes = "said") {
    const node = make(tag, classes);
    node.dir = "auto";
    node.textContent = visible(text.slice(0, LONGEST));
    if (text.length <= LONGEST) return node;
    const more = make("button", "plain", (wildtool.tell || String)(`… show all ${text.length.toLocaleString("en")} characters`));
    more.type = "button";
    more.addEventListener("click", () => { node.textContent = visible(text); more.remove(); });
    const both = make("div");
    both.append(node, more);
    return both;
  }

  // JSON with its tokens on separate lines; any other text as it is. Numbers and strings are not touched.
  function pretty(text) {
    if (text.length > PRETTY_LONGEST || !/^\s*[[{]/.test(text)) return text;
    try { JSON.parse(text); } catch { return text; }
    let out = "", depth = 0;
    const line = () => `\n${"  ".repeat(Math.min(depth, 40))}`;
    for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
      if (token === "{" || token === "[") { depth += 1; out += token + line(); }
      else if (token === "}" || token === "]") { depth -= 1; out = /[[{]\s*$/.test(out.slice(-90)) ? out.trimEnd() + token : out + line() + token; }
      else out += token === "," ? token + line() : token === ":" ? ": " : token;
    }
    return out;
  }

  // Both texts in parts, each marked as common or not: ends that are equal first, then a longest common subsequence.
  function differ(one, other) {
    let start = 0, end = 0;
    while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
    while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
    const a = one.slice(start, one.length - end), b = other.slice(start, other.length - end);
    const tail = one.slice(one.length - end), head = one.slice(0, start);
    const [left, right] = a.length * b.length > DIFF_CELLS ? [[[a, false]], [[b, false]]] : common(a, b);
    return [left, right].map((middle) => [[head, true], ...middle, [tail, true]].filter(([part]) => part));
  }
  function common(a, b) {
    const width = b.length + 1, best = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    const left = [], right = [];
    const add = (parts, sign, same) => {
      const last = parts[parts.length - 1];
      if (last && last[1] === same) last[0] += sign; else parts.push([sign, same]);
    };
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) { add(left, a[i], true); add(right, b[j], true); i += 1; j += 1; }
      else if (j === b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) { add(left, a[i], false); i += 1; }
      else { add(right, b[j], false); j += 1; }
    }
    return [left, right];
  }

  // Expected and found, the characters that differ marked by colour and line.
  function beside(expected, found) {
    const cut = (text) => text.slice(0, LONGEST);
    const [left, right] = differ(cut(expected), cut(found));
    const draw = (parts, tag, whole) => {
      const node = make("div", "said");
      node.dir = "auto";
      for (const [part, same] of parts) node.append(same ? document.createTextNode(visible(part)) : make(tag, "", part));
      if (!whole) node.append(make("em", "", `(${(wildtool.tell || String)("nothing")})`));
      return whole.length > LONGEST ? long(whole) : node;
    };
    return [draw(left, "del", expected), draw(right, "ins", found)];
  }

  return { make, visible, long, pretty, differ, beside };
})();
