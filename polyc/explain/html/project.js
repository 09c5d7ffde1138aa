"use strict";
/* Tables are sorted by a click on a column's head; a link to a line opens the source that it is in. */
const value = (row, column) => row.cells[column].textContent.trim();
const compared = (one, other) => {
  const a = parseFloat(one), b = parseFloat(other);
  return /^[-\d.]+$/.test(one) && /^[-\d.]+$/.test(other) ? a - b : one.localeCompare(other, "en", { numeric: true });
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const numbers = table.tBodies[0].rows.length > 0 && table.tBodies[0].rows[0].cells[column].classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const down = before === "none" ? numbers : before === "ascending";
    heads.forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => (down ? -1 : 1) * compared(value(one, column), value(other, column)));
    table.tBodies[0].append(...rows);
  }));
}
const shown = () => {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  const around = target === null ? null : target.closest("details");
  if (around !== null) {
    around.open = true;
    target.scrollIntoView({ block: "center" });
  }
};
addEventListener("hashchange", shown);
shown();
