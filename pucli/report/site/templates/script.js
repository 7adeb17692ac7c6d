// Sort tables by a click on a heading, and filter rows by words. Without it everything can be read; radio buttons filter
// by verdict and data set (style sheet).
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (!heading.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sort(table, headings, column));
  });
}

function sort(table, headings, column) {
  const up = headings[column].getAttribute("aria-sort") !== "ascending";
  headings.forEach((heading) => heading.removeAttribute("aria-sort"));
  headings[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
  rows.sort(([a], [b]) => (up ? 1 : -1) * compare(a, b));
  body.append(...rows.map(([, row]) => row));
}

function key(cell) {
  const text = cell.dataset.key ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

for (const tools of document.querySelectorAll(".tools")) {
  tools.hidden = false;
  const rows = [...document.getElementById(tools.dataset.table).tBodies[0].rows];
  const words = tools.querySelector("input");
  const count = tools.querySelector("output");
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
    const shown = rows.filter((row) => getComputedStyle(row).display !== "none").length;
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  words.addEventListener("input", show);
  tools.parentElement.addEventListener("change", show);
  show();
}
