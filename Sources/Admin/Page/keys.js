// The keys of the page: they go to the filter, from row to row, and to the page of a row's host.

import { viewLink } from "./parts.js";

/** `filter` is the field, `help` the dialog that lists the keys. */
export function bindKeys(filter, help) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    if (event.target === filter) return leaveFilter(event, filter);
    if (event.target.closest("input, select, textarea") || document.getElementById("content").hidden) return;
    const acts = {
      "/": () => {
        filter.focus();
        filter.select();
      },
      j: () => step(1),
      k: () => step(-1),
      "?": () => help.showModal(),
      Enter: () => openRow(event.target),
      Escape: () => clear(filter),
    };
    const act = acts[event.key];
    if (!act || (event.key === "Enter" && !isRow(event.target))) return;
    event.preventDefault();
    act();
  });
}

const isRow = (node) => node.classList?.contains("row");

function leaveFilter(event, filter) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  clear(filter);
  filter.blur();
}

function clear(filter) {
  if (!filter.value) return;
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
}

function step(by) {
  const rows = [...document.querySelectorAll("#content .row")].filter((row) => row.offsetParent !== null);
  const place = rows.indexOf(document.activeElement?.closest(".row"));
  const row = rows[place < 0 ? (by > 0 ? 0 : rows.length - 1) : place + by];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

function openRow(node) {
  if (node.dataset.host) location.hash = viewLink(null, node.dataset.host);
}
