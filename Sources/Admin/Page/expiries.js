// What expires, and the logins that should be replaced.

import { element, foreign, moment, plural } from "./elements.js";
import { Section, keyOf, place } from "./parts.js";

const days = (day) => Math.round((Date.parse(day) - Date.parse(new Date().toISOString().slice(0, 10))) / 86_400_000);

/** Tickets and fetched tokens live for hours, and the proxy fetches others. */
const isShort = ({ kind }) => kind === "Kerberos ticket" || kind === "fetched token";

export class Expiries extends Section {
  constructor() {
    super({
      id: "expiries",
      titles: ["Next expiries", "Expiries"],
      nothing: "Nothing that the proxy uses will expire, as far as it knows. Client certificates, tokens and exceptions are listed here.",
      caption: "Certificates, tokens, tickets and exceptions by their last day",
      columns: [["Last day", "short"], ["Left", "short"], ["What"], ["Name"], ["Server", "server"]],
      keyOf: ({ kind, name, place }) => JSON.stringify([kind, name, place]),
      words: ({ kind, name, place }) => [kind, name, place],
      hosts: ({ place }) => [/:\/\/(?:\[([^\]]+)\]|([^:/]+))/.exec(place ?? "")?.slice(1).find(Boolean)].filter(Boolean),
      isDue: (entry) => (isShort(entry) ? Date.parse(entry.expires) < Date.now() : days(entry.last_day) < 30),
      due: ["expires within 30 days", "expire within 30 days"],
      rank: ({ end }) => Date.parse(end),
      make: (entry) => this.table.row(
        entry.last_day,
        isShort(entry) ? moment(entry.expires) : left(days(entry.last_day)),
        entry.kind,
        foreign(entry.name),
        entry.place ? foreign(entry.place) : "–",
      ),
    });
  }
}

function left(days) {
  return element(
    "span",
    { class: days < 7 ? "outcome bad" : days < 30 ? "outcome warn" : "meta" },
    days < 0 ? "over" : days === 0 ? "today" : `in ${plural(days, "day")}`,
  );
}

export class Migration extends Section {
  constructor() {
    super({
      id: "migration",
      titles: ["Weak logins", "Weak"],
      nothing: "No weak login or old TLS is in use (NTLM, MD5, unencrypted, TLS before 1.2). You need to do nothing.",
      caption: "Weak logins and old TLS, with the client and application that used them last",
      columns: [["Finding"], ["Server", "server"], ["Client"], ["Application"], ["Credential"], ["Last", "short"]],
      keyOf: (entry) => keyOf(entry, entry.finding, entry.client, entry.application),
      words: (entry) => [entry.finding, entry.protocol, entry.host, entry.port, entry.client, entry.application, entry.credential],
      hosts: ({ host }) => [host],
      intro: element("p", {}, "Others on the network can read or break these. The list begins with the start of the proxy."),
      make: (entry) => this.table.row(
        entry.finding,
        place(entry),
        foreign(entry.client),
        entry.application ? foreign(entry.application) : "–",
        entry.credential ? foreign(entry.credential) : "–",
        moment(entry.last),
      ),
    });
  }
}
