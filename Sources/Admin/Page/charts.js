// Draws the load of the last minutes.

import { drawing, element } from "./elements.js";

const seconds = 300;
const height = 120;
const width = 600;

/** The smallest of 1, 2, 5, 10, 20 … that is not below it. */
export function bound(value) {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/**
 * A chart over time. `series` are `{ name, kind, value(sample) }`, drawn one over the other; `unit` writes a value.
 */
export class Chart {
  constructor(title, series, unit) {
    this.title = title;
    this.series = series;
    this.unit = unit;
    this.samples = [];
    this.cursor = null;
    this.paths = series.map(({ kind }) => drawing("path", { class: `line ${kind}`, "vector-effect": "non-scaling-stroke" }));
    this.areas = series.map(({ kind }) => drawing("path", { class: `area ${kind}` }));
    this.mark = drawing("line", { class: "mark", y1: 0, y2: height, "vector-effect": "non-scaling-stroke" });
    const grid = [0.25, 0.5, 0.75].map((share) =>
      drawing("line", { class: "grid", x1: 0, x2: width, y1: height * share, y2: height * share, "vector-effect": "non-scaling-stroke" }),
    );
    this.svg = drawing(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      ...grid,
      ...this.areas,
      ...this.paths,
      this.mark,
    );
    this.top = element("span", { class: "top" });
    this.values = series.map(({ kind, name }) => {
      const value = element("b", {});
      return { value, node: element("span", { class: `key ${kind}` }, `${name} `, value) };
    });
    this.when = element("span", { class: "when" });
    this.plot = element(
      "div",
      { class: "plot", tabindex: "0", role: "img", "data-name": title },
      this.svg,
      this.top,
      element("span", { class: "from" }, `${seconds / 60} min ago`),
      element("span", { class: "to" }, "now"),
    );
    this.node = element(
      "figure",
      { class: "chart" },
      element("figcaption", {}, element("h3", {}, title), this.when, ...this.values.map(({ node }) => node)),
      this.plot,
    );
    this.plot.addEventListener("pointermove", (event) => {
      const box = this.plot.getBoundingClientRect();
      this.point(Math.round(((event.clientX - box.left) / box.width) * (seconds - 1)));
    });
    this.plot.addEventListener("pointerleave", () => this.point(null));
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30 }[event.key];
      if (event.key === "Escape") this.point(null);
      if (!step) return;
      event.preventDefault();
      this.point(Math.min(seconds - 1, Math.max(0, (this.cursor ?? seconds - 1) + step)));
    });
  }

  /** Shows the values at a second, or those of now. */
  point(second) {
    this.cursor = second;
    this.read();
  }

  show(samples) {
    this.samples = samples.slice(-seconds);
    const start = seconds - this.samples.length;
    const lists = this.series.map(({ value }) => this.samples.map(value));
    const most = bound(Math.max(1, ...lists.flat().filter((value) => value !== undefined)));
    this.top.textContent = this.unit(most);
    lists.forEach((list, index) => {
      const x = (place) => (((start + place) / (seconds - 1)) * width).toFixed(1);
      const y = (value) => (height - (value / most) * (height - 2)).toFixed(1);
      let line = "";
      let area = "";
      let first = null;
      list.forEach((value, place) => {
        const isKnown = value !== undefined;
        if (isKnown) {
          line += `${first === null ? "M" : "L"}${x(place)} ${y(value)}`;
          first ??= place;
        }
        const isLast = place === list.length - 1;
        if (first !== null && (!isKnown || isLast)) {
          const last = isKnown ? place : place - 1;
          const piece = line.slice(line.lastIndexOf("M") + 1);
          area += `M${x(first)} ${height}L${piece}L${x(last)} ${height}Z`;
          first = null;
        }
      });
      this.paths[index].setAttribute("d", line);
      this.areas[index].setAttribute("d", area);
    });
    this.read();
  }

  read() {
    const start = seconds - this.samples.length;
    const place = this.cursor === null ? this.samples.length - 1 : this.cursor - start;
    const sample = this.samples[place];
    const texts = this.series.map(({ value }) => {
      const known = sample ? value(sample) : undefined;
      return known === undefined ? "–" : this.unit(known);
    });
    this.values.forEach(({ value }, index) => (value.textContent = texts[index]));
    this.when.textContent = this.cursor === null || !sample ? "" : new Date(sample.time * 1000).toLocaleTimeString();
    const x = this.cursor === null ? -10 : (this.cursor / (seconds - 1)) * width;
    this.mark.setAttribute("x1", x);
    this.mark.setAttribute("x2", x);
    const spoken = this.series.map(({ name }, index) => `${name} ${texts[index]}`).join(", ");
    this.plot.setAttribute("aria-label", `${this.title}: ${spoken} ${this.when.textContent}`.trim());
  }
}
