// The session with the proxy. A cookie that scripts cannot read goes to every port of its host; the key, which lies in the
// storage of this port alone, goes along in a field. Both are needed.

const place = "attache.key";

export class LoggedOut extends Error {}

function request(method, path, fields = {}, signal = undefined, body = undefined) {
  const key = localStorage.getItem(place);
  const headers = key ? { "X-Attache-Key": key, ...fields } : fields;
  return fetch(path, { method, headers, body, signal, cache: "no-store", credentials: "same-origin" });
}

export const isKnown = () => localStorage.getItem(place) !== null;

/** Takes a token from the page's address, which then no longer has it. */
export function takeToken() {
  const token = tokenIn(location.hash);
  if (token) history.replaceState(null, "", location.pathname);
  return token;
}

export function tokenIn(text) {
  return /(?:token=|^\s*)([0-9a-f]{16,})\s*$/.exec(text)?.[1];
}

/** Whether people log in with passwords. */
export async function hasUsers() {
  const response = await request("GET", "session");
  return response.ok && (await response.json()).users;
}

export const login = (token) => begin(`Bearer ${token}`);

export function loginUser(user, password) {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return begin(`Basic ${btoa(String.fromCharCode(...bytes))}`);
}

/** Throws the reason why not. */
async function begin(authorization) {
  const response = await request("POST", "session", { Authorization: authorization });
  if (!response.ok) throw new Error((await response.text()).trim());
  localStorage.setItem(place, (await response.json()).key);
}

export async function logout() {
  await request("DELETE", "session");
  localStorage.removeItem(place);
}

/** The sentence that says what came of it. Throws why it was not done. */
export async function act(path, members, body = undefined) {
  // The proxy reads a query by RFC 3986, where a plus sign is no space.
  const query = new URLSearchParams(members).toString().replaceAll("+", "%20");
  const response = await request("POST", `${path}?${query}`, {}, undefined, body);
  if (response.status === 401) throw new LoggedOut();
  const text = (await response.text()).trim();
  if (!response.ok) throw new Error(text);
  return text;
}

/** Events as they come: pairs of a name and a value. Ends when the proxy ends them. */
export async function* events(signal) {
  const response = await request("GET", "events", {}, signal);
  if (response.status === 401) {
    localStorage.removeItem(place);
    throw new LoggedOut();
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const pieces = [];
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    let rest = value;
    // An event ends with an empty line, which may be cut in two.
    if (pieces.length && pieces.at(-1).endsWith("\n") && rest.startsWith("\n")) rest = pieces.pop() + rest;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      pieces.push(rest.slice(0, end));
      yield parse(pieces.splice(0).join(""));
      rest = rest.slice(end + 2);
    }
    if (rest) pieces.push(rest);
  }
}

function parse(text) {
  const members = new Map(text.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]));
  return [members.get("event"), JSON.parse(members.get("data"))];
}
