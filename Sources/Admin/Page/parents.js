// The parent proxies, and whether connections to them can be made.

import { element, foreign, moment } from "./elements.js";
import { Section, hostLink, number } from "./parts.js";

/** The host of an address with a port. */
const hostOf = (address) => address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");

export class Parents extends Section {
  constructor() {
    super({
      id: "parents",
      titles: "Parents",
      nothing: "No request goes through another proxy. To use one: attache help parents",
      caption: "Parent proxies, in the order of the rule file",
      columns: [["Parent"], ["State"], ["Active", "number"], ["Idle", "number"], ["Requests", "number"], ["Refused", "number"]],
      keyOf: ({ name, kind, address, found }) => JSON.stringify([name, kind, address, found]),
      words: ({ name, kind, address, state, last_error }) => [name, kind, address, state, last_error],
      hosts: ({ address }) => [hostOf(address)],
      isDue: ({ state }) => state === "failing",
      due: ["parent fails", "parents fail"],
      make: (parent) => this.table.row(
        element(
          "div",
          { class: "place" },
          foreign(parent.name, "address"),
          hostLink(hostOf(parent.address), `${parent.kind}://${parent.address}`),
          parent.found ? element("span", { class: "meta" }, "named by a PAC file") : null,
        ),
        state(parent),
        number(parent.active),
        number(parent.idle),
        number(parent.requests),
        number(parent.refused),
      ),
    });
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
