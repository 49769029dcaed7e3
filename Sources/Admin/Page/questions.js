// The questions of rules that say `ask`, and their answers.

import { element, foreign, moment, plural, printable } from "./elements.js";
import { Section, address, hostLink, place, plainList, ruleText, saying } from "./parts.js";
import { act } from "./session.js";

const persistences = [
  ["session", "for this session"],
  ["none", "for this request"],
  ["permanent", "permanently"],
];

export class Questions extends Section {
  constructor(perform) {
    super({
      id: "questions",
      titles: "Questions",
      nothing: "No request waits for you. To have a rule ask: attache help operators",
      keyOf: ({ id }) => `${id}`,
      words: (question) => [address(question), question.challenge, question.method, ruleText(question.rule), question.path, question.application, ...question.clients],
      hosts: ({ host }) => [host],
      isDue: () => true,
      due: ["question waits for you", "questions wait for you"],
      make: (question) => questionCard(question, perform),
    });
  }
}

/** The methods that send a password. Digest and NTLM send a proof that they have it. */
const methodsWithPassword = ["basic", "html-form"];

/** What a person has to know before a password is sent in clear; null: it would not be. */
function clearWarning(question) {
  if (!methodsWithPassword.includes(question.method) || !["http", "ftp", "socks"].includes(question.protocol)) return null;
  return element(
    "p",
    { class: "warning" },
    element("b", {}, "Not encrypted: "),
    `everyone on the way to ${address(question)} can read the password.`,
  );
}

/** A question with the fields that fit its method. `perform` does something and says what came of it. */
function questionCard(question, perform) {
  const answer = (members, body) => perform(() => act("questions/answer", { id: question.id, ...members }, body));
  return element(
    "article",
    { class: "card asked" },
    element(
      "header",
      {},
      element("span", { class: "tag scheme" }, question.method),
      hostLink(question.host, question.challenge),
      element(
        "span",
        { class: "meta" },
        `${plural(question.waiting, "request")} of `,
        foreign(question.clients.join(", ")),
        ", first ",
        moment(question.since),
      ),
    ),
    element(
      "p",
      { class: "meta" },
      foreign(`${address(question)}${question.path ?? ""}`, "mono"),
      " ",
      question.application ? ["by ", foreign(question.application), " "] : null,
      question.rule ? ["(rule ", foreign(ruleText(question.rule)), ")"] : null,
    ),
    question.failures ? element("p", { class: "problem" }, `${plural(question.failures, "answer")} refused`) : null,
    saying(question.response),
    question.details.length ? plainList(question.details) : null,
    clearWarning(question),
    question.method === "server-trust" ? trustForm(question, answer) : null,
    ["basic", "digest", "ntlm", "html-form"].includes(question.method) ? userForm(question, answer) : null,
    question.method === "server-trust" ? null : nameForm(question, answer),
    element(
      "div",
      { class: "field" },
      button("Try the next method", "reject", "Do not answer this challenge", () => answer({ act: "reject" })),
      button("Refuse (502)", "cancel", "The client gets a 502", () => answer({ act: "cancel" })),
    ),
  );
}

function button(text, name, title, perform) {
  return element("button", { type: "button", class: "small", "data-name": name, title, onclick: perform }, text);
}

/** A form in one line; `read` gives what is sent. */
function line(name, submit, fields, send) {
  const form = element(
    "form",
    { class: "field acceptance" },
    ...fields,
    element("button", { type: "submit", "data-name": name }, submit),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  return form;
}

function field(name, label, attributes = {}) {
  return element("input", { "data-name": name, "aria-label": label, placeholder: label, required: true, ...attributes });
}

function duration() {
  return element(
    "select",
    { "data-name": "persistence", "aria-label": "how long to save it" },
    ...persistences.map(([value, text]) => element("option", { value }, text)),
  );
}

function userForm(question, answer) {
  const user = field("user", "user", { autocomplete: "off", spellcheck: "false", value: question.user });
  const password = field("password", "password", { type: "password", autocomplete: "off" });
  const persistence = duration();
  return line("answer", "Log in", [user, password, persistence], () =>
    answer({ act: "user", name: user.value, persistence: persistence.value }, password.value),
  );
}

function nameForm(question, answer) {
  if (!question.credentials.length) return element("p", { class: "meta" }, "No credential of the rule file or the store can answer it.");
  const [first, ...others] = question.credentials.map((value) => () => element("option", { value }, printable(value)));
  const name = element("select", { "data-name": "credential", "aria-label": "credential of the rule file or the store" }, first());
  // 50 questions with 100 credentials each would be most of the page.
  name.addEventListener("focus", () => name.append(...others.splice(0).map((make) => make())));
  return line("use", "Use it", [name], () => answer({ act: "use", name: name.value }));
}

function trustForm(question, answer) {
  const month = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const until = element("input", { type: "date", required: true, value: month, "data-name": "until", "aria-label": "last day" });
  return element(
    "div",
    { class: "look" },
    element("p", { class: "mono" }, foreign(`key pin ${question.pin ?? "unknown"}`)),
    element("p", { class: "meta" }, `Compare it with one from another source before you trust ${address(question)}.`),
    line("trust", "Trust it", [element("label", {}, "Trust this key until ", until)], () => answer({ act: "trust", until: until.value })),
  );
}

/** The answers that are saved for later requests, each to be taken back. */
export class Answers extends Section {
  constructor(perform) {
    super({
      id: "answers",
      titles: ["Saved answers", "Answers"],
      nothing: "None yet. An answer that you give for this session, or permanently, is listed here.",
      caption: "Answers of operators that are saved for later requests",
      columns: [["Challenge", "server"], ["Answer"], ["Rule"], ["Since", "short"], ["", "act"]],
      keyOf: ({ id }) => `${id}`,
      words: (entry) => [address(entry), entry.realm, entry.method, entry.answer, ruleText(entry.rule)],
      hosts: ({ host }) => [host],
      make: (entry) => {
        const button = element("button", { type: "button", class: "small", "data-name": "forget" }, "Remove");
        button.addEventListener("click", () => perform(() => act("answers/forget", { id: entry.id })));
        button.setAttribute("aria-label", `Remove the answer ${entry.answer} for ${address(entry)}`);
        return this.table.row(
          element("div", {}, `${entry.method} of `, place(entry)),
          foreign(entry.answer),
          entry.rule ? foreign(ruleText(entry.rule)) : "–",
          moment(entry.since),
          button,
        );
      },
    });
  }
}
