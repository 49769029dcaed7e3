// The sections of the page, each a view of one part of what the proxy tells.

import { Chart } from "./charts.js";
import { element, foreign, keep, lines, moment, plural } from "./elements.js";
import { act } from "./session.js";

const outcomes = {
  answered: "answered",
  passed: "passed on",
  cancelled: "refused, 502",
  declined: "no certificate shown",
  unseen: "not seen, tunnel",
};

const address = (space) => {
  const host = space.host.includes(":") ? `[${space.host}]` : space.host;
  return `${space.protocol === "socks" ? "socks5" : space.protocol}://${host}:${space.port}`;
};

const keyOf = (space, ...more) =>
  JSON.stringify([space.protocol, space.host, space.port, space.proxy, space.realm, space.method, ...more]);

/** The server of a space and its realm. */
function place(space) {
  return element(
    "div",
    { class: "place" },
    space.proxy ? element("span", { class: "tag" }, "parent") : null,
    foreign(address(space), "address"),
    space.realm === undefined ? null : foreign(`“${space.realm}”`, "realm"),
  );
}

const number = (value) => value.toLocaleString("en");

const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
};

const milliseconds = (value) => {
  if (value >= 1000) return `${(value / 1000).toFixed(value >= 10_000 ? 0 : 1)} s`;
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ms`;
};

class Section {
  /** `count` is what its link says behind the name, and an empty one is told by `nothing`. */
  constructor(id, title, nothing, ...content) {
    this.count = element("span", { class: "count" });
    this.link = element("a", { href: `#${id}` }, title, " ", this.count);
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

  tell(count, needsSomebody = false) {
    for (const node of [this.count, this.badge]) {
      node.textContent = count ? number(count) : "";
      node.classList.toggle("due", needsSomebody && count > 0);
    }
    this.nothing.hidden = count > 0;
    this.body.hidden = count === 0;
  }
}

