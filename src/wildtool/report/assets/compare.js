// Models side by side: draws the table again for another baseline, from the shard of all pairs.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const points = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;
  const cell = (kind, text, value) => {
    const made = document.createElement(kind);
    if (value !== undefined) made.dataset.value = value;
    made.textContent = text;
    return made;
  };
  for (const place of document.querySelectorAll(".sides")) {
    const select = place.querySelector("select"), body = place.querySelector("tbody");
    select.addEventListener("change", async () => {
      const data = await wildtool.load(place.dataset.shard), baseline = Number(select.value);
      place.querySelector("[data-baseline]").textContent = data.models[baseline];
      const figure = place.querySelector("figure");
      if (figure) figure.hidden = baseline !== 0;
      body.replaceChildren();
      data.models.forEach((name, index) => {
        const pair = data.pairs[baseline][index];
        if (!pair) return;
        const [difference, low, high, p, gained, lost, missing, units] = pair;
        const row = document.createElement("tr"), head = cell("th", ""), label = document.createElement("bdi"), strong = document.createElement("b");
        head.scope = "row";
        label.textContent = name;
        head.append(label);
        const first = cell("td", "", difference);
        strong.textContent = points(difference);
        first.append(strong);
        row.append(head, first, cell("td", `${points(low)} … ${points(high)}`, difference), cell("td", p < 0.0001 ? "< 0.0001" : p.toFixed(4), p),
          cell("td", gained, gained), cell("td", lost, lost),
          cell("td", p < 0.05 ? (difference > 0 ? "better" : "worse")
            : missing ? `no finding: ${missing} of ${units} units without a verdict` : "not distinguishable"));
        body.append(row);
      });
    });
  }
});
