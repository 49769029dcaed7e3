// The challenges that the proxy has met, and those that it did not answer.

import { element, foreign, lines, moment, plural } from "./elements.js";
import { Section, address, details, keyOf, number, place, plainList, ruleText, saying } from "./parts.js";
import { act } from "./session.js";

const outcomes = {
  answered: "answered",
  passed: "passed on",
  cancelled: "refused, 502",
  declined: "no certificate shown",
  unseen: "not decrypted",
  tunnelled: "not decrypted",
  waiting: "waiting for you",
};

/** Whether nothing of the server was answered since. Neither a question nor a tunnel that no rule is about is open. */
export const isOpen = ({ outcome, solved }) => !solved && !["answered", "tunnelled", "waiting"].includes(outcome);

const words = (entry) => [address(entry), entry.realm, entry.scheme, outcomes[entry.outcome], ruleText(entry.rule), entry.credential, entry.reason];

export const isOfCertificate = ({ method }) => method === "server-trust";

/** Lines for the rule file that would have the challenge answered. `file` is its path. */
export function suggestion(entry, file, perform) {
  const text = entry.suggestion.join("\n");
  if (!text) return null;
  return element(
    "div",
    { class: "suggestion" },
    element("p", {}, "To answer it, add to ", foreign(file ?? "the rule file"), ", then run ", element("code", {}, "attache reload"), ":"),
    lines(text, `lines for ${address(entry)}`),
    entry.addable ? additionForm(entry, text, perform) : null,
  );
}

/** Adds the lines to the rule file. A secret goes into a file of its own, which the lines name. */
function additionForm(entry, text, perform) {
  const input = (name, type, label) => element("input", { type, required: true, autocomplete: "off", "data-name": name, placeholder: label, "aria-label": label });
  const user = entry.addable === "password" ? input("user", "text", "user") : null;
  const secret = entry.addable === "nothing" ? null : input("secret", "password", entry.addable);
  const form = element(
    "form",
    { class: "field acceptance" },
    user,
    secret,
    element("button", { type: "submit", "data-name": "add" }, "Add and reload"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { host, port, protocol, method, scheme, realm } = entry;
    const members = { host, port, protocol, method, scheme, lines: text, proxy: entry.proxy ? "yes" : "no" };
    if (realm !== undefined) members.realm = realm;
    if (user) members.user = user.value;
    const value = secret?.value;
    if (secret) secret.value = "";
    perform(() => act("rules/add", members, value));
  });
  return form;
}

/** The unanswered challenges, except those of certificates, which have their own section. */
export class Unanswered extends Section {
  /** `perform` does something and says what came of it; `status()` is what the proxy last told of itself. */
  constructor(perform, status) {
    super({
      id: "unanswered",
      titles: "Unanswered",
      nothing: 'No challenge is unanswered. To send a tool through the proxy, run: eval "$(attache env)"',
      keyOf: (entry) => keyOf(entry, entry.scheme),
      words,
      hosts: ({ host }) => [host],
      isDue: () => true,
      due: ["challenge is unanswered", "challenges are unanswered"],
      make: (entry) => card(entry, perform, status().rule_file),
    });
  }
}

function card(entry, perform, file) {
  const more = [...entry.challenges, ...(entry.response?.fields ?? []), ...entry.rules];
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
    suggestion(entry, file, perform),
    more.length ? details("details", "The server's response, and the rules that were tried", () => plainList(more)) : null,
  );
}

function outcomeKind(entry) {
  if (entry.outcome === "tunnelled") return "";
  return isOpen(entry) ? "bad" : entry.outcome === "waiting" ? "warn" : "good";
}

/** All challenges, unanswered ones first. */
export class Challenges extends Section {
  constructor() {
    super({
      id: "challenges",
      titles: "Challenges",
      nothing: 'No challenge yet. To send a tool through the proxy, run: eval "$(attache env)"',
      caption: "Challenges, unanswered ones first, then the last one first",
      columns: [["Last", "short"], ["Scheme", "short"], ["Server", "server"], ["Outcome"], ["Rule"], ["Credential"], ["Times", "number"]],
      keyOf: (entry) => keyOf(entry, entry.scheme),
      words,
      hosts: ({ host }) => [host],
      rank: (entry) => (isOpen(entry) || entry.outcome === "waiting" ? 0 : 1),
      make: (entry) => this.table.row(
        moment(entry.last),
        foreign(entry.scheme || "none"),
        place(entry),
        element(
          "div",
          {},
          element("span", { class: `outcome ${outcomeKind(entry)}` }, entry.solved ? "solved" : (outcomes[entry.outcome] ?? entry.outcome)),
          entry.solved ? element("span", { class: "meta" }, " ", moment(entry.solved)) : null,
          entry.reason ? element("div", { class: "meta" }, foreign(entry.reason)) : null,
        ),
        entry.rule ? foreign(`${ruleText(entry.rule)}: ${entry.disposition}`) : entry.disposition,
        entry.credential ? foreign(entry.credential) : "–",
        number(entry.count),
      ),
    });
  }
}
