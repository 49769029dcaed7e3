// The last requests: what became of each, and where its time went.

import { drawing, element, foreign, moment, plural } from "./elements.js";
import { Section, details, hostLink, number, ruleText } from "./parts.js";

/** Requests that the page keeps, as many as the proxy does. */
const limit = 1000;

const hostOf = ({ host }) => host?.replace(/^\[|\]$/g, "").toLowerCase();

const isFailed = ({ status, error }) => error !== undefined || status === undefined || status >= 400;

export class Requests extends Section {
  constructor() {
    const hold = element("button", { type: "button", class: "small", "data-name": "pause", "aria-pressed": "false" }, "Pause");
    const exports = [["JSON", toJSON], ["CSV", toCSV]].map(([format, write]) => {
      const button = element("button", { type: "button", class: "small", "data-name": format, "aria-label": `Export as ${format}` }, format);
      button.addEventListener("click", () => save(write(this.matching(this.view)), format));
      return button;
    });
    const held = element("span", { class: "meta", role: "status" });
    super({
      id: "requests",
      titles: ["Recent requests", "Requests"],
      nothing: 'No request yet. In a shell run: eval "$(attache env)", then start your tool there.',
      caption: "The last requests, the last one first",
      columns: [["Time", "short"], ["Request", "server"], ["Client"], ["Rule"], ["Duration", "duration"], ["Status"]],
      keyOf: (entry) => `${entry.number}`,
      words: (entry) => [
        entry.method, entry.target, entry.client, entry.user, entry.route, ruleText(entry.rule), entry.credential, entry.parent, entry.status,
        entry.error, entry.details, entry.challenge, entry.realm, isFailed(entry) ? "failed" : "",
      ],
      hosts: (entry) => [hostOf(entry)].filter(Boolean),
      rank: (entry) => -entry.number,
      tools: element("div", { class: "field" }, hold, ...exports, held),
      make: (entry) => this.table.row(moment(entry.time), request(entry), client(entry), rule(entry), bar(entry), outcome(entry)),
    });
    this.start = null;
    this.all = [];
    this.held = held;
    this.isHeld = false;
    hold.addEventListener("click", () => {
      this.isHeld = !this.isHeld;
      hold.setAttribute("aria-pressed", this.isHeld);
      hold.textContent = this.isHeld ? "Go on" : "Pause";
      this.renew();
    });
  }

  /** `start` tells the processes of the proxy apart, whose numbers begin with 1 each time. */
  take({ start, entries }) {
    if (start !== this.start) this.all = [];
    this.start = start;
    const last = this.all.at(-1)?.number ?? 0;
    this.all = [...this.all, ...entries.filter((entry) => entry.number > last)].slice(-limit);
    this.renew();
  }

  /** While it is held, what has come since waits. */
  renew() {
    const last = this.entries[0]?.number ?? 0;
    const news = this.all.filter((entry) => entry.number > last).length;
    this.held.textContent = this.isHeld ? (news ? `Paused; ${plural(news, "new request")}` : "Paused") : "";
    if (!this.isHeld) super.take({ total: this.all.length, entries: this.all });
  }
}

function request(entry) {
  const [host, target] = [hostOf(entry), `${entry.method ?? ""} ${entry.target ?? "unknown"}`];
  const challenges = entry.challenges ?? [];
  return element(
    "div",
    {},
    host ? hostLink(host, target) : foreign(target),
    element("div", { class: "meta" }, versions(entry)),
    entry.proxy_status ? element("div", { class: "meta" }, "Proxy-Status: ", foreign(entry.proxy_status)) : null,
    entry.details && !entry.proxy_status?.replaceAll('\\"', '"').includes(entry.details) ? element("div", { class: "meta" }, foreign(entry.details)) : null,
    challenges.length
      ? details("challenges", plural(challenges.length, "challenge"), () =>
          element("ul", { class: "plain" }, ...challenges.map((challenge) => element("li", {}, foreign(challengeWords(challenge))))),
        )
      : entry.challenge !== undefined
        ? element("div", { class: "meta" }, "challenge: ", foreign(`${entry.challenge}${entry.realm === undefined ? "" : ` “${entry.realm}”`}`))
        : null,
  );
}

