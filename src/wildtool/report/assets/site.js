// What every page does: colours, menu, data in shards, sortable tables, filters. A classic script, since modules do
// not load from disk.
"use strict";
const wildtool = (() => {
  const waiting = new Map(), shards = new Map();

  // ---- colours: as the system, or as chosen; remembered where the browser allows it
  const THEMES = [["", "◐", "as the system"], ["light", "☀", "light"], ["dark", "☾", "dark"]];
  let theme = 0;
  const remembered = (action) => { try { return action(localStorage); } catch { return null; } };
  function wear(index) {
    theme = index;
    const [name] = THEMES[theme];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
  }
  wear(Math.max(0, THEMES.findIndex(([name]) => name === remembered((s) => s.getItem("wildtool-theme")))));
  // Pages in several languages give `tell`, which translates.
  function labelTheme(button = document.getElementById("theme")) {
    const [, sign, words] = THEMES[theme], name = (wildtool.tell || String)(`Colours: ${words}`);
    button.textContent = sign;
    button.setAttribute("aria-label", name);
    button.title = name;
  }

  // ---- data: a shard is a script that calls put, or a block of the page
  function put(name, data) {
    shards.set(name, data);
    const wait = waiting.get(name);
    if (wait) wait.done(data);
  }
  function load(name) {
    if (shards.has(name)) return Promise.resolve(shards.get(name));
    const block = document.getElementById(`shard-${name}`);
    if (block) {
      put(name, JSON.parse(block.textContent));
      return Promise.resolve(shards.get(name));
    }
    if (waiting.has(name)) return waiting.get(name).promise;
    const wait = {};
    wait.promise = new Promise((done, failed) => { wait.done = done; wait.failed = failed; });
    waiting.set(name, wait);
    const script = document.createElement("script");
    script.src = `data/${name}.js`;
    script.onerror = () => { waiting.delete(name); wait.failed(new Error(`data/${name}.js could not be loaded`)); };
    document.head.append(script);
    return wait.promise;
  }
  function forget(name) { shards.delete(name); waiting.delete(name); }

  // ---- addresses: page.html#a=1&b=2, or #page?a=1&b=2 in a single file
  const inOneFile = () => document.querySelectorAll("article.page").length > 1;
  function query() {
    const hash = location.hash.slice(1);
    return new URLSearchParams(inOneFile() ? hash.split("?")[1] || "" : hash);
  }
  function setQuery(slug, parameters) {
    const text = new URLSearchParams(parameters).toString();
    const inFile = `#${slug}${text ? `?${text}` : ""}`, alone = text ? `#${text}` : location.pathname + location.search;
    history.replaceState(null, "", inOneFile() ? inFile : alone);
  }
  function turn() {
    if (!inOneFile()) return;
    const wanted = location.hash.slice(1).split("?")[0];
    const pages = [...document.querySelectorAll("article.page")];
    const page = pages.find((one) => one.dataset.slug === wanted);
    if (!page && wanted && document.body.classList.contains("paged")) return;  // a place within a page
    document.body.classList.add("paged");
    for (const one of pages) one.hidden = one !== (page || pages[0]);
    for (const link of document.querySelectorAll("nav [data-page]")) {
      if (link.dataset.page === (page || pages[0]).dataset.slug) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    scrollTo(0, 0);
  }

  // ---- tables: sorted by a column's button, filtered by text, kind and group of columns
  function sortBy(table, button) {
    const head = button.closest("th"), column = [...head.parentNode.children].indexOf(head);
    const best = head.hasAttribute("data-lower") ? "ascending" : "descending", worst = best === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === best ? worst : best, up = order === "ascending";
    for (const other of head.parentNode.children) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", order);
    const keyed = [...table.tBodies[0].rows].map((row) => [row.cells[column], row]);
    const worth = (cell) => cell.dataset.value === undefined ? cell.textContent.trim().toLowerCase() : cell.dataset.value === "" ? null : Number(cell.dataset.value);
    const rows = keyed.map(([cell, row]) => [worth(cell), row]);
    const by = (a, b) => a === b ? 0 : a === null ? 1 : b === null ? -1 : (a < b ? -1 : 1) * (up ? 1 : -1);
    rows.sort(([a], [b]) => by(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    table.classList.toggle("resorted", !head.hasAttribute("data-ranked") || order !== best);
  }
  function filter(board) {
    const table = board.querySelector("table");
    const find = (name) => board.querySelector(`[data-filter="${name}"]`);
    const text = find("text") ? find("text").value.trim().toLowerCase() : "";
    const kind = find("kind") ? find("kind").value : "";
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !(row.cells[0].textContent.toLowerCase().includes(text) && (!kind || row.dataset.kind === kind));
      shown += row.hidden ? 0 : 1;
    }
    if (find("group")) {
      const group = find("group").value, heads = [...table.tHead.rows[0].cells];
      const hides = ({ dataset }) => dataset.group !== undefined && (group ? dataset.group !== group : !("headline" in dataset));
      const hidden = heads.map(hides);
      for (const row of table.rows) hidden.forEach((hide, column) => { row.cells[column].hidden = hide; });
    }
    if (find("counts")) table.classList.toggle("counted", find("counts").checked);
    const status = board.querySelector("[role=status]");
    if (status) status.textContent = shown || !table.tBodies[0].rows.length ? `${shown} of ${table.tBodies[0].rows.length} shown` : "No matches";
  }

  // ---- numbers lead to the units behind them; made here, since thousands of addresses would be most of a page
  function linkNumbers(table) {
    const heads = [...table.tHead.rows[0].cells];
    for (const row of table.tBodies[0].rows) {
      if (row.dataset.run === undefined) continue;
      heads.forEach((head, column) => {
        const shown = row.cells[column].querySelector("b");
        if (head.dataset.number === undefined || !shown || row.cells[column].dataset.value === "") return;
        const link = document.createElement("a"), drawn = row.cells[column].querySelectorAll("svg");
        link.href = `${table.dataset.units}${row.dataset.run}&${new URLSearchParams({ number: head.dataset.number })}`;
        shown.before(link);
        link.append(shown, ...drawn);
      });
    }
  }

  // ---- marks of a chart lead to where the same numbers lead in the table beside it
  function linkMarks(svg) {
    const table = svg.closest("section, .sides, article").querySelector("table"), marks = [];
    for (const mark of svg.querySelectorAll("a[data-cell]")) {
      const [row, column] = mark.dataset.cell.split(".").map(Number);
      const { cells } = table.tBodies[0].rows[row], link = cells[column].querySelector("a");
      if (!link) continue;
      mark.setAttribute("href", link.getAttribute("href"));
      const said = [cells[0], table.tHead.rows[0].cells[column], ...cells[column].children];
      mark.setAttribute("aria-label", said.map((one) => one.textContent.trim().replace(/\s+/g, " ")).join(", "));
      marks.push(mark);
    }
    walkMarks(svg, marks);
  }
  // One stop of the tab key for a chart, which may have hundreds of marks; arrows go from one to the next.
  function walkMarks(svg, marks) {
    const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -marks.length, End: marks.length };
    marks.forEach((mark, at) => mark.setAttribute("tabindex", at ? "-1" : "0"));
    svg.addEventListener("keydown", (event) => {
      const at = marks.indexOf(event.target), step = STEPS[event.key];
      if (at < 0 || !step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const next = marks[Math.min(marks.length - 1, Math.max(0, at + step))];
      marks[at].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
    // What a mark says is read by a mouse, too.
    svg.addEventListener("pointerover", (event) => {
      const mark = event.target.closest("a[href]");
      if (!mark || mark.querySelector("title")) return;
      const title = document.createElementNS(svg.namespaceURI, "title");
      title.textContent = mark.getAttribute("aria-label");
      mark.append(title);
    });
  }

  function start() {
    const button = document.getElementById("theme");
    labelTheme(button);
    button.addEventListener("click", () => {
      wear((theme + 1) % THEMES.length);
      remembered((s) => s.setItem("wildtool-theme", THEMES[theme][0]));
      labelTheme(button);
    });
    const menu = document.getElementById("menu"), pages = document.getElementById("pages");
    menu.addEventListener("click", () => {
      const open = pages.classList.toggle("open");
      menu.setAttribute("aria-expanded", String(open));
    });
    pages.addEventListener("click", (event) => {
      if (event.target.closest("a")) { pages.classList.remove("open"); menu.setAttribute("aria-expanded", "false"); }
    });
    for (const table of document.querySelectorAll("table.sortable")) {
      table.tHead.addEventListener("click", (event) => {
        const sorter = event.target.closest("button");
        if (sorter) sortBy(table, sorter);
      });
    }
    for (const table of document.querySelectorAll("table[data-units]")) linkNumbers(table);
    // As long as the tables are in the order in which they were written.
    for (const svg of document.querySelectorAll("figure svg:has(a[data-cell])")) linkMarks(svg);
    for (const board of document.querySelectorAll("[data-board]")) {
      board.addEventListener("input", () => filter(board));
      filter(board);
    }
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById("content").focus();
    });
    turn();
    addEventListener("hashchange", turn);
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details[data-numbers]:not([open]), .remarks details:not([open]), .message details:not([open])")];
      for (const one of closed) one.open = true;
    });
    addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  }
  document.addEventListener("DOMContentLoaded", start);
  return { put, load, forget, query, setQuery, inOneFile, labelTheme };
})();
