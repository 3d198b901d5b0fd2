// Adds to tables with checkboxes: a checkbox that selects all rows, and the number of selected rows.
(() => {
  "use strict";

  const boxes = () => [...document.querySelectorAll("input[name=ticked]")];

  function offerAll() {
    const all = document.querySelector("[data-tick-all]");
    if (!all) return;
    all.hidden = false;
    all.onchange = () => boxes().forEach((box) => (box.checked = all.checked));
  }

  /** Shows the number of selected rows. Returns the sentence with the number. */
  function showCount() {
    const count = document.querySelector("[data-ticked]");
    if (count) count.textContent = boxes().filter((box) => box.checked).length;
    return count?.parentElement.textContent ?? "";
  }

  function refresh() {
    offerAll();
    showCount();
  }

  refresh();
  document.addEventListener("htmx:after:swap", refresh);
  // Announces the number only after a change by the user: a refresh of the table changes no selection.
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[name=ticked], [data-tick-all]")) document.getElementById("announcer").textContent = showCount();
  });
})();
