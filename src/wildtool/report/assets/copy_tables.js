// Tables leave a page: copied as a table for texts and chats, as Markdown or LaTeX, or saved as CSV. A classic script.
"use strict";
(() => {
  const SPACE = /\s+/g, FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/, NUMBER = /^[+-]?\d[\d.,]*( %)?$/;

  // ---- what a table shows now, as texts: rows and columns that are hidden stay here
  const isShown = (node) => !node.hidden && !node.classList.contains("hidden") && (!node.isConnected || getComputedStyle(node).display !== "none");
  function textOf(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.tagName.toLowerCase() === "svg" || !isShown(node)) return "";
    return `${[...node.childNodes].map(textOf).join("")}${["SMALL", "BR", "P", "LI", "DIV", "B", "BDI"].includes(node.tagName) ? " " : ""}`;
  }
  const plain = (nodes) => [...nodes].map(textOf).join(" ").replace(SPACE, " ").trim();
  // The text of a cell; what stands below it in small letters comes in brackets.
  function cellText(cell) {
    if (cell.closest("thead")) return plain(cell.childNodes);
    const small = [...cell.querySelectorAll("small")].filter((one) => isShown(one) && !one.parentNode.closest("small"));
    const below = small.map((one) => plain(one.childNodes)).filter(Boolean).join(", ");
    const without = cell.cloneNode(true);
    for (const one of without.querySelectorAll("small")) one.remove();
    const main = plain(without.childNodes);
    return main && below ? `${main} (${below})` : main || below;
  }
  function rowOf(row) {
    return [...row.cells].filter(isShown).flatMap((cell) => [cellText(cell), ...Array(cell.colSpan - 1).fill("")]);
  }
  // Args: kept: the rows to take; all that are shown if there are none.
  function contentOf(table, kept) {
    const head = table.tHead ? [...table.tHead.rows] : [], all = [...table.rows].filter(isShown);
    const body = all.filter((row) => !head.includes(row) && (!kept || kept.includes(row))).map(rowOf);
    const heads = head.length ? rowOf(head[head.length - 1]) : (body[0] || []).map(() => "");
    const width = Math.max(heads.length, ...body.map((row) => row.length));
    const full = (row) => [...row, ...Array(width - row.length).fill("")];
    // A column of drawings has no texts.
    const columns = [...Array(width).keys()].filter((at) => body.some((row) => row[at]) || !body.length);
    return { heads: columns.map((at) => full(heads)[at]), rows: body.map((row) => columns.map((at) => full(row)[at])) };
  }
  const isNumbers = (rows, at) => rows.length > 0 && rows.every((row) => !row[at] || NUMBER.test(row[at].split(" (")[0]));

  // ---- the same in other forms; what a model is called must not become markup or a formula
  function markdown({ heads, rows }) {
    const cell = (text) => text.replace(/[\\`*_[\]<>|~]/g, "\\$&"), line = (row) => `| ${row.map(cell).join(" | ")} |`;
    const rule = `|${heads.map((_, at) => isNumbers(rows, at) ? " ---: " : " --- ").join("|")}|`;
    return `${[line(heads), rule, ...rows.map(line)].join("\n")}\n`;
  }
  const LATEX = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
    "`": "\\textasciigrave{}", '"': "\\textquotedbl{}", "–": "--", "…": "\\ldots{}",
  };
  function latex({ heads, rows }) {
    const cell = (text) => text.replace(/[\\~^&%$#_{}<>|`"–…]/g, (one) => LATEX[one] || `\\${one}`), line = (row) => `${row.map(cell).join(" & ")} \\\\`;
    const columns = heads.map((_, at) => isNumbers(rows, at) ? "r" : "l").join("");
    return `\\begin{tabular}{${columns}}\n\\toprule\n${line(heads)}\n\\midrule\n${rows.map(line).join("\n")}\n\\bottomrule\n\\end{tabular}\n`;
  }
  function csv({ heads, rows }) {
    const cell = (text) => {
      const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
      return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return `${[heads, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
  }
  function html({ heads, rows }) {
    const made = document.createElement("table"), fill = (row, texts, tag) => {
      for (const text of texts) row.append(Object.assign(document.createElement(tag), { textContent: text }));
    };
    fill(made.createTHead().insertRow(), heads, "th");
    const body = made.createTBody();
    for (const row of rows) fill(body.insertRow(), row, "td");
    return made.outerHTML;
  }

  // ---- out of the page
  // A page from disk or of another machine may have no clipboard of its own: the browser's copying of a selection is left.
  async function copy(text, marked) {
    const parts = { "text/plain": text, ...(marked ? { "text/html": marked } : {}) };
    const given = (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      for (const [kind, part] of Object.entries(parts)) event.clipboardData.setData(kind, part);
    };
    addEventListener("copy", given, { capture: true, once: true });
    const done = document.execCommand("copy");
    removeEventListener("copy", given, { capture: true });
    if (done) return;
    await navigator.clipboard.writeText(text);
  }
  function save(text, kind, name) {
    const link = document.createElement("a"), address = URL.createObjectURL(new Blob([text], { type: kind }));
    Object.assign(link, { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  function nameOf(table) {
    const named = table.closest("[role=region]");
    return (table.caption && table.caption.textContent || named && named.getAttribute("aria-label") || document.title).replace(SPACE, " ").trim();
  }
  const fileName = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "table";
  function offer(table) {
    const made = document.createElement("details"), said = document.createElement("span"), name = nameOf(table);
    const tell = (text) => { said.textContent = text; };
    const button = (label, action) => {
      const one = document.createElement("button");
      Object.assign(one, { type: "button", className: "plain", textContent: label });
      one.setAttribute("aria-label", `${label}: ${name}`);
      one.addEventListener("click", async () => {
        try { tell(await action(contentOf(table))); } catch { tell("The browser does not allow copying here."); }
      });
      return one;
    };
    made.className = "copies";
    said.setAttribute("role", "status");
    made.append(
      Object.assign(document.createElement("summary"), { textContent: "Copy or save this table" }),
      button("Table", async (content) => { await copy(markdown(content), html(content)); return "Copied: a table where the target has tables, else Markdown."; }),
      button("Markdown", async (content) => { await copy(markdown(content)); return "Copied as Markdown."; }),
      button("LaTeX", async (content) => { await copy(latex(content)); return "Copied as LaTeX; it needs the package booktabs."; }),
      button("CSV", (content) => { save(csv(content), "text/csv;charset=utf-8", `${fileName(name)}.csv`); return "Saved as CSV."; }),
      said,
    );
    (table.closest(".scroll") || table).after(made);
  }

  // A selection of several cells that somebody copies is a table as well.
  function copied(event) {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount || event.target.closest("input, textarea")) return;
    const range = selection.getRangeAt(0), common = range.commonAncestorContainer;
    const table = (common.nodeType === Node.ELEMENT_NODE ? common : common.parentElement).closest("table");
    if (!table || !["TABLE", "TBODY", "THEAD"].includes(common.nodeName)) return;
    const content = contentOf(table, [...table.rows].filter((row) => range.intersectsNode(row)));
    event.clipboardData.setData("text/plain", markdown(content));
    event.clipboardData.setData("text/html", html(content));
    event.preventDefault();
  }
  document.addEventListener("copy", copied);
  document.addEventListener("DOMContentLoaded", () => {
    const main = document.querySelector("main"), offered = new WeakSet();
    const look = () => {
      for (const table of main.querySelectorAll("table:has(td)")) if (!offered.has(table)) { offered.add(table); offer(table); }
    };
    look();
    // Some pages make tables when they show something.
    new MutationObserver(look).observe(main, { childList: true, subtree: true });
  });
})();
