// The sections of the page, each a view of one part of what the proxy tells.

import { Chart } from "./charts.js";
import { certificateCard } from "./certificates.js";
import { Answers, questionCard } from "./questions.js";
import { element, foreign, keep, lines, moment, plural } from "./elements.js";
import { Parents } from "./parents.js";
import { Section, address, bytes, keyOf, milliseconds, number, place, saying, table } from "./parts.js";
import { act } from "./session.js";

const outcomes = {
  answered: "answered",
  passed: "passed on",
  cancelled: "refused, 502",
  declined: "no certificate shown",
  unseen: "not decrypted",
};

const waits = {
  request: "with the next request",
  "other-target": "with a request for another target",
  "other-server": "with a request for another server",
  verdict: "an answer has been sent",
  "new-value": "when its value is set again",
};

export class Sections {
  constructor(parent, links, perform) {
    this.perform = perform;
    this.samples = [];
    this.status = {};
    this.overview = this.makeOverview();
    this.questions = new Section("questions", "Questions", "No request waits for you.");
    this.answers = new Answers(perform);
    this.unanswered = new Section("unanswered", "Unanswered", "No challenge is unanswered. To send a tool through the proxy, run: eval \"$(attache env)\"");
    this.credentials = new Section("credentials", "Credentials", "There is no credential in the rule file or in the store. Add one: attache help credential");
    this.credentialTable = table("Credentials and their state", [
      ["Credential"], ["From"], ["State", "server"], ["Since", "short"], ["Next try", "short"], ["Last sent", "short"], ["", "act"],
    ]);
    this.credentials.body.append(this.credentialTable.node);
    this.challenges = new Section("challenges", "Challenges", "No challenge yet.");
    this.makeChallenges();
    this.certificates = new Section("certificates", "Certificates", "All server certificates are trusted.");
    this.looks = [];
    this.parents = new Parents();
    this.expiries = new Section("expiries", ["Next expiries", "Expiries"], "Nothing that the proxy uses will expire, as far as it knows.");
    this.expiryTable = table("Certificates, tokens, tickets and exceptions by their last day", [
      ["Last day", "short"], ["Left", "short"], ["What"], ["Name"], ["Server", "server"],
    ]);
    this.expiries.body.append(this.expiryTable.node);
    this.migration = new Section("migration", ["Weak logins", "Weak"], "No weak login or old TLS is in use (NTLM, MD5, unencrypted, TLS before 1.2).");
    this.migrationTable = table("Weak logins and old TLS, with the client and application that used them last", [
      ["Finding"], ["Server", "server"], ["Client"], ["Application"], ["Credential"], ["Last", "short"],
    ]);
    this.migration.body.append(
      element("p", {}, "Others on the network can read or break these. The list begins with the start of the proxy."),
      this.migrationTable.node,
    );
    this.all = [this.overview, this.questions, this.answers, this.unanswered, this.credentials, this.challenges, this.certificates, this.parents, this.expiries, this.migration];
    links.replaceChildren(...this.all.map(({ link }) => link));
    parent.replaceChildren(...this.all.map(({ node }) => node));
  }

  /** A part of what the proxy tells has changed. */
  take(name, value) {
    const shows = {
      load: this.showLoad,
      status: this.showStatus,
      questions: this.showQuestions,
      answers: (answers) => this.answers.show(answers),
      challenges: this.showChallenges,
      credentials: this.showCredentials,
      certificates: this.showLooks,
      parents: (parents) => this.parents.show(parents),
      expiries: this.showExpiries,
      migration: this.showMigration,
    };
    shows[name]?.call(this, value);
  }

  // Overview

