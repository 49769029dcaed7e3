// The certificates of servers, and what is decided about them.

import { suggestion } from "./challenges.js";
import { element, foreign, lines, moment } from "./elements.js";
import { Section, address, place, plainList, ruleText } from "./parts.js";
import { act } from "./session.js";

/** The servers whose certificate needed a decision: one card each. An entry has the challenge and the last look at it. */
export class Certificates extends Section {
  /** `status()` is what the proxy last told of itself. */
  constructor(perform, status) {
    super({
      id: "certificates",
      titles: "Certificates",
      nothing: "All server certificates are trusted. One that is not gets a card here, with a button to check it.",
      keyOf: ({ challenge }) => `${challenge.host}:${challenge.port}`,
      words: ({ challenge, look }) => [address(challenge), challenge.reason, ruleText(challenge.rule), look?.sentence],
      hosts: ({ challenge }) => [challenge.host],
      isDue: ({ challenge }) => challenge.outcome !== "answered",
      due: ["certificate is not trusted", "certificates are not trusted"],
      make: (entry) => card(entry, perform, status().rule_file),
    });
    this.challenges = [];
    this.looks = [];
  }

  takeChallenges(challenges) {
    this.challenges = challenges;
    this.merge();
  }

  takeLooks(looks) {
    this.looks = looks;
    this.merge();
  }

  /** The last challenge of each server counts; they come in that order. */
  merge() {
    const place = ({ host, port }) => `${host}:${port}`;
    const looks = new Map(this.looks.map((look) => [place(look), look]).reverse());
    const servers = new Map(this.challenges.map((challenge) => [place(challenge), challenge]).reverse());
    const entries = [...servers.values()].reverse().map((challenge) => ({ challenge, look: looks.get(place(challenge)) }));
    this.take({ total: entries.length, entries });
  }
}

function card({ challenge, look }, perform, file) {
  const server = { host: challenge.host, port: challenge.port };
  const button = element("button", { type: "button", class: "small", "data-name": "look" }, look ? "Check again" : "Check");
  button.disabled = look?.state === "pending";
  button.setAttribute("aria-label", `${button.textContent}: ${address(challenge)}`);
  button.addEventListener("click", () => perform(() => act("trust/look", server)));
  const isTrusted = challenge.outcome === "answered";
  return element(
    "article",
    { class: "card" },
    element(
      "header",
      {},
      place(challenge),
      element("span", { class: `outcome ${isTrusted ? "good" : "bad"}` }, isTrusted ? "trusted by exception" : "not trusted"),
      element("span", { class: "meta" }, moment(challenge.last), " ", button),
    ),
    challenge.reason ? element("p", { class: "reason" }, foreign(challenge.reason)) : null,
    look ? chain(look, server, perform) : plainList(challenge.challenges),
    // A look has better ones, with the key's pin.
    look?.suggestion ? null : suggestion(challenge, file, perform),
  );
}

function chain(look, server, perform) {
  if (look.state === "pending") return element("p", { class: "meta" }, "Asking the server …");
  if (look.state === "failed") return element("p", { class: "problem" }, foreign(look.reason));
  return element(
    "div",
    { class: "look" },
    element("p", { class: look.trusted ? "outcome good" : "outcome bad" }, foreign(look.sentence)),
    ...look.findings.map((finding) => element("p", {}, foreign(finding))),
    element(
      "ol",
      { class: "chain" },
      ...look.certificates.map(({ name, facts }) =>
        element(
          "li",
          {},
          foreign(name, "address"),
          element("dl", {}, ...facts.map(([fact, value]) => element("div", {}, element("dt", {}, fact), element("dd", {}, foreign(value, "mono"))))),
        ),
      ),
    ),
    look.acceptable ? acceptance(look, server, perform) : null,
    look.suggestion ? lines(look.suggestion.trimEnd(), `lines that trust ${server.host}`) : null,
  );
}

function acceptance(look, server, perform) {
  const month = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const input = element("input", { type: "date", required: true, value: month, "data-name": "until", "aria-label": "last day" });
  const form = element(
    "form",
    { class: "field acceptance" },
    element("label", {}, "Trust this key until ", input),
    element("button", { type: "submit", "data-name": "accept" }, "Trust it"),
    element("span", { class: "meta" }, "Compare the key pin with one from another source first."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    perform(() => act("trust/accept", { ...server, pin: look.pin, until: input.value }));
  });
  return form;
}
