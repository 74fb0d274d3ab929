"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const rows = Array.from(document.querySelectorAll("#ranking tbody tr"));

  // The slider: marker of the path, bars, table and code follow it.
  const slider = byId("size");
  const line = document.querySelector(".chart.path .marker");
  const here = line && document.createElementNS(line.namespaceURI, "circle");
  if (here) {
    here.setAttribute("class", "here");
    here.setAttribute("r", "4");
    here.setAttribute("visibility", "hidden");
    line.parentNode.append(here);
  }

  function moveMarker(stop) {
    if (!line) return;
    line.setAttribute("x1", stop.x);
    line.setAttribute("x2", stop.x);
    here.setAttribute("visibility", stop.y === null ? "hidden" : "visible");
    if (stop.y === null) return;
    here.setAttribute("cx", stop.x);
    here.setAttribute("cy", stop.y);
  }

  function markSelected(size) {
    for (const row of rows) {
      const original = size === data.selected;
      const selected = original ? "selected" in row.dataset : Number(row.dataset.place) <= size;
      row.classList.toggle("selected", selected);
      const mark = row.querySelector(".mark");
      if (mark) mark.textContent = selected ? "✓" : "";
    }
  }

  function update() {
    const stop = data.stops[slider.value];
    moveMarker(stop);
    markSelected(stop.size);
    byId("size-output").textContent = stop.text;
    slider.setAttribute("aria-valuetext", stop.text);
    byId("size-reset").hidden = stop.size === data.selected;
    for (const part of document.querySelectorAll(".changeable")) {
      part.textContent = stop.size === data.selected ? part.dataset.original : String(stop.number);
    }
  }

  const start = data.stops.findIndex((stop) => stop.size === data.selected);
  if (data.stops.length > 1 && start >= 0) {
    slider.value = start;
    slider.addEventListener("input", update);
    byId("size-reset").addEventListener("click", () => {
      slider.value = start;
      slider.focus();
      update();
    });
    byId("size-control").hidden = false;
    update();
  }

  // The table: a word filters it, a heading sorts it.
  const filter = byId("filter");
  filter.addEventListener("input", () => {
    const word = filter.value.toLocaleLowerCase();
    let shown = 0;
    for (const row of rows) {
      const name = row.querySelector("th");
      row.hidden = !(name.title || name.textContent).toLocaleLowerCase().includes(word);
      shown += row.hidden ? 0 : 1;
    }
    byId("filter-output").textContent = word ? `${shown} of ${rows.length}` : "";
  });
  byId("filter-control").hidden = rows.length < 15;

  function compared(a, b, column, numeric) {
    const [left, right] = [a, b].map((row) => row.cells[column]);
    if (!numeric) return left.textContent.localeCompare(right.textContent);
    return left.dataset.value - right.dataset.value;
  }

  function sortBy(heading, column) {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    const numeric = heading.dataset.sort === "number";
    const known = (row) => !numeric || row.cells[column].dataset.value !== "";
    const sign = direction === "ascending" ? 1 : -1;
    // Rows without a value stay below, whichever way the others go.
    const order = rows.filter(known).sort((a, b) => sign * compared(a, b, column, numeric));
    document.querySelector("#ranking tbody").append(...order, ...rows.filter((row) => !known(row)));
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction);
  }

  document.querySelectorAll("#ranking thead th").forEach((heading, column) => {
    if (!heading.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sortBy(heading, column));
    heading.replaceChildren(button);
  });
})();
