// Logs in, and shows what the proxy sends while the page is visible.

import { ageAll, moment, notice } from "./elements.js";
import { bindKeys } from "./keys.js";
import { Sections } from "./sections.js";
import { LoggedOut, events, hasUsers, isKnown, login, loginUser, logout, takeToken, tokenIn } from "./session.js";

const node = (id) => document.getElementById(id);
const sections = new Sections(node("content"), node("sections"), node("filter"), perform);
let stream = null;
/** When the last event came, in milliseconds since 1970. The proxy sends one each second. */
let lastEvent = Date.now();

/** Milliseconds without an event after which the connection counts as lost. */
const silence = 10_000;

/** Does something, and says what came of it. */
async function perform(act) {
  try {
    notice(await act());
  } catch (error) {
    if (error instanceof LoggedOut) ask();
    else notice(error.message, true);
  }
}

function ask(problem = "") {
  stream?.abort();
  stream = null;
  node("top").hidden = true;
  node("content").hidden = true;
  node("login").hidden = false;
  node("login-problem").textContent = problem;
  document.title = "Attaché";
  hasUsers().then(
    (is) => (node("user-form").hidden = !is),
    () => {},
  );
}

function say(state, text) {
  if (node("live").dataset.state === state && node("live").textContent === text) return;
  node("live").dataset.state = state;
  node("live").textContent = text;
  const isLost = state === "lost";
  document.body.classList.toggle("stale", isLost);
  node("lost").hidden = !isLost;
  if (isLost) node("lost").replaceChildren("No connection to the proxy since ", new Date(lastEvent).toLocaleTimeString(), " (", moment(new Date(lastEvent).toISOString()), "). The page shows the state of that time.");
}

async function follow() {
  node("login").hidden = true;
  node("top").hidden = false;
  node("content").hidden = false;
  const own = (stream = new AbortController());
  let pause = 1000;
  while (!own.signal.aborted) {
    try {
      for await (const [name, value] of events(own.signal)) {
        lastEvent = Date.now();
        say("live", "live");
        pause = 1000;
        sections.take(name, value);
      }
    } catch (error) {
      if (own.signal.aborted) return;
      if (error instanceof LoggedOut) return ask("the session has ended");
    }
    if (own.signal.aborted) return;
    say("lost", "connection lost");
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, 10_000);
  }
}

async function enter(begin) {
  try {
    await begin();
    follow();
  } catch (error) {
    ask(error.message);
  }
}

// While the page is hidden, it needs no connection: a browser has few to one place.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream?.abort();
    say("away", "paused");
  } else if (stream) {
    follow();
  }
});

node("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = tokenIn(node("token").value);
  node("token").value = "";
  if (token) enter(() => login(token));
  else ask("This link is not valid. Run attache admin token for a new one");
});

node("user-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const [user, password] = [node("user").value, node("password").value];
  node("password").value = "";
  enter(() => loginUser(user, password));
});

node("leave").addEventListener("click", async () => {
  await logout();
  ask();
});

addEventListener("hashchange", () => {
  const token = takeToken();
  if (token) enter(() => login(token));
});

node("keys").addEventListener("click", () => node("help").showModal());
bindKeys(node("filter"), node("help"));

setInterval(() => {
  ageAll();
  if (node("live").dataset.state === "live" && Date.now() - lastEvent > silence) say("lost", "connection lost");
}, 1000);

const token = takeToken();
if (token) enter(() => login(token));
else if (isKnown()) follow();
else ask();
