// Makes elements. Text only ever becomes a text node, whatever a server has written into it.

const svgSpace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

/** A text from outside, without the characters that control what is shown. */
export const printable = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");

/** A text from outside: nothing in it controls the page, and its direction of writing ends with it. */
export const foreign = (text, kind = "") => element("bdi", { class: `foreign ${kind}` }, printable(text));

/** A time, as how long ago it is. `age` keeps it up to date. */
export function moment(iso) {
  const node = element("time", { datetime: iso, title: new Date(iso).toLocaleString() });
  node.textContent = ago(iso);
  return node;
}

export function ago(iso) {
  const seconds = Math.round((Date.now() - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return iso;
  if (seconds < 0) return until(-seconds);
  if (seconds < 2) return "now";
  return `${span(seconds)} ago`;
}

function until(seconds) {
  return `in ${span(seconds)}`;
}

export function span(seconds) {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

/** Brings all times up to date. */
export function ageAll() {
  for (const node of document.querySelectorAll("time[datetime]")) {
    const text = ago(node.dateTime);
    if (node.textContent !== text) node.textContent = text;
  }
}

export function plural(count, noun, nouns = `${noun}s`) {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/**
 * Brings the children of `parent` in line with `items`: those that are the same stay the elements that they are, with focus
 * and all that is open in them.
 */
export function keep(parent, items, keyOf, make) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const state = JSON.stringify(item);
    let node = known.get(key);
    known.delete(key);
    if (!node || node.itemState !== state) {
      const made = make(item, node);
      made.dataset.key = key;
      made.itemState = state;
      if (node) {
        if (node === place) place = made;
        exchange(node, made);
      }
      node = made;
    }
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
  for (const node of known.values()) node.remove();
}

function exchange(old, made) {
  const open = new Set([...old.querySelectorAll("details[open]")].map((node) => node.dataset.name));
  for (const node of made.querySelectorAll("details")) node.open = open.has(node.dataset.name);
  const isFocused = old === document.activeElement;
  const focus = old.contains(document.activeElement) ? document.activeElement.dataset.name : undefined;
  const inputs = new Map([...old.querySelectorAll(":is(input, select)[data-name]")].map((node) => [node.dataset.name, node.value]));
  for (const node of made.querySelectorAll(":is(input, select)[data-name]")) {
    const value = inputs.get(node.dataset.name);
    if (value === undefined || node.value === value) continue;
    // A list gets its options with the focus.
    node.dispatchEvent(new Event("focus"));
    node.value = value;
  }
  old.replaceWith(made);
  if (isFocused) made.focus({ preventScroll: true });
  if (focus) made.querySelector(`[data-name="${CSS.escape(focus)}"]`)?.focus();
}

/** Lines to be taken elsewhere, with a button that copies them. */
export function lines(text, label) {
  const code = element("code", {}, text);
  const button = element("button", { type: "button", class: "small", "data-name": `copy ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text, code)) ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return element("div", { class: "lines" }, element("pre", { tabindex: "0", "aria-label": label }, code), button);
}

async function copy(text, node) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not to be had over plain HTTP from another machine.
    const range = document.createRange();
    range.selectNodeContents(node);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

let noticeEnd;

/** Says in a line what came of something. */
export function notice(text, isProblem = false) {
  const node = document.getElementById("notice");
  node.textContent = text;
  node.className = isProblem ? "notice shown problem" : "notice shown";
  clearTimeout(noticeEnd);
  noticeEnd = setTimeout(() => (node.className = "notice"), 6000);
}
