// The overview: what needs a person, the load of the last minutes, and how the proxy is set up.

import { Chart } from "./charts.js";
import { element, foreign, keep, moment, plural } from "./elements.js";
import { bytes, milliseconds, number, viewLink } from "./parts.js";

export class Overview {
  constructor() {
    this.samples = [];
    this.status = {};
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
    this.link = element("a", { href: viewLink("overview") }, "Overview");
    this.node = element(
      "section",
      { id: "overview", "aria-labelledby": "overview-title" },
      element("h2", { id: "overview-title" }, "Overview"),
      element("div", { class: "body" }, this.warnings, this.tiles, element("div", { class: "charts" }, this.traffic.node, this.latency.node), this.facts),
    );
  }

  takeLoad(samples) {
    const last = this.samples.at(-1)?.time ?? 0;
    this.samples = [...this.samples, ...samples.filter(({ time }) => time > last)].slice(-300);
    this.traffic.show(this.samples);
    this.latency.show(this.samples);
    const recent = this.samples.slice(-60);
    const sum = (name) => recent.reduce((total, sample) => total + sample[name], 0);
    const tiles = [
      ["Clients", number(this.samples.at(-1)?.clients ?? 0), "connected"],
      ["Requests", number(sum("requests")), "last minute"],
      ["Failed", number(sum("failed")), "last minute"],
      ["Received", bytes(sum("in")), "last minute"],
      ["Sent", bytes(sum("out")), "last minute"],
      ["Challenges answered", number(sum("answered")), "last minute"],
      ["Not answered", number(sum("unanswered")), "last minute"],
    ];
    keep(this.tiles, tiles, ([name]) => name, ([name, value, more]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, more))),
    );
  }

  takeStatus(status) {
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
      ["Version", `${status.program_version}, process ${status.process}`],
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

  show(view) {
    this.node.hidden = view.section !== null || view.host !== null;
  }
}
