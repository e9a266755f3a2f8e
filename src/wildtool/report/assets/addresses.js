// What a reader sets on the tables of a page is part of its address: sorting, search, rows and columns. So a link shows the
// same to somebody else.
"use strict";
wildtool.addresses = (() => {
  const FIELDS = { text: "find", kind: "rows", group: "columns", counts: "counts" };
  // Further tables of a page have a number in their names.
  const numbered = (key, number) => number ? `${key}-${number + 1}` : key;
  const nameOf = (head) => head.textContent.trim().replace(/\s+/g, " ");
  const valueOf = (input) => input.type === "checkbox" ? (input.checked ? "yes" : "") : input.value;
  const first = new Map();
  let arriving = false;

  const slugOf = (node) => node.closest("article").dataset.slug;
  const isShown = (node) => !node.closest("article").hidden;

  // Changes some names of the address of a page; an empty value takes its name away.
  function set(slug, changes) {
    const query = wildtool.query();
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value); else query.delete(name);
    }
    wildtool.setQuery(slug, query);
  }

  const tablesOf = (article) => [...article.querySelectorAll("table.sortable")];
  const boardsOf = (article) => [...article.querySelectorAll("[data-board]")];
  const sortOf = (table) => {
    const head = [...table.tHead.rows[0].cells].find((one) => ["ascending", "descending"].includes(one.getAttribute("aria-sort")));
    return head ? [nameOf(head), head.getAttribute("aria-sort")] : ["", ""];
  };

  function sorted(table) {
    const number = tablesOf(table.closest("article")).indexOf(table), [name, order] = sortOf(table), before = first.get(table).sort;
    const own = name === before[0] && order === before[1];
    set(slugOf(table), { [numbered("sort", number)]: own ? "" : name, [numbered("order", number)]: own ? "" : order });
  }
  function filtered(board) {
    const number = boardsOf(board.closest("article")).indexOf(board);
    set(slugOf(board), Object.fromEntries([...board.querySelectorAll("[data-filter]")].map((input) => [numbered(FIELDS[input.dataset.filter], number), valueOf(input)])));
  }

  function sort(table, [name, order]) {
    const heads = [...table.tHead.rows[0].cells], head = heads.find((one) => nameOf(one) === name);
    if (!head || !head.querySelector("button")) {
      for (const one of heads) if (one.hasAttribute("aria-sort")) one.setAttribute("aria-sort", "none");
      table.tBodies[0].append(...first.get(table).rows);
      return;
    }
    for (let click = 0; click < 2 && head.getAttribute("aria-sort") !== order; click += 1) head.querySelector("button").click();
  }
  function arrive(article) {
    const query = wildtool.query();
    arriving = true;
    tablesOf(article).forEach((table, number) => {
      const name = query.get(numbered("sort", number));
      const wanted = name ? [name, query.get(numbered("order", number))] : first.get(table).sort;
      if (String(wanted) !== String(sortOf(table))) sort(table, wanted);
    });
    boardsOf(article).forEach((board, number) => {
      for (const input of board.querySelectorAll("[data-filter]")) {
        const wanted = query.get(numbered(FIELDS[input.dataset.filter], number)) || "";
        if (input.type === "checkbox") input.checked = wanted === "yes"; else input.value = wanted;
        if (input.selectedIndex < 0) input.value = "";
      }
      board.dispatchEvent(new Event("input"));
    });
    arriving = false;
  }
  const arriveAtAll = () => { for (const article of document.querySelectorAll("article.page")) if (!article.hidden) arrive(article); };

  document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.sortable")) {
      first.set(table, { sort: sortOf(table), rows: [...table.tBodies[0].rows] });
      table.tHead.addEventListener("click", (event) => { if (!arriving && event.target.closest("button")) sorted(table); });
      // A page's script has drawn the rows again, in their own order.
      table.addEventListener("redrawn", () => {
        const wanted = sortOf(table);
        first.get(table).rows = [...table.tBodies[0].rows];
        arriving = true;
        sort(table, ["", ""]);
        sort(table, wanted);
        arriving = false;
      });
    }
    for (const board of document.querySelectorAll("[data-board]")) board.addEventListener("input", () => { if (!arriving) filtered(board); });
    arriveAtAll();
    addEventListener("hashchange", arriveAtAll);
  });
  return { set, slugOf, isShown };
})();
