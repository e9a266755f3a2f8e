// Models side by side: draws the table again for another baseline, from the shard of all pairs. The address names the
// baseline.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  // What rounds to zero is not negative, as in `format_points`.
  const points = (share) => (100 * share).toFixed(1).replace(/^-(?=0\.0$)/, "").replace(/^(?!-)/, "+");
  const cell = (kind, value, ...content) => {
    const made = document.createElement(kind);
    if (value !== undefined) made.dataset.value = value;
    made.append(...content);
    return made;
  };
  const element = (kind, text) => { const made = document.createElement(kind); made.textContent = text; return made; };
  // The address of units that two runs differ on, as `links.py` writes it.
  const units = (run, against, differ, count) => {
    const link = element("a", count), query = new URLSearchParams({ run, against, differ });
    link.href = wildtool.inOneFile() ? `#trajectories?${query}` : `trajectories.html#${query}`;
    return link;
  };

  async function draw(place, baseline) {
    const data = await wildtool.load(place.dataset.shard), table = place.querySelector("table"), body = table.tBodies[0];
    place.querySelector("[data-baseline]").textContent = data.models[baseline];
    const figure = place.querySelector("figure");
    if (figure) figure.hidden = baseline !== 0;
    body.replaceChildren();
    data.models.forEach((name, index) => {
      const pair = data.pairs[baseline][index];
      if (!pair) return;
      const [difference, low, high, p, written, gained, lost, finding, said] = pair;
      const row = document.createElement("tr"), head = cell("th", undefined, element("bdi", name));
      head.scope = "row";
      const counts = [["gained", gained], ["lost", lost]].map(([how, count]) => cell("td", count, units(data.runs[index], data.runs[baseline], how, count)));
      const differing = element("b", "");
      differing.append(units(data.runs[index], data.runs[baseline], "any", said));
      row.append(head, cell("td", difference, differing), cell("td", difference, `${points(low)} … ${points(high)}`),
        cell("td", p, written), ...counts, cell("td", undefined, finding));
      body.append(row);
    });
    table.dispatchEvent(new Event("redrawn"));
  }

  for (const place of document.querySelectorAll(".sides[data-shard]")) {
    const select = place.querySelector("select");
    let drawn = 0;
    const show = async () => {
      const baseline = Number(select.value);
      if (baseline === drawn) return;
      drawn = baseline;
      await draw(place, baseline);
    };
    const arrive = () => {
      if (!wildtool.addresses.isShown(place)) return;
      select.value = wildtool.query().get("baseline") || "0";
      if (select.selectedIndex < 0) select.value = "0";
      show();
    };
    select.addEventListener("change", () => {
      wildtool.addresses.set(wildtool.addresses.slugOf(place), { baseline: select.value === "0" ? "" : select.value });
      show();
    });
    addEventListener("hashchange", arrive);
    arrive();
  }
});