  makeOverview() {
    this.traffic = new Chart(
      "Requests per second",
      [
        { name: "all", kind: "all", value: (sample) => sample.requests },
        { name: "failed", kind: "failed", value: (sample) => sample.failed },
      ],
      number,
    );
    this.latency = new Chart(
      "Latency",
      [
        { name: "p95", kind: "slow", value: (sample) => (sample.slow === undefined ? undefined : sample.slow / 100) },
        { name: "median", kind: "all", value: (sample) => (sample.median === undefined ? undefined : sample.median / 100) },
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
    const due = status.unanswered + status.questions;
    document.title = due ? `(${due}) Attaché` : "Attaché";
    const rules = [
      plural(status.routes, "route"), plural(status.challenge_rules, "challenge rule"),
      plural(status.credentials, "credential"), plural(status.parents, "parent"),
    ].join(", ");
    const rows = [
      ["Listens on", status.listeners.join(" ")],
      ["Rule file", `${status.rule_file}: ${rules}`],
      ["Rules loaded", { time: status.rules_loaded }],
      ["Credential store", status.store ?? "none"],
      ["Started", { time: status.started }],
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

  // Questions

  showQuestions(questions) {
    this.questions.tell(questions.length, questions.length);
    keep(this.questions.body, questions, ({ id }) => `${id}`, (question) => questionCard(question, this.perform));
  }

  // Challenges

  makeChallenges() {
    this.filter = element("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false" });
    this.filter.addEventListener("input", () => this.showChallenges(this.entries));
    this.challengeTable = table("Challenges, the last one first", [
      ["Last", "short"], ["Scheme", "short"], ["Server", "server"], ["Outcome"], ["Rule"], ["Credential"], ["Times", "number"],
    ]);
    this.entries = [];
    this.none = element("p", { class: "nothing", hidden: true }, "No challenge matches the filter.");
    this.challenges.body.append(
      element("div", { class: "field filter" }, element("label", { for: "filter" }, "Filter"), this.filter),
      this.challengeTable.node,
      this.none,
    );
  }

  showChallenges(entries) {
    this.entries = entries;
    const unanswered = entries.filter(({ outcome }) => outcome !== "answered");
    this.unanswered.tell(unanswered.length, unanswered.length);
    keep(this.unanswered.body, unanswered, (entry) => keyOf(entry, entry.scheme), (entry) => this.makeCard(entry));
    this.challenges.tell(entries.length);
    this.showCertificates();
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
    const details = [
      ...entry.challenges.map((line) => ["server", line]),
      ...(entry.response?.fields ?? []).map((line) => ["server", line]),
      ...entry.rules.map((line) => ["rule", line]),
    ];
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
      element("p", { class: "reason" }, foreign(entry.reason ?? "Unknown reason.")),
      entry.remedy ? element("p", {}, "To send it again: ", foreign(entry.remedy)) : null,
      entry.failures ? element("p", { class: "meta" }, `${plural(entry.failures, "answer")} refused`) : null,
      saying(entry.response),
      suggestion
        ? element(
            "div",
            { class: "suggestion" },
            element("p", {}, "To answer it, add to ", foreign(this.status.rule_file ?? "the rule file"), ", then run ", element("code", {}, "attache reload"), ":"),
            lines(suggestion, `lines for ${address(entry)}`),
          )
        : null,
      details.length
        ? element(
            "details",
            { "data-name": "details" },
            element("summary", { "data-name": "summary" }, "The server's response, and the rules that were tried"),
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

  // Credentials

  showCredentials(entries) {
    const isTroubled = ({ remedy }) => remedy !== undefined;
    this.credentials.tell(entries.length, entries.filter(isTroubled).length);
    const key = ({ credential, source, realm, method, first_met }) => JSON.stringify([credential, source, realm, method, first_met]);
    keep(this.credentialTable.body, entries, key, (entry) =>
      this.credentialTable.row(
        foreign(entry.user ?? entry.credential),
        element("div", {}, entry.source, entry.place ? element("div", { class: "meta" }, foreign(entry.place, "mono")) : null),
        this.credentialState(entry),
        entry.since ? moment(entry.since) : "–",
        element("div", {}, entry.next_try ? moment(entry.next_try) : (waits[entry.waits_for] ?? "–"), entry.next_try && entry.waits_for ? `, or ${waits[entry.waits_for]}` : null),
        entry.last_sent ? moment(entry.last_sent) : "–",
        isTroubled(entry) ? this.retryButton(entry) : "",
      ),
    );
  }

  credentialState(entry) {
    const isGood = entry.remedy === undefined;
    return element(
      "div",
      {},
      entry.state ? element("span", { class: `outcome ${isGood ? "good" : "bad"}` }, entry.state) : null,
      ...entry.servers.map((server) =>
        element(
          "div",
          { class: "meta" },
          foreign(server.server),
          `: ${server.state === "good" ? "accepted" : server.state}`,
          server.next_try && !server.waits_for ? [", next try ", moment(server.next_try)] : "",
          server.reason ? [", ", foreign(server.reason)] : "",
        ),
      ),
      entry.remedy ? element("div", { class: "meta" }, foreign(entry.remedy)) : null,
    );
  }

  retryButton({ credential }) {
    const button = element("button", { type: "button", class: "small", "data-name": "retry" }, "Try again");
    button.addEventListener("click", () => this.perform(() => act("credentials/retry", { credential })));
    button.setAttribute("aria-label", `Try ${credential} again`);
    return button;
  }

  // Certificates

  showLooks(looks) {
    this.looks = looks;
    this.showCertificates();
  }

  showCertificates() {
    const items = this.entries
      .filter(({ method }) => method === "server-trust")
      .map((entry) => ({ entry, look: this.looks.find(({ host, port }) => host === entry.host && port === entry.port) }));
    this.certificates.tell(items.length);
    keep(this.certificates.body, items, ({ entry }) => keyOf(entry), (item) => certificateCard(item, this.perform));
  }

  // Ends

  showExpiries(entries) {
    const today = new Date().toISOString().slice(0, 10);
    const days = (day) => Math.round((Date.parse(day) - Date.parse(today)) / 86_400_000);
    // Tickets and fetched tokens live for hours, and others take their place.
    const isShort = ({ kind }) => kind === "Kerberos ticket" || kind === "fetched token";
    const isDue = (entry) => (isShort(entry) ? Date.parse(entry.end) < Date.now() : days(entry.last_day) < 30);
    this.expiries.tell(entries.length, entries.filter(isDue).length);
    const items = entries.map((entry) => ({ ...entry, days: days(entry.last_day) }));
    keep(this.expiryTable.body, items, ({ kind, name, place }) => JSON.stringify([kind, name, place]), (entry) =>
      this.expiryTable.row(
        entry.last_day,
        isShort(entry)
          ? moment(entry.end)
          : element("span", { class: entry.days < 7 ? "outcome bad" : entry.days < 30 ? "outcome warn" : "meta" },
              entry.days < 0 ? "over" : entry.days === 0 ? "today" : `in ${plural(entry.days, "day")}`),
        entry.kind,
        foreign(entry.name),
        entry.place ? foreign(entry.place) : "–",
      ),
    );
  }

  // Migration

  showMigration(entries) {
    this.migration.tell(entries.length);
    keep(this.migrationTable.body, entries, (entry) => keyOf(entry, entry.finding, entry.client, entry.application), (entry) =>
      this.migrationTable.row(
        entry.finding,
        place(entry),
        foreign(entry.client),
        entry.application ? foreign(entry.application) : "–",
        entry.credential ? foreign(entry.credential) : "–",
        moment(entry.last),
      ),
    );
  }
}