/** The version of HTTP of each side that speaks it. The log names only version 2. */
function versions({ method, http, socks, redirected, parent, parent_http: parentHTTP, upstream, upstream_http: serverHTTP, tls }) {
  // A tunnel is no request to its server, and a parent may make the request.
  const asksServer = method !== "CONNECT" && upstream !== undefined && (parent === undefined || tls !== undefined || serverHTTP !== undefined);
  const sides = [
    socks === undefined && redirected === undefined ? `client HTTP/${http ?? "1"}` : null,
    parentHTTP === undefined ? null : `parent HTTP/${parentHTTP}`,
    asksServer ? `server HTTP/${serverHTTP ?? "1"}` : null,
  ];
  return sides.filter(Boolean).join(", ");
}

const challengeWords = ({ method, realm, rule, disposition, result }) =>
  [`${method}${realm === undefined ? "" : ` “${realm}”`}`, rule === undefined ? "no rule" : `rule ${ruleText(rule)}`, disposition, result].filter(Boolean).join(", ");

function client({ client, user }) {
  return foreign(user === undefined ? (client ?? "–") : `${user} at ${client}`);
}

function rule({ rule, route, credential, parent }) {
  const parts = [rule ? `rule ${ruleText(rule)}` : null, credential ? `credential ${credential}` : null, route ? `route ${route}` : null, parent ? `parent ${parent}` : null];
  return foreign(parts.filter(Boolean).join(", ") || "–");
}

/** Where the time went, in milliseconds, in this order. What is not measured is the rest. */
function phases({ ms, connect_ms: connect = 0, challenge_ms: challenge = 0, wait_ms: wait = 0 }) {
  // The last wait for a response is a part of the answering.
  const login = Math.max(0, challenge - wait);
  return [["connect", connect], ["login", login], ["first byte", wait], ["rest", Math.max(0, ms - connect - login - wait)]];
}

function bar(entry) {
  const parts = phases(entry);
  const whole = parts.reduce((sum, [, value]) => sum + value, 0);
  let start = 0;
  const pieces = parts.map(([name, value]) => {
    const width = whole ? (value / whole) * 100 : 0;
    start += width;
    return width ? drawing("rect", { class: `phase ${name.replace(" ", "-")}`, x: start - width, width, height: 6 }) : null;
  });
  const words = parts.filter(([, value]) => value).map(([name, value]) => `${name} ${number(value)} ms`).join(", ");
  return element(
    "div",
    { title: words },
    // The proxy counts whole ones.
    entry.ms ? `${number(entry.ms)} ms` : "< 1 ms",
    whole ? drawing("svg", { class: "phases", viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": words }, ...pieces) : null,
  );
}

function outcome(entry) {
  return element(
    "div",
    {},
    element("span", { class: `outcome ${isFailed(entry) ? "bad" : "good"}` }, entry.status === undefined ? "none" : `${entry.status}`),
    entry.error ? element("div", { class: "meta" }, foreign(entry.error)) : null,
  );
}

// Export

function toJSON(entries) {
  return ["application/json", JSON.stringify(entries, null, 2)];
}

const columns = [
  "number", "time", "client", "user", "method", "target", "status", "http", "upstream_http", "parent_http", "error", "details", "proxy_status", "route", "rule",
  "scheme", "credential", "parent", "ms", "connect_ms", "challenge_ms", "wait_ms", "bytes_in", "bytes_out", "challenges",
];

/** RFC 4180. */
function toCSV(entries) {
  const value = (entry, name) => (name === "challenges" ? (entry.challenges ?? []).map(challengeWords).join("; ") : (name === "rule" ? ruleText(entry.rule) : entry[name]) ?? "");
  const rows = [columns, ...entries.map((entry) => columns.map((name) => value(entry, name)))];
  return ["text/csv", rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"];
}

function cell(value) {
  if (typeof value === "number") return `${value}`;
  // A spreadsheet would take these for a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save([type, text], format) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: `attache-requests.${format.toLowerCase()}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
