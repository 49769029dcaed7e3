// The sections of the page, and which part of them is shown.

import { Certificates } from "./certificates.js";
import { Challenges, Unanswered, isOfCertificate, isOpen } from "./challenges.js";
import { Credentials } from "./credentials.js";
import { element, foreign, keep } from "./elements.js";
import { Expiries, Migration } from "./expiries.js";
import { Overview } from "./overview.js";
import { Parents } from "./parents.js";
import { viewLink } from "./parts.js";
import { Answers, Questions } from "./questions.js";
import { Requests } from "./requests.js";

/**
 * The overview shows the beginning of each section. `#section=ID` opens one of them alone, and `#host=HOST` the page of a host, which
 * has what each section knows of it. The filter leaves in all of them what has its words.
 */
export class Sections {
  constructor(parent, links, filter, perform) {
    this.filter = filter;
    this.overview = new Overview();
    const status = () => this.overview.status;
    this.questions = new Questions(perform);
    this.unanswered = new Unanswered(perform, status);
    this.certificates = new Certificates(perform, status);
    this.credentials = new Credentials(perform);
    this.requests = new Requests();
    this.challenges = new Challenges();
    this.parents = new Parents();
    this.expiries = new Expiries();
    this.answers = new Answers(perform);
    this.migration = new Migration();
    // What is urgent comes first.
    this.lists = [this.questions, this.unanswered, this.credentials, this.certificates, this.parents, this.requests, this.challenges, this.expiries, this.answers, this.migration];
    this.due = element("ul", { class: "due-list", "aria-label": "Needs you" });
    this.hostTitle = element("h1", { tabindex: "-1" });
    this.host = element("div", { class: "host" }, this.hostTitle, element("a", { href: viewLink("overview") }, "All hosts"));
    this.nothing = element("p", { class: "nothing", role: "status" });
    parent.replaceChildren(this.due, this.host, this.nothing, this.overview.node, ...this.lists.map(({ node }) => node));
    this.place();
    links.replaceChildren(this.overview.link, ...this.lists.map(({ link }) => link));
    filter.addEventListener("input", () => this.show());
    filter.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.open();
    });
    addEventListener("hashchange", () => this.follow());
    this.follow();
  }

  /** A part of what the proxy tells has changed. */
  take(name, value) {
    const takes = {
      load: () => this.overview.takeLoad(value),
      status: () => this.overview.takeStatus(value),
      challenges: () => this.takeChallenges(value),
      certificates: () => this.certificates.takeLooks(value),
    };
    if (takes[name]) takes[name]();
    else this[name]?.take(value);
    this.place();
    this.showSummary();
  }

  takeChallenges({ total, entries }) {
    const [certificates, others] = [entries.filter(isOfCertificate), entries.filter((entry) => !isOfCertificate(entry))];
    const unanswered = others.filter(isOpen);
    this.unanswered.take({ total: unanswered.length, entries: unanswered });
    this.challenges.take({ total: total - certificates.length, entries: others });
    this.certificates.takeChallenges(certificates);
  }

  /** The overview stands behind the questions and what is unanswered, if there is any. */
  place() {
    const isUrgent = this.questions.entries.length + this.unanswered.entries.length > 0;
    const before = isUrgent ? this.unanswered.node.nextElementSibling : this.questions.node;
    if (before !== this.overview.node && before.previousElementSibling !== this.overview.node) before.before(this.overview.node);
  }

  // The view

  /** Goes where the page's address says. */
  follow() {
    const members = new URLSearchParams(location.hash.slice(1));
    const isFirst = !this.view;
    // The link that skips to the content, and the token of a login, are no views.
    if (location.hash && !members.has("section") && !members.has("host")) return isFirst ? this.show(null, null) : undefined;
    const section = this.lists.find(({ id }) => id === members.get("section"))?.id ?? null;
    this.show(section, members.get("host") || null);
    if (isFirst) return;
    scrollTo(0, 0);
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (this.view.host !== null) this.hostTitle.focus();
  }

  show(section = this.view.section, host = this.view.host) {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.view = { section, host, words };
    this.overview.show(this.view);
    for (const list of this.lists) list.show(this.view);
    this.host.hidden = host === null;
    if (host !== null) this.hostTitle.replaceChildren(foreign(host));
    for (const { link } of [this.overview, ...this.lists]) {
      const isOpen = link.hash === viewLink(section ?? (host === null ? "overview" : ""));
      if (isOpen) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.showSummary();
  }

  showSummary() {
    const { section, host, words } = this.view;
    const isWhole = section === null && host === null && !words.length;
    const due = isWhole ? this.lists.filter(({ dueWords }) => dueWords) : [];
    keep(this.due, due.map(({ id, dueWords }) => ({ id, dueWords })), ({ id }) => id, ({ id, dueWords }) =>
      element("li", {}, element("a", { href: viewLink(id) }, dueWords)),
    );
    this.due.hidden = due.length === 0;
    const isEmpty = section === null && !isWhole && this.lists.every(({ matchCount }) => !matchCount);
    this.nothing.hidden = !isEmpty;
    if (!isEmpty) return;
    const what = words.length ? "Nothing matches the filter" : "Nothing is known";
    this.nothing.textContent = `${what}${host === null ? "" : ` of ${host}`}. Send the request again through the proxy, and it appears here.`;
  }

  /** Opens the page of the only host that the filter leaves, or that it names; else goes to the first row. */
  open() {
    const hosts = new Set(this.lists.flatMap((list) => list.matching(this.view).flatMap((entry) => list.hosts(entry))));
    const named = this.filter.value.trim().toLowerCase();
    const [first] = hosts;
    const host = hosts.has(named) ? named : hosts.size === 1 ? first : null;
    if (host === null || this.view.section !== null) return document.querySelector("#content .row")?.focus();
    this.filter.value = "";
    location.hash = viewLink(null, host);
  }
}
