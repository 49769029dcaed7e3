// The parts that sections are made of.

import { element, foreign, keep, plural, printable } from "./elements.js";

export const address = (space) => {
  const host = space.host.includes(":") ? `[${space.host}]` : space.host;
  return `${space.protocol === "socks" ? "socks5" : space.protocol}://${host}:${space.port || "*"}`;
};

/** A rule with its name and its place; undefined without a rule. */
export const ruleText = (rule) => rule && `${rule.name ? `"${rule.name}" ` : ""}(${rule.file.split("/").at(-1)}:${rule.line})`;

export const keyOf = (space, ...more) =>
  JSON.stringify([space.protocol, space.host, space.port, space.proxy, space.realm, space.method, ...more]);

/** The address of a section, perhaps of what it knows of a host; or of a host's page. Its names are no ids of elements, to which the browser would scroll. */
export const viewLink = (section, host = null) =>
  `#${[section === null ? [] : [`section=${section}`], host === null ? [] : [`host=${encodeURIComponent(host)}`]].flat().join("&")}`;

/** A link to the page of a host. */
export const hostLink = (host, text) =>
  element("a", { class: "foreign address", href: viewLink(null, host) }, printable(text));

/** The server of a space and its realm. */
export function place(space) {
  return element(
    "div",
    { class: "place" },
    space.proxy ? element("span", { class: "tag" }, "parent") : null,
    space.listener ? element("span", { class: "tag" }, "listener") : null,
    hostLink(space.host, address(space)),
    space.realm === undefined ? null : foreign(`“${space.realm}”`, "realm"),
  );
}

/** What a response said that challenged; null where nothing is known of it. */
export function saying(response) {
  if (!response) return null;
  return element("p", { class: "meta" }, `The server answered ${response.status}`, response.text ? ": " : ".", response.text ? foreign(response.text) : null);
}

/** A part that is made when it is opened, so that a closed one costs no elements. */
export function details(name, summary, make) {
  const node = element("details", { "data-name": name }, element("summary", { "data-name": `${name} summary` }, summary));
  node.addEventListener("toggle", () => {
    if (node.open && node.childElementCount === 1) node.append(make());
  });
  return node;
}

export const plainList = (texts) => element("ul", { class: "plain" }, ...texts.map((text) => element("li", {}, foreign(text, "mono"))));

const format = new Intl.NumberFormat("en");

export const number = (value) => format.format(value);

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

/** Rows of one page of a section; of a host's page; and of the overview, which shows the beginning of each section. Cards are larger. */
const limits = { section: 50, host: 10, rows: 5, cards: 3 };

/** A section: a list with what is urgent first, of which the filter leaves a part, and 50 are shown at a time. */
export class Section {
  /**
   * `titles`: the title, and a shorter one for the link. `nothing`: the next step while the list is empty. `columns` make it
   * a table with the caption `caption`; without them it is a list of cards. `make` makes a row or a card of an entry, `keyOf`
   * tells entries apart. `words` are the texts that the filter searches, `hosts` the hosts that the entry is about. `isDue`
   * tells whether the entry needs a person, and `due` names one such and several. `rank` sorts, the smallest first.
   */
  constructor({ id, titles, nothing, caption, columns, make, keyOf, words, hosts, isDue = () => false, due, rank, intro, tools }) {
    const [title, short = title] = [titles].flat();
    Object.assign(this, { id, title, make, keyOf, words, hosts, isDue, due });
    this.rank = rank ?? ((entry) => (this.isDue(entry) ? 0 : 1));
    this.entries = [];
    this.total = 0;
    this.page = 0;
    this.count = element("span", { class: "count" });
    this.link = element("a", { href: viewLink(id) }, short, " ", this.count);
    this.badge = element("span", { class: "count" });
    this.nothing = element("p", { class: "nothing" }, nothing);
    this.noMatch = element("p", { class: "nothing", hidden: true }, "Nothing here matches the filter.");
    this.table = columns ? table(caption, columns) : null;
    this.list = this.table?.body ?? element("div", { class: "cards" });
    this.back = this.turner("Previous", -1);
    this.forth = this.turner("Next", 1);
    this.range = element("span", { class: "meta", role: "status" });
    this.pages = element("div", { class: "pages" }, this.back, this.range, this.forth);
    this.more = element("a", { class: "more" });
    this.body = element("div", { class: "body" }, intro ?? null, tools ?? null, this.table?.node ?? this.list, this.pages, this.more);
    this.node = element(
      "section",
      { id, "aria-labelledby": `${id}-title` },
      element("h2", { id: `${id}-title` }, title, " ", this.badge),
      this.nothing,
      this.noMatch,
      this.body,
    );
  }

