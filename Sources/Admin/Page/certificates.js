// The certificates of servers, and what is decided about them.

import { element, foreign, lines, moment } from "./elements.js";
import { address, place } from "./parts.js";
import { act } from "./session.js";

/** A server whose certificate needed a decision. `perform` does something and says what came of it. */
export function certificateCard({ entry, look }, perform) {
  const server = { host: entry.host, port: entry.port };
  const button = element("button", { type: "button", class: "small", "data-name": "look" }, look ? "Check again" : "Check");
  button.disabled = look?.state === "pending";
  button.setAttribute("aria-label", `${button.textContent}: ${address(entry)}`);
  button.addEventListener("click", () => perform(() => act("trust/look", server)));
  const isTrusted = entry.outcome === "answered";
  return element(
    "article",
    { class: "card" },
    element(
      "header",
      {},
      place(entry),
      element("span", { class: `outcome ${isTrusted ? "good" : "bad"}` }, isTrusted ? "trusted by exception" : "not trusted"),
      element("span", { class: "meta" }, moment(entry.last), " ", button),
    ),
    entry.reason ? element("p", { class: "reason" }, foreign(entry.reason)) : null,
    look
      ? chain(look, server, perform)
      : element("ul", { class: "plain" }, ...entry.challenges.map((line) => element("li", {}, foreign(line, "mono")))),
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
