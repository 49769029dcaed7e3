// The credentials of the rule file and the store, and what servers say of them.

import { element, foreign, moment, plural } from "./elements.js";
import { Section } from "./parts.js";
import { act } from "./session.js";

const waits = {
  request: "with the next request",
  "other-target": "with a request for another target",
  "other-server": "with a request for another server",
  verdict: "an answer has been sent",
  "new-value": "when its value is set again",
};

/** The host of a server's name such as `proxy http://[::1]:3128`; undefined: it has none, as a KDC. */
export const hostOfServer = (name) => /^(?:proxy )?\w+:\/\/(?:\[([^\]]+)\]|([^:/]+))/.exec(name)?.slice(1).find(Boolean);

export class Credentials extends Section {
  constructor(perform) {
    super({
      id: "credentials",
      titles: "Credentials",
      nothing: "There is no credential in the rule file or in the store. Add one: attache help credential",
      caption: "Credentials and their state, the worst first",
      columns: [["Credential"], ["From"], ["State", "server"], ["Since", "short"], ["Next try", "short"], ["Last sent", "short"], ["", "act"]],
      keyOf: ({ credential, source, realm, method, first_met }) => JSON.stringify([credential, source, realm, method, first_met]),
      words: (entry) => [entry.credential, entry.user, entry.host, entry.source, entry.place, entry.state, ...entry.servers.flatMap(({ server, state }) => [server, state])],
      hosts: (entry) => [entry.host, ...entry.servers.map(({ server }) => hostOfServer(server))].filter(Boolean),
      isDue: ({ remedy }) => remedy !== undefined,
      due: ["credential is refused", "credentials are refused"],
      make: (entry) => this.table.row(
        foreign(entry.user ?? entry.credential),
        element("div", {}, entry.source, entry.place ? element("div", { class: "meta" }, foreign(entry.place, "mono")) : null),
        state(entry),
        entry.since ? moment(entry.since) : "–",
        element("div", {}, entry.next_try ? moment(entry.next_try) : (waits[entry.waits_for] ?? "–"), entry.next_try && entry.waits_for ? `, or ${waits[entry.waits_for]}` : null),
        entry.last_sent ? moment(entry.last_sent) : "–",
        this.isDue(entry) ? retry(entry, perform) : "",
      ),
    });
  }
}

function state(entry) {
  return element(
    "div",
    {},
    entry.state ? element("span", { class: `outcome ${entry.remedy === undefined ? "good" : "bad"}` }, entry.state) : null,
    ...entry.servers.slice(0, shownServers).map((server) =>
      element(
        "div",
        { class: "meta" },
        foreign(server.server),
        `: ${server.state === "good" ? "accepted" : server.state}`,
        server.next_try && !server.waits_for ? [", next try ", moment(server.next_try)] : "",
        server.reason ? [", ", foreign(server.reason)] : "",
      ),
    ),
    entry.servers.length > shownServers ? element("div", { class: "meta" }, `and ${plural(entry.servers.length - shownServers, "more server")}`) : null,
    entry.remedy ? element("div", { class: "meta" }, foreign(entry.remedy)) : null,
  );
}

/** Of one credential. `attache credential list` has them all. */
const shownServers = 4;

function retry({ credential }, perform) {
  const button = element("button", { type: "button", class: "small", "data-name": "retry" }, "Try again");
  button.addEventListener("click", () => perform(() => act("credentials/retry", { credential })));
  button.setAttribute("aria-label", `Try ${credential} again`);
  return button;
}
