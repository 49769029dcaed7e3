// The parent proxies, and whether connections to them can be made.

import { element, foreign, keep, moment } from "./elements.js";
import { Section, number, table } from "./parts.js";

export class Parents extends Section {
  constructor() {
    super("parents", "Parents", "No request goes through another proxy.");
    this.table = table("Parent proxies, in the order of the rule file", [
      ["Parent"], ["State"], ["Active", "number"], ["Idle", "number"], ["Requests", "number"], ["Refused", "number"],
    ]);
    this.body.append(this.table.node);
  }

  show(parents) {
    this.tell(parents.length, parents.filter(({ state }) => state === "failing").length);
    keep(this.table.body, parents, ({ name, kind, address, found }) => JSON.stringify([name, kind, address, found]), (parent) =>
      this.table.row(
        element(
          "div",
          { class: "place" },
          foreign(parent.name, "address"),
          foreign(`${parent.kind}://${parent.address}`, "address"),
          parent.found ? element("span", { class: "meta" }, "named by a PAC file") : null,
        ),
        state(parent),
        number(parent.in_use),
        number(parent.resting),
        number(parent.requests),
        number(parent.refused),
      ),
    );
  }
}

function state(parent) {
  if (parent.state === "unused") return element("span", { class: "meta" }, "not used yet");
  const isFailing = parent.state === "failing";
  return element(
    "div",
    {},
    element("span", { class: `outcome ${isFailing ? "bad" : "good"}` }, isFailing ? "failing" : "up"),
    isFailing
      ? element(
          "div",
          { class: "meta" },
          "since ",
          moment(parent.failing_since),
          parent.next_try ? [", next try ", moment(parent.next_try)] : null,
        )
      : null,
    parent.last_error
      ? element("div", { class: "meta" }, isFailing ? null : ["last error ", moment(parent.last_error_time), ": "], foreign(parent.last_error))
      : null,
  );
}
