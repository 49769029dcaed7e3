// What sections are made of.

import { element, foreign } from "./elements.js";

export const address = (space) => {
  const host = space.host.includes(":") ? `[${space.host}]` : space.host;
  return `${space.protocol === "socks" ? "socks5" : space.protocol}://${host}:${space.port || "*"}`;
};

export const keyOf = (space, ...more) =>
  JSON.stringify([space.protocol, space.host, space.port, space.proxy, space.realm, space.method, ...more]);

/** The server of a space and its realm. */
export function place(space) {
  return element(
    "div",
    { class: "place" },
    space.proxy ? element("span", { class: "tag" }, "parent") : null,
    space.listener ? element("span", { class: "tag" }, "listener") : null,
    foreign(address(space), "address"),
    space.realm === undefined ? null : foreign(`“${space.realm}”`, "realm"),
  );
}

/** What a response said that challenged; null where nothing is known of it. */
export function saying(response) {
  if (!response) return null;
  return element("p", { class: "meta" }, `The server answered ${response.status}`, response.text ? ": " : ".", response.text ? foreign(response.text) : null);
}

export const number = (value) => value.toLocaleString("en");

export const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
};

export const milliseconds = (value) => {
  if (value >= 1000) return `${(value / 1000).toFixed(value >= 10_000 ? 0 : 1)} s`;
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ms`;
};

export class Section {
  /**
   * `count` is what its link says behind the name, and an empty one is told by `nothing`. A title of two texts has a shorter
   * one for the link.
   */
  constructor(id, titles, nothing, ...content) {
    const [title, short = title] = [titles].flat();
    this.count = element("span", { class: "count" });
    this.link = element("a", { href: `#${id}` }, short, " ", this.count);
    this.badge = element("span", { class: "count" });
    this.nothing = element("p", { class: "nothing" }, nothing);
    this.body = element("div", { class: "body" }, ...content);
    this.node = element(
      "section",
      { id, "aria-labelledby": `${id}-title` },
      element("h2", { id: `${id}-title` }, title, " ", this.badge),
      this.nothing,
      this.body,
    );
    this.tell(0);
  }

  /** `due` of so many need somebody; those are counted, if there are any. */
  tell(count, due = 0) {
    for (const node of [this.count, this.badge]) {
      node.textContent = count ? number(due || count) : "";
      node.classList.toggle("due", due > 0);
    }
    this.nothing.hidden = count > 0;
    this.body.hidden = count === 0;
  }
}

/** A table whose cells carry their column's name, for narrow screens. */
export function table(caption, columns) {
  const body = element("tbody");
  const node = element(
    "table",
    {},
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...columns.map(([name, kind]) => element("th", { scope: "col", class: kind }, name)))),
    body,
  );
  const row = (...cells) =>
    element(
      "tr",
      {},
      ...cells.map((cell, index) => element("td", { class: columns[index][1], "data-label": columns[index][0] }, cell ?? "")),
    );
  return { node: element("div", { class: "scroll" }, node), body, row };
}
