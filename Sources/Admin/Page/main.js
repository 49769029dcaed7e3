// Logs in, and shows what the proxy tells for as long as somebody looks.

import { ageAll, notice } from "./elements.js";
import { Sections } from "./sections.js";
import { LoggedOut, events, hasUsers, isKnown, login, loginUser, logout, takeToken, tokenIn } from "./session.js";

const node = (id) => document.getElementById(id);
const sections = new Sections(node("content"), node("sections"), perform);
let stream = null;

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
  node("live").dataset.state = state;
  node("live").textContent = text;
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
        say("live", "live");
        pause = 1000;
        sections.take(name, value);
      }
    } catch (error) {
      if (own.signal.aborted) return;
      if (error instanceof LoggedOut) return ask("the session has ended");
    }
    if (own.signal.aborted) return;
    say("away", "the proxy does not respond");
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

// Nobody looks: a browser has few connections to one place, and the proxy has better things to do.
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

setInterval(ageAll, 1000);

const token = takeToken();
if (token) enter(() => login(token));
else if (isKnown()) follow();
else ask();