  turner(text, step) {
    const button = element("button", { type: "button", class: "small", "data-name": text, "aria-label": `${text} page of ${this.title}` }, text);
    button.addEventListener("click", () => {
      this.page += step;
      this.show(this.view);
      // The other one, where this one has nothing left to turn to.
      if (button.disabled) (step > 0 ? this.back : this.forth).focus();
      this.node.scrollIntoView();
    });
    return button;
  }

  /** The entries that the proxy has sent, of `total` that it has. */
  take({ total, entries }) {
    this.total = total;
    this.entries = entries.map((entry) => [this.rank(entry), entry]).sort(([one], [other]) => one - other).map(([, entry]) => entry);
    this.dueCount = entries.reduce((count, entry) => count + (this.isDue(entry) ? 1 : 0), 0);
    if (this.view) this.show(this.view);
  }

  /** The entries that a view leaves. */
  matching({ host, words }) {
    if (host === null && !words.length) return this.entries;
    return this.entries.filter((entry) => {
      if (host !== null && !this.hosts(entry).includes(host)) return false;
      if (!words.length) return true;
      const text = this.words(entry).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  /**
   * Shows what a view leaves of it. A view has `section`, the one that is open alone, `host`, the one whose page it is, and
   * `words`, those of the filter; null: none.
   */
  show(view) {
    if (!this.view || view.section !== this.view.section || view.words.join(" ") !== this.view.words.join(" ")) this.page = 0;
    this.view = view;
    const [isOpen, isFiltered] = [view.section === this.id, view.host !== null || view.words.length > 0];
    const entries = this.matching(view);
    this.matchCount = entries.length;
    this.tell(entries.length, view.words.length > 0);
    this.node.hidden = !isOpen && (view.section !== null || (isFiltered && entries.length === 0));
    this.nothing.hidden = this.entries.length > 0;
    this.noMatch.hidden = this.entries.length === 0 || entries.length > 0;
    this.body.hidden = entries.length === 0;
    const limit = isOpen ? limits.section : view.host !== null ? limits.host : this.table ? limits.rows : limits.cards;
    const last = Math.max(0, Math.ceil(entries.length / limit) - 1);
    this.page = isOpen ? Math.min(Math.max(0, this.page), last) : 0;
    const start = this.page * limit;
    const shown = this.node.hidden ? [] : entries.slice(start, start + limit);
    keep(this.list, shown, this.keyOf, (entry) => this.row(entry));
    this.pages.hidden = !isOpen || last === 0;
    this.back.disabled = this.page === 0;
    this.forth.disabled = this.page === last;
    this.range.textContent = `${number(start + 1)}–${number(start + shown.length)} of ${number(entries.length)}`;
    this.more.hidden = isOpen || shown.length === entries.length;
    this.more.textContent = `Show all ${number(entries.length)}`;
    this.more.href = viewLink(this.id, view.host);
  }

  row(entry) {
    const node = this.make(entry);
    node.classList.add("row");
    // By `j` and `k`.
    node.tabIndex = -1;
    node.dataset.host = this.hosts(entry)[0] ?? "";
    return node;
  }

  /** The counts beside the link and the title. */
  tell(match, isFiltered) {
    const due = this.dueCount ?? 0;
    const all = isFiltered ? `${number(match)} of ${number(this.total)}` : number(due || this.total);
    this.count.textContent = this.total ? all : "";
    const sent = this.view.host === null && !isFiltered ? this.entries.length : match;
    this.badge.textContent = !this.total ? "" : sent === this.total ? number(sent) : `${number(sent)} of ${number(this.total)}`;
    this.count.classList.toggle("due", due > 0);
    this.badge.classList.toggle("due", due > 0 && due === this.total);
  }

  /** What needs a person, in words; null: nothing. */
  get dueWords() {
    return this.due && this.dueCount ? plural(this.dueCount, ...this.due) : null;
  }
}

/** A table whose cells carry their column's name, for narrow screens. */
export function table(caption, columns) {
  const body = element("tbody");
  const node = element(
    "table",
    {},
    element("caption", { class: "unseen" }, caption),
    element("thead", {}, element("tr", {}, ...columns.map(([name, kind]) => element("th", { scope: "col", class: kind }, name || element("span", { class: "unseen" }, "Action"))))),
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
