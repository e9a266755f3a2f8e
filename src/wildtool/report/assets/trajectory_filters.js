// Which units of a run fit the filters of the trajectories page. Data: `trajectory_data.py`.
"use strict";
wildtool.filters = (() => {
  const MISSING = new Set(["infra_error", "unplayed"]);
  const at = (column, row) => column.values[column.at[row]];

  // A set of rows, as text in base 64, as a function of a row.
  function members(text) {
    const bytes = atob(text);
    return (row) => Boolean(bytes.charCodeAt(row >> 3) >> (row & 7) & 1);
  }

  // The units behind a number of a run; null for a number that the run does not have.
  function number(numbers, name) {
    const found = numbers.numbers.find(([its]) => its === name);
    if (!found) return null;
    const [, formula, byUnit, lostFirst, ...sets] = found;
    const [counted, adding, losing] = sets.map((its) => members(numbers.sets[its]));
    return {
      formula, byUnit,
      // What readers look for: the units that lose points, or those that have what is counted.
      first: lostFirst ? "lost" : byUnit ? "counted" : "all",
      parts: { all: counted, lost: (row) => counted(row) && losing(row), counted: (row) => counted(row) && adding(row) },
    };
  }

  // How often each unit was right, and how often it could have been: by place and unit of its item.
  const shares = new WeakMap();
  function sharesOf(rows) {
    if (!shares.has(rows)) {
      const its = new Map();
      rows.place.forEach((place, row) => {
        const key = keyOf(rows, row), share = its.get(key) || { right: 0, open: 0, tries: 0 }, outcome = at(rows.outcome, row);
        share.tries += 1;
        if (outcome === "correct") share.right += 1;
        else if (MISSING.has(outcome)) share.open += 1;
        its.set(key, share);
      });
      shares.set(rows, its);
    }
    return shares.get(rows);
  }
  const keyOf = (rows, row) => `${rows.place[row]} ${at(rows.unit, row)}`;

  // Which rows of a run are of units that it got right more often than the baseline (`gained`), or less often (`lost`),
  // whatever attempts without a verdict would have been: as `wildtool compare --flips` has it.
  function differing(rows, baseline, how) {
    const own = sharesOf(rows), theirs = sharesOf(baseline);
    return (row) => {
      const after = own.get(keyOf(rows, row)), before = theirs.get(keyOf(rows, row));
      if (!before) return false;
      const gained = (before.right + before.open) * after.tries < after.right * before.tries;
      const lost = (after.right + after.open) * before.tries < before.right * after.tries;
      return how === "gained" ? gained : how === "lost" ? lost : gained || lost;
    };
  }

  return { at, number, differing };
})();
