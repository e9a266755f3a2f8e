// The trajectories page: an index of units that is filtered here, and one unit in full, loaded when it is opened.
"use strict";
(() => {
  const { make, long, pretty } = wildtool.texts, { OUTCOMES, folded, conversation, gold, differences, verdicts } = wildtool.unit;
  const SLUG = "trajectories", PAGE = 50, ALL = "all", FEW_UNITS = 20000;
  const { at, number, differing } = wildtool.filters;
  const FILTERS = ["outcome", "error", "number", "part", "cross", "against", "differ", "group", "value", "tool", "text"];
  const PARTS = { lost: "lose points", counted: "add to it", all: "it is about" }, NO_RUN = "none";
  const state = { runs: [], order: [], sets: new Map(), indexes: new Map(), numbers: new Map(), found: [], page: 0, open: null, beside: "" };
  let root, form, status, list, pager, pane;

  // ---- addresses
  const field = (name) => form.elements[name];
  // A filter that depends on another says nothing without it.
  const NEEDS = { part: "number", cross: "number", differ: "against", value: "group" };
  const filters = () => Object.fromEntries(FILTERS.map((key) => [key, NEEDS[key] && !field(NEEDS[key]).value ? "" : field(key).value]).filter(([, value]) => value));
  const written = (parameters) => {
    const text = new URLSearchParams(parameters).toString();
    return wildtool.inOneFile() ? `#${SLUG}?${text}` : `#${text}`;
  };
  const address = (unit, beside = state.beside) => unit
    ? written({ ...place(unit), ...filters(), ...(beside ? { beside } : {}) })
    : written({ run: field("run").value, ...filters(), ...(state.page ? { page: state.page + 1 } : {}) });
  const place = ({ run, row }) => {
    const index = state.indexes.get(run), item = itemOf(run, row);
    return { run, item: item[0], unit: at(index.unit, row), repeat: index.repeat[row], ...(field("run").value === ALL ? { of: ALL } : {}) };
  };
  const itemOf = (run, row) => state.sets.get(state.runs[run].set).items[state.indexes.get(run).place[row]];
  const askedOf = (run, row) => {
    const item = itemOf(run, row);
    return item[4][item[3].indexOf(at(state.indexes.get(run).unit, row))] || ["", []];
  };

  // ---- the list
  async function index(run) {
    if (state.indexes.has(run)) return;
    const set = state.runs[run].set;
    const [rows, items, numbers] = await Promise.all([`tx-${run}`, `ts-${set}`, `tn-${run}`].map(wildtool.load));
    state.sets.set(set, items);
    state.numbers.set(run, numbers);
    state.indexes.set(run, rows);
  }
  const chosen = () => form.elements.run.value === ALL ? state.order : [Number(form.elements.run.value) || 0];

  function choose(select, options, none) {
    const before = select.value;
    const groups = new Map();
    for (const [value, label, group] of [["", none, ""], ...options]) {
      const option = make("option", "", label);
      option.value = value;
      groups.set(group ?? "", [...(groups.get(group ?? "") ?? []), option]);
    }
    select.replaceChildren(...[...groups].flatMap(([group, its]) => {
      if (!group) return its;
      const heading = make("optgroup", "", ...its);
      heading.label = group;
      return [heading];
    }));
    select.value = before;
    if (select.selectedIndex < 0) select.value = "";
  }
  const distinct = (values) => [...new Set(values)].filter((value) => value !== "").sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

  // The columns that units can be grouped by: what every run has, and the benchmark's own.
  function column(run, name) {
    const rows = state.indexes.get(run);
    if (name === "split" || name === "lang") {
      const items = state.sets.get(state.runs[run].set).items, part = name === "split" ? 1 : 2;
      return (row) => items[rows.place[row]][part];
    }
    const own = rows.columns.find(([its]) => its === name) || rows.others.find(([its]) => `verdict: ${its}` === name);
    return own ? (row) => at(own[1], row) : () => "";
  }
  function offer() {
    const runs = chosen(), rows = runs.map((run) => state.indexes.get(run));
    choose(form.elements.outcome, distinct(rows.flatMap((one) => one.outcome.values)).map((value) => [value, value.replace("_", " ")]), "any");
    choose(form.elements.error, distinct(rows.flatMap((one) => one.error.values)).map((value) => [value, value]), "any");
    const names = distinct(["split", "lang", ...rows.flatMap((one) => [...one.columns.map(([name]) => name), ...one.others.map(([name]) => `verdict: ${name}`)])]);
    choose(form.elements.group, names.map((name) => [name, name.replaceAll("_", " ")]), "none");
    const numbers = [...new Set(runs.flatMap((run) => state.numbers.get(run).numbers.map(([name]) => name)))];
    const named = numbers.map((name) => { const [group] = name.split(": ", 1); return [name, name.slice(group.length + 2), group]; });
    choose(field("number"), named, "any");
    choose(field("cross"), named, "any");
    choose(field("against"), rivals().map(([run, number]) => [String(number), run.label, tables() > 1 ? run.how : ""]), "no run");
    root.querySelector("[data-of=sets]").hidden = field("against").options.length < 2;
    offerValues();
    offerParts();
    const tools = distinct(rows.flatMap((one) => one.called.values.flat()));
    document.getElementById("trajectory-tools").replaceChildren(...tools.slice(0, 500).map((name) => { const option = make("option"); option.value = name; return option; }));
  }
  const tables = () => new Set(state.runs.map((run) => run.how)).size;
  // Runs that the chosen one, or one of the chosen ones, can be compared with.
  const rivals = () => state.order.map((number) => [state.runs[number], number]).filter(([run, rival]) => chosen().some((one) => one !== rival && state.runs[one].set === run.set));
  function offerValues() {
    const name = form.elements.group.value;
    root.querySelector("[data-of=group]").hidden = !name;
    root.querySelector("[data-of=against]").hidden = !field("against").value;
    const values = name ? chosen().flatMap((run) => { const get = column(run, name); return [...new Set(state.indexes.get(run).place.map((_, row) => get(row)))]; }) : [];
    choose(form.elements.value, distinct(values).map((value) => [value, value]), "any");
  }

  // Where the number is in the first page's table of its leaderboard.
  function tableOf(name) {
    const { board } = state.runs[chosen()[0]], [group] = name.split(": ", 1);
    const text = new URLSearchParams({ [board ? `columns-${board + 1}` : "columns"]: group });
    return wildtool.inOneFile() ? `#index?${text}` : `index.html#${text}`;
  }

  // The units behind the chosen number, by run, and which of them can be asked for.
  function offerParts() {
    const name = field("number").value;
    for (const label of ["number", "cross"]) root.querySelector(`[data-of=${label}]`).hidden = !name;
    const behind = chosen().map((run) => [state.indexes.get(run).place, name && number(state.numbers.get(run), name)]).filter(([, its]) => its);
    const about = root.querySelector("[data-of=formula]");
    about.hidden = !behind.length;
    if (!behind.length) { field("part").replaceChildren(); return; }
    const [[, { formula, byUnit, first }]] = behind;
    const table = make("a", "", "Its table");
    table.href = tableOf(name);
    about.replaceChildren(make("span", "", `${name}: ${formula}.${byUnit ? "" : " It is no sum over single units: all units that were judged are behind it."}`), " ", table);
    const counts = Object.keys(PARTS).map((part) => [part, behind.reduce((sum, [places, its]) => sum + places.filter((_, row) => its.parts[part](row)).length, 0)]);
    const before = field("part").value, offered = counts.filter(([part, count]) => part === "all" || (count && first !== "all"));
    field("part").replaceChildren(...offered.map(([part, count]) => {
      const option = make("option", "", `${PARTS[part]} (${count.toLocaleString("en")})`);
      option.value = part;
      return option;
    }));
    const wanted = [before, first, "all"].find((part) => offered.some(([its]) => its === part));
    field("part").value = wanted;
  }

  function matches(run) {
    const want = filters(), rows = state.indexes.get(run);
    const text = (want.text || "").toLowerCase(), tool = (want.tool || "").toLowerCase();
    const group = want.value ? column(run, want.group) : null;
    const behind = want.number && number(state.numbers.get(run), want.number), crossed = want.cross && number(state.numbers.get(run), want.cross);
    if ((want.number && !behind) || (want.cross && !crossed)) return [];
    const baseline = Number(want.against);
    if (want.against && (baseline === run || state.runs[baseline].set !== state.runs[run].set)) return [];
    const differs = want.against ? differing(rows, state.indexes.get(baseline), want.differ) : null;
    // Each distinct text is searched once.
    const reasons = rows.reason.values.map((reason) => reason.toLowerCase().includes(text));
    const called = rows.called.values.map((names) => names.map((name) => name.toLowerCase()));
    const says = (row) => {
      if (reasons[rows.reason.at[row]] || called[rows.called.at[row]].some((name) => name.includes(text))) return true;
      const [said, gold] = askedOf(run, row);
      return `${itemOf(run, row)[0]}\n${said}\n${gold.join("\n")}`.toLowerCase().includes(text);
    };
    const uses = (row) => called[rows.called.at[row]].some((name) => name.includes(tool)) || askedOf(run, row)[1].some((name) => name.toLowerCase().includes(tool));
    return rows.place.map((_, row) => row).filter((row) =>
      (!behind || behind.parts[want.part](row)) && (!crossed || crossed.parts.all(row)) && (!differs || differs(row))
      && (!want.outcome || at(rows.outcome, row) === want.outcome) && (!want.error || at(rows.error, row) === want.error)
      && (!group || group(row) === want.value) && (!tool || uses(row)) && (!text || says(row))).map((row) => ({ run, row }));
  }
  function find() {
    state.found = chosen().flatMap(matches);
    const total = chosen().reduce((sum, run) => sum + state.indexes.get(run).place.length, 0);
    const problems = chosen().map((run) => state.indexes.get(run).problem).filter(Boolean);
    status.textContent = [!state.found.length && total ? "No matches" : `${state.found.length.toLocaleString("en")} of ${total.toLocaleString("en")} units`, ...problems.map(wildtool.texts.visible)].join(". ");
    state.page = 0;
    turnTo(state.open ? Math.max(0, Math.floor(positionOf(state.open) / PAGE)) : 0);
  }
  const pagesOf = () => Math.ceil(state.found.length / PAGE);
  const same = (one, other) => one && other && one.run === other.run && one.row === other.row;
  const positionOf = (unit) => state.found.findIndex((one) => same(one, unit));

  function turnTo(page) {
    state.page = page;
    const many = chosen().length > 1;
    list.start = page * PAGE + 1;
    list.replaceChildren(...state.found.slice(page * PAGE, (page + 1) * PAGE).map((unit) => {
      const rows = state.indexes.get(unit.run), outcome = at(rows.outcome, unit.row), item = itemOf(unit.run, unit.row);
      const link = make("a", "", make("span", `mark ${outcome}`, OUTCOMES[outcome]), make("bdi", "name", `${item[0]} · ${at(rows.unit, unit.row)}`));
      if (rows.repeat[unit.row]) link.append(make("small", "", ` repeat ${rows.repeat[unit.row] + 1}`));
      if (many) link.append(make("small", "", " ", make("bdi", "", state.runs[unit.run].label)));
      const why = at(rows.error, unit.row) || (outcome === "correct" ? "" : outcome.replace("_", " "));
      if (why) link.append(make("small", "why", ` ${why}`));
      const asked = askedOf(unit.run, unit.row)[0];
      link.append(make("small", "asked", asked));
      link.href = address(unit);
      const about = [`${item[0]}, unit ${at(rows.unit, unit.row)}`, rows.repeat[unit.row] ? `repeat ${rows.repeat[unit.row] + 1}` : "", state.runs[unit.run].label, asked].filter(Boolean);
      link.setAttribute("aria-label", wildtool.texts.visible(`${outcome.replace("_", " ")}: ${about.join(", ")}`));
      if (same(unit, state.open)) link.setAttribute("aria-current", "true");
      return make("li", "", link);
    }));
    const pages = pagesOf();
    const button = (label, to, title) => {
      const one = make("button", "plain", label);
      one.type = "button";
      one.setAttribute("aria-label", title);
      one.disabled = to < 0 || to >= pages;
      one.addEventListener("click", () => { turnTo(to); if (!state.open) remember(); list.scrollIntoView({ block: "nearest" }); });
      return one;
    };
    pager.replaceChildren(...pages > 1 ? [button("‹", page - 1, "Previous page"), make("span", "", `${page + 1} of ${pages}`), button("›", page + 1, "Next page")] : []);
  }

  // ---- one unit
  async function data(unit) {
    const rows = state.indexes.get(unit.run), set = state.runs[unit.run].set, { size } = state.sets.get(set);
    const shard = shardOf(rows, unit.row), item = rows.place[unit.row], names = [`tr-${unit.run}-${shard}`, `ti-${set}-${Math.floor(item / size)}`];
    const [played, items] = await Promise.all(names.map(wildtool.load));
    for (const name of kept.splice(0)) if (!names.includes(name)) wildtool.forget(name);
    kept.push(...names);
    const before = items[item % size][itemOf(unit.run, unit.row)[3].indexOf(at(rows.unit, unit.row))];
    return { happened: played[unit.row - rows.starts[shard]], before };
  }
  function shardOf(rows, row) {
    let shard = rows.starts.length - 1;
    while (rows.starts[shard] > row) shard -= 1;
    return shard;
  }
  const kept = [];

  function labels({ happened }) {
    if (!happened.labels) return [];
    const node = make("div", "differences", make("h3", "", "What readers say"));
    for (const [reader, names, note] of happened.labels) {
      node.append(make("p", "", `${reader}: ${names}${note ? ` (${note})` : ""}`));
    }
    return [node];
  }

  // The requests and replies of a unit as recorded, and where the links of its requests are: what runs on the same items
  // have in common is with the first of them.
  async function recorded(unit) {
    const rows = state.indexes.get(unit.run), set = state.runs[unit.run].set, { size } = state.sets.get(set), place = rows.place[unit.row];
    const first = state.runs.findIndex((run) => run.set === set), inFirst = `tw-${first}-${Math.floor(place / size)}`;
    const own = `tw-${unit.run}-${shardOf(rows, unit.row)}`;
    const [its, common] = await Promise.all([own, inFirst].map((name) => wildtool.load(name).catch(() => null)));
    if (!its) throw new Error("The record of this unit could not be loaded");
    const item = its.find((one) => one.place === place && one.repeat === rows.repeat[unit.row]);
    const same = (common || []).find((one) => one.place === place && one.repeat === 0);
    const ends = item.units[itemOf(unit.run, unit.row)[3].indexOf(at(rows.unit, unit.row))];
    return { ends, places: [item.links, same ? same.links : {}] };
  }

  function account(unit, found) {
    const node = make("div", "account"), { calls } = found.happened, roles = state.runs[unit.run].calls;
    const texts = () => recorded(unit), repeat = state.indexes.get(unit.run).repeat[unit.row];
    const around = (number) => calls[number] ? [wildtool.calls.step(calls[number], number, { texts, template: roles[calls[number].at(-1)], repeat })] : [];
    node.append(verdicts(found), ...labels(found), ...differences(found));
    if (calls.length) node.append(make("p", "muted", wildtool.calls.total(calls)));
    node.append(make("div", "sides", conversation(found, around), gold(found)));
    return node;
  }

  function toolbar(unit) {
    const bar = make("div", "tools"), position = positionOf(unit);
    const go = (label, to, key) => {
      const link = make("a", "plain", label);
      if (to) link.href = address(to); else link.setAttribute("aria-disabled", "true");
      link.title = `key ${key}`;
      return link;
    };
    const back = make("a", "plain back", "↑ list");
    back.href = address(null);
    bar.append(back, go("‹ previous", state.found[position - 1], "k"), go("next ›", position < 0 ? state.found[0] : state.found[position + 1], "j"));
    const others = state.order.map((number) => [state.runs[number], number]).filter(([run, number]) => number !== unit.run && run.set === state.runs[unit.run].set);
    if (others.length) {
      const select = make("select");
      const here = state.runs[unit.run].how;
      choose(select, others.map(([run, number]) => [String(number), run.label, run.how === here ? "" : run.how]), "no other run");
      select.value = besideOf(unit);
      if (select.selectedIndex < 0) select.value = "";
      select.addEventListener("change", () => { location.hash = address(unit, select.value || NO_RUN); });
      bar.append(make("label", "", "compare with ", select));
    }
    bar.append(wildtool.calls.copier("Copy link", () => new URL(address(unit), location.href).href));
    const plain = state.runs[unit.run].plain;
    if (typeof plain === "number" && besideOf(unit) !== String(plain)) {
      const link = make("a", "plain", "beside the bare model");
      link.href = address(unit, String(plain));
      bar.append(link);
    }
    return bar;
  }

  // The run that a unit is shown beside: the one that was asked for, or the one that its list is compared with.
  function besideOf(unit) {
    const wanted = state.beside || field("against").value, run = state.runs[Number(wanted)];
    return wanted && wanted !== NO_RUN && run && Number(wanted) !== unit.run && run.set === state.runs[unit.run].set ? wanted : "";
  }

  async function open(unit) {
    state.open = unit;
    const rows = state.indexes.get(unit.run), item = itemOf(unit.run, unit.row), outcome = at(rows.outcome, unit.row);
    const found = await data(unit);
    let rival = null;
    if (besideOf(unit)) {
      const run = Number(besideOf(unit));
      await index(run);
      const theirs = state.indexes.get(run);
      const row = theirs.place.findIndex((place, at_) => place === rows.place[unit.row] && theirs.repeat[at_] === rows.repeat[unit.row] && at(theirs.unit, at_) === at(rows.unit, unit.row));
      if (row >= 0) rival = { run, row, found: await data({ run, row }) };
    }
    if (!same(state.open, unit)) return;  // Another was opened meanwhile.
    const repeat = rows.repeat[unit.row] ? ` · repeat ${rows.repeat[unit.row] + 1}` : "";
    const heading = make("h2", "", make("span", `mark ${outcome}`, OUTCOMES[outcome]), " ", make("bdi", "", item[0]), ` · unit ${at(rows.unit, unit.row)}${repeat}`);
    const label = (run) => make("p", "of", make("bdi", "", state.runs[run].label), make("small", "", ` ${state.runs[run].how}`));
    const accounts = [make("div", "", label(unit.run), account(unit, found))];
    if (rival) accounts.push(make("div", "", label(rival.run), account(rival, rival.found)));
    const tools = folded(`${found.before.tools.length} tools`, ...found.before.tools.map((text) => () => long(pretty(text), "pre", "said")));
    pane.replaceChildren(toolbar(unit), heading, make("div", rival ? "accounts two" : "accounts", ...accounts), tools);
    pane.hidden = false;
    root.classList.add("opened");
    const position = positionOf(unit);
    turnTo(position < 0 ? state.page : Math.floor(position / PAGE));
    pane.focus({ preventScroll: true });
    (list.offsetParent ? root : pane).scrollIntoView({ block: "start" });
    const current = list.querySelector("[aria-current]"), frame = list.parentNode;
    if (current && frame.scrollHeight > frame.clientHeight) {
      frame.scrollTop += current.getBoundingClientRect().top - frame.getBoundingClientRect().top - frame.clientHeight / 3;
    }
  }
  function close() {
    state.open = null;
    pane.hidden = true;
    root.classList.remove("opened");
    for (const link of list.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  }

  // ---- from the address to the page
  async function arrive() {
    if (root.closest("article").hidden) return;
    const query = wildtool.query();
    const run = query.get("of") === ALL ? ALL : query.get("run") || form.elements.run.value;
    form.elements.run.value = run;
    const unknown = [];
    if (form.elements.run.selectedIndex < 0) { unknown.push("run"); form.elements.run.value = String(state.order[0]); }
    state.beside = query.get("beside") || "";
    const against = query.get("against") || "";
    await Promise.all([...chosen(), ...(state.runs[Number(against)] && against ? [Number(against)] : [])].map(index));
    for (const key of FILTERS) if (field(key).tagName === "INPUT") field(key).value = query.get(key) || "";
    offer();
    for (const key of ["outcome", "error", "group", "number", "cross", "against"]) field(key).value = query.get(key) || "";
    field("differ").value = query.get("differ") || "any";
    offerValues();
    offerParts();
    field("value").value = query.get("value") || "";
    if (query.has("part")) field("part").value = query.get("part");
    unknown.push(...FILTERS.filter((key) => query.get(key) && field(key).value !== query.get(key)));
    for (const key of FILTERS) if (field(key).selectedIndex < 0) field(key).selectedIndex = 0;
    find();
    const unit = named(query);
    if (state.beside && state.beside !== NO_RUN && !state.runs[Number(state.beside)]) unknown.push("beside");
    if (query.get("item") && !unit) unknown.push("item", ...(query.get("unit") ? ["unit"] : []));
    if (unknown.length) status.append(`. Left out, since it is not here: ${wildtool.texts.visible(unknown.map((key) => `${key} “${query.get(key)}”`).join(", "))}`);
    const page = Number(query.get("page") || 1) - 1;
    if (page > 0 && page < pagesOf()) turnTo(page);
    if (unit) await open(unit); else close();
  }
  function named(query) {
    const run = Number(query.get("run")), rows = state.indexes.get(run);
    if (!query.get("item") || !rows) return null;
    const row = rows.place.findIndex((_, one) => itemOf(run, one)[0] === query.get("item") && at(rows.unit, one) === (query.get("unit") || at(rows.unit, one)) && rows.repeat[one] === Number(query.get("repeat") || 0));
    return row < 0 ? null : { run, row };
  }
  const failed = (error) => { status.textContent = `The data could not be loaded: ${error.message}`; };
  const remember = () => history.replaceState(null, "", address(null));
  async function changed(event) {
    const { name } = event.target;
    if (name === "run" || name === "against") await Promise.all([...chosen(), ...(field("against").value ? [Number(field("against").value)] : [])].map(index));
    if (name === "run") offer();
    if (name === "group") field("value").value = "";
    if (name === "group" || name === "against") offerValues();
    if (name === "number") { field("part").replaceChildren(); offerParts(); }
    close();
    find();
    remember();
  }
  function pressed(event) {
    if (root.closest("article").hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "/") { event.preventDefault(); form.elements.text.focus(); return; }
    const step = { j: 1, k: -1 }[event.key];
    if (step) {
      const position = state.open ? positionOf(state.open) + step : 0;
      if (state.found[position]) location.hash = address(state.found[position]);
    } else if (event.key === "u" && state.open) location.hash = address(null);
  }

  async function start() {
    root = document.getElementById("trajectories");
    form = root.querySelector("form");
    status = root.querySelector("[role=status]");
    list = root.querySelector("ol");
    pager = root.querySelector("[role=group]");
    pane = root.querySelector(".trajectory");
    if (wildtool.inOneFile() && location.hash.slice(1).split("?")[0] !== SLUG) {
      // Another page of the file is shown; nothing is loaded before this one is asked for.
      await new Promise((turned) => addEventListener("hashchange", function look() {
        if (location.hash.slice(1).split("?")[0] === SLUG) { removeEventListener("hashchange", look); turned(); }
      }));
    }
    Object.assign(state, await wildtool.load("t"));
    const units = state.runs.reduce((sum, run) => sum + run.units, 0);
    choose(form.elements.run, state.order.map((number) => [String(number), state.runs[number].label, tables() > 1 ? state.runs[number].how : ""]), "");
    form.elements.run.options[0].value = ALL;
    form.elements.run.options[0].textContent = "all runs";
    const first = () => { form.elements.run.value = units <= FEW_UNITS ? ALL : String(state.order[0]); };
    first();
    form.addEventListener("input", (event) => changed(event).catch(failed));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => { first(); for (const key of FILTERS) field(key).value = ""; state.page = 0; location.hash = address(null); }));
    addEventListener("hashchange", () => arrive().catch(failed));
    addEventListener("keydown", pressed);
    await arrive();
  }
  document.addEventListener("DOMContentLoaded", () => start().catch(failed));
})();