/** A table whose cells carry their column's name, for narrow screens. */
function table(caption, columns) {
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

export class Sections {
  constructor(parent, links, perform) {
    this.perform = perform;
    this.samples = [];
    this.status = {};
    this.overview = this.makeOverview();
    this.unanswered = new Section("unanswered", "Unanswered", "Every challenge that the proxy has met was answered.");
    this.parked = new Section("parked", "Parked credentials", "No server has refused a credential.");
    this.parkedTable = table("Credentials that servers refused", [
      ["Credential"], ["Refused for"], ["Since", "short"], ["Next try", "short"], ["", "act"],
    ]);
    this.parked.body.append(this.parkedTable.node);
    this.challenges = new Section("challenges", "Challenges", "No server has asked for anything yet.");
    this.makeChallenges();
    this.migration = new Section("migration", "To be replaced", "No answer is given by NTLM, by MD5 or in clear.");
    this.migrationTable = table("Answers by ways that are on their way out", [
      ["Finding"], ["Server"], ["Credential"], ["Last", "short"], ["Times", "number"],
    ]);
    this.migration.body.append(
      element("p", {}, "These servers are answered by ways that others on the network can read or break."),
      this.migrationTable.node,
    );
    this.all = [this.overview, this.unanswered, this.parked, this.challenges, this.migration];
    links.replaceChildren(...this.all.map(({ link }) => link));
    parent.replaceChildren(...this.all.map(({ node }) => node));
  }

  /** A part of what the proxy tells has changed. */
  take(name, value) {
    const show = { load: "showLoad", status: "showStatus", challenges: "showChallenges", parked: "showParked", migration: "showMigration" }[name];
    if (show) this[show](value);
  }

  // Overview

  makeOverview() {
    this.traffic = new Chart(
      "Requests a second",
      [
        { name: "all", kind: "all", value: (sample) => sample.requests },
        { name: "failed", kind: "failed", value: (sample) => sample.failed },
      ],
      number,
    );
    this.latency = new Chart(
      "Time of a request",
      [
        { name: "95 of 100 within", kind: "slow", value: (sample) => (sample.slow === undefined ? undefined : sample.slow / 100) },
        { name: "half within", kind: "all", value: (sample) => (sample.median === undefined ? undefined : sample.median / 100) },
      ],
      milliseconds,
    );
    this.tiles = element("dl", { class: "tiles" });
    this.warnings = element("div", { class: "warnings" });
    this.facts = element("dl", { class: "facts" });
    const overview = new Section(
      "overview", "Overview", "", this.warnings, this.tiles,
      element("div", { class: "charts" }, this.traffic.node, this.latency.node), this.facts,
    );
    overview.nothing.remove();
    overview.tell = () => {};
    overview.body.hidden = false;
    return overview;
  }

  showLoad(samples) {
    const last = this.samples.at(-1)?.time ?? 0;
    this.samples = [...this.samples, ...samples.filter(({ time }) => time > last)].slice(-300);
    this.traffic.show(this.samples);
    this.latency.show(this.samples);
    this.showTiles();
  }

  showTiles() {
    const recent = this.samples.slice(-60);
    const sum = (name) => recent.reduce((total, sample) => total + sample[name], 0);
    const last = this.samples.at(-1) ?? {};
    this.fillList(this.tiles, [
      ["Clients", number(last.clients ?? 0), "connected"],
      ["Requests", number(sum("requests")), "last minute"],
      ["Failed", number(sum("failed")), "last minute"],
      ["Received", bytes(sum("in")), "last minute"],
      ["Sent", bytes(sum("out")), "last minute"],
      ["Challenges answered", number(sum("answered")), "last minute"],
      ["Not answered", number(sum("unanswered")), "last minute"],
    ]);
  }

  fillList(list, rows) {
    keep(list, rows, ([name]) => name, ([name, value, more]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value, more ? element("small", {}, more) : null)),
    );
  }

  showStatus(status) {
    this.status = status;
    document.title = status.unanswered ? `(${status.unanswered}) Attaché` : "Attaché";
    const rules = [
      plural(status.routes, "route"), plural(status.challenge_rules, "challenge rule"),
      plural(status.credentials, "credential"), plural(status.parents, "parent"),
    ].join(", ");
    const rows = [
      ["Listens on", status.listeners.join(" ")],
      ["Rule file", `${status.rule_file}: ${rules}`],
      ["Rules loaded", { time: status.rules_loaded }],
      ["Credential store", status.store ?? "none"],
      ["Running", { time: status.started }],
      ["Version", `${status.version}, process ${status.process}`],
    ];
    keep(this.facts, rows, ([name]) => name, ([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value.time ? moment(value.time) : foreign(value))),
    );
    const warnings = [];
    if (status.rejected_because) warnings.push(["A newer rule file was rejected", status.rejected_because]);
    if (status.store_problem) warnings.push(["The credential store", status.store_problem]);
    keep(this.warnings, warnings, ([title]) => title, ([title, text]) =>
      element("p", { class: "warning" }, element("b", {}, `${title}: `), foreign(text)),
    );
  }

  // Challenges

  makeChallenges() {
    this.filter = element("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false" });
    this.filter.addEventListener("input", () => this.showChallenges(this.entries));
    this.challengeTable = table("Challenges, the last one first", [
      ["Last", "short"], ["Scheme", "short"], ["Server"], ["Outcome"], ["Rule"], ["Credential"], ["Times", "number"],
    ]);
    this.entries = [];
    this.none = element("p", { class: "nothing", hidden: true }, "None of the challenges has that in it.");
    this.challenges.body.append(
      element("div", { class: "field filter" }, element("label", { for: "filter" }, "Filter"), this.filter),
      this.challengeTable.node,
      this.none,
    );
  }

  showChallenges(entries) {
    this.entries = entries;
    const unanswered = entries.filter(({ outcome }) => outcome !== "answered");
    this.unanswered.tell(unanswered.length, true);
    keep(this.unanswered.body, unanswered, (entry) => keyOf(entry, entry.scheme), (entry) => this.makeCard(entry));
    this.challenges.tell(entries.length);
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = entries.filter((entry) => {
      const text = [address(entry), entry.realm, entry.scheme, outcomes[entry.outcome], entry.rule, entry.credential].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    this.none.hidden = shown.length > 0;
    keep(this.challengeTable.body, shown, (entry) => keyOf(entry, entry.scheme), (entry) => this.makeRow(entry));
  }

  makeCard(entry) {
    const suggestion = entry.suggestion.join("\n");
    const details = [...entry.challenges.map((line) => ["the server says", line]), ...entry.rules.map((line) => ["rule", line])];
    return element(
      "article",
      { class: "card" },
      element(
        "header",
        {},
        element("span", { class: "tag scheme" }, foreign(entry.scheme || "no challenge")),
        place(entry),
        element("span", { class: "meta" }, `${plural(entry.count, "time")}, last `, moment(entry.last)),
      ),
      element("p", { class: "reason" }, foreign(entry.reason ?? "Nobody knows why.")),
      entry.failures ? element("p", { class: "meta" }, `${plural(entry.failures, "answer")} refused`) : null,
      suggestion
        ? element(
            "div",
            { class: "suggestion" },
            element("p", {}, "To have it answered, put into ", foreign(this.status.rule_file ?? "the rule file"), ", then run ", element("code", {}, "attache reload"), ":"),
            lines(suggestion, `lines for ${address(entry)}`),
          )
        : null,
      details.length
        ? element(
            "details",
            { "data-name": "details" },
            element("summary", { "data-name": "summary" }, "What the server said, and the rules that were asked"),
            element("ul", { class: "plain" }, ...details.map(([, line]) => element("li", {}, foreign(line, "mono")))),
          )
        : null,
    );
  }

  makeRow(entry) {
    const isAnswered = entry.outcome === "answered";
    return this.challengeTable.row(
      moment(entry.last),
      foreign(entry.scheme || "none"),
      place(entry),
      element(
        "div",
        {},
        element("span", { class: `outcome ${isAnswered ? "good" : "bad"}` }, outcomes[entry.outcome] ?? entry.outcome),
        entry.reason ? element("div", { class: "meta" }, foreign(entry.reason)) : null,
      ),
      entry.rule ? foreign(`${entry.rule}: ${entry.disposition}`) : entry.disposition,
      entry.credential ? foreign(entry.credential) : "–",
      number(entry.count),
    );
  }

  // Parked credentials

  showParked(entries) {
    this.parked.tell(entries.length, true);
    keep(this.parkedTable.body, entries, (entry) => keyOf(entry, entry.credential), (entry) => {
      const button = element("button", { type: "button", class: "small", "data-name": "retry" }, "Try again");
      button.addEventListener("click", () =>
        this.perform(() =>
          act("parked/retry", { host: entry.host, port: entry.port, protocol: entry.protocol, credential: entry.credential }),
        ),
      );
      button.setAttribute("aria-label", `Try ${entry.credential} again at ${address(entry)}`);
      return this.parkedTable.row(
        foreign(entry.credential),
        element("div", {}, `${entry.method} of `, place(entry)),
        entry.since ? moment(entry.since) : "–",
        entry.next_try ? moment(entry.next_try) : "when its value is set anew",
        button,
      );
    });
  }

  // Migration

  showMigration(entries) {
    this.migration.tell(entries.length);
    keep(this.migrationTable.body, entries, (entry) => keyOf(entry, entry.finding), (entry) =>
      this.migrationTable.row(
        entry.finding, place(entry), entry.credential ? foreign(entry.credential) : "–", moment(entry.last), number(entry.count),
      ),
    );
  }
}
