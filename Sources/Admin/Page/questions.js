// The questions of rules that say `ask`, and their answers.

import { element, foreign, keep, moment, plural, printable } from "./elements.js";
import { Section, address, place, saying, table } from "./parts.js";
import { act } from "./session.js";

const persistences = [
  ["session", "for this session"],
  ["none", "for this request"],
  ["permanent", "permanently"],
];

/** A question with the fields that fit its method. `perform` does something and says what came of it. */
export function questionCard(question, perform) {
  const answer = (members, body) => perform(() => act("questions/answer", { id: question.id, ...members }, body));
  return element(
    "article",
    { class: "card asked" },
    element(
      "header",
      {},
      element("span", { class: "tag scheme" }, question.method),
      foreign(question.challenge, "address"),
      element(
        "span",
        { class: "meta" },
        `${plural(question.waiting, "request")} of `,
        foreign(question.clients.join(", ")),
        " since ",
        moment(question.since),
      ),
    ),
    question.rule ? element("p", { class: "meta" }, "rule ", foreign(question.rule), " asks") : null,
    question.failures ? element("p", { class: "problem" }, `${plural(question.failures, "answer")} refused`) : null,
    saying(question.response),
    question.details.length
      ? element("ul", { class: "plain" }, ...question.details.map((line) => element("li", {}, foreign(line, "mono"))))
      : null,
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
  const name = element(
    "select",
    { "data-name": "credential", "aria-label": "credential of the rule file or the store" },
    ...question.credentials.map((value) => element("option", { value }, printable(value))),
  );
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

/** The answers that hold for requests to come, each to be taken back. */
export class Answers extends Section {
  constructor(perform) {
    super("answers", ["Saved answers", "Answers"], "None yet.");
    this.perform = perform;
    this.table = table("Answers of operators that are saved for later requests", [
      ["Challenge", "server"], ["Answer"], ["Rule"], ["Since", "short"], ["", "act"],
    ]);
    this.body.append(this.table.node);
  }

  show(answers) {
    this.tell(answers.length);
    keep(this.table.body, answers, ({ id }) => `${id}`, (answer) => {
      const button = element("button", { type: "button", class: "small", "data-name": "forget" }, "Remove");
      button.addEventListener("click", () => this.perform(() => act("answers/forget", { id: answer.id })));
      button.setAttribute("aria-label", `Remove the answer ${answer.answer} for ${address(answer)}`);
      return this.table.row(
        element("div", {}, `${answer.method} of `, place(answer)),
        foreign(answer.answer),
        answer.rule ? foreign(answer.rule) : "–",
        moment(answer.since),
        button,
      );
    });
  }
}
