// Toasts in every page of the workspace, and the count at the bell. Without this file the page Notifications says the same.
"use strict";
(() => {
  const body = document.body, signedIn = body.dataset.signedIn === "yes";
  const place = document.querySelector("#toasts"), ask = document.querySelector(".ask");
  const MOST = 3; // toasts at once; the others stand behind the bell
  const LONGEST = 400; // characters of a text
  const shown = new Map(); // notification -> its toast
  if (ask) {
    place.classList.remove("toasts");
    ask.prepend(place);
  }

  // --- pieces ----------------------------------------------------------------
  function make(tag, className, text) {
    const found = document.createElement(tag);
    if (className) found.className = className;
    if (text !== undefined) found.textContent = text;
    return found;
  }
  function button(text, act) {
    const found = make("button", "btn", text);
    found.type = "button";
    found.addEventListener("click", act);
    return found;
  }
  const token = () => document.querySelector("[name=token]")?.value || body.dataset.token;
  async function post(path, data) {
    const headers = { "X-Form-Token": token(), ...(data && { "Content-Type": "application/json" }) };
    const answer = await fetch(path, { method: "POST", headers, body: data && JSON.stringify(data), keepalive: true });
    if (!answer.ok) throw new Error((await answer.json()).message);
  }

  // In the browser's zone: this page may have been opened before the workspace knew it.
  function said(due) {
    const at = new Date(due), today = at.toDateString() === new Date().toDateString();
    return at.toLocaleString("en-GB", { ...(!today && { weekday: "short" }), hour: "2-digit", minute: "2-digit" });
  }

  // --- one toast ----------------------------------------------------------------
  function toast(each) {
    const found = make("div", "toast");
    const head = make("p", "line");
    const text = each.text.length > LONGEST ? `${each.text.slice(0, LONGEST)} …` : each.text;
    head.append(make("b", "", each.title), make("time", "mute small push", said(each.due_at)));
    found.append(head);
    if (text && text !== each.title) found.append(make("p", "plain", text));
    if (each.from_outside) found.append(make("p", "small mute", "Made after reading text from outside; these may not be your words."));
    const acts = make("p", "line small"), fault = make("p", "small");
    fault.setAttribute("role", "alert");
    if (each.link) {
      const link = make("a", "", "Open");
      link.href = each.link;
      acts.append(link);
    } else if (!signedIn) acts.append(make("span", "mute", "Shown here only, because you are a guest."));
    const tried = (act) => () => act(each).catch((error) => (fault.textContent = error instanceof TypeError ? "The workspace does not answer." : error.message));
    const done = button("Done", tried(finish));
    if (each.task_id) acts.append(button("Again in 10 minutes", tried(again)));
    acts.append(done);
    done.classList.add("push");
    found.append(acts, fault);
    found.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        done.click();
      }
    });
    return found;
  }
  async function finish(each) {
    if (signedIn) await post(`/api/v1/notifications/${each.notification_id}/read`);
    gone(each.notification_id);
  }
  async function again(each) {
    await post("/api/v1/tasks", { when: "in 10 minutes", text: each.text || each.title, title: each.title });
    await finish(each);
  }
  function gone(id) {
    const held = shown.get(id)?.contains(document.activeElement);
    shown.get(id)?.remove();
    shown.delete(id);
    fit();
    if (held) [...shown.values()].find((each) => !each.hidden)?.querySelector("button").focus();
  }
  // The newest stay in sight; nothing above them moves under the hand.
  function fit() {
    const all = [...shown.values()], hidden = Math.max(0, all.length - MOST);
    all.forEach((each, at) => (each.hidden = at < hidden));
    place.querySelector(".more")?.remove();
    if (!hidden) return;
    const more = make("p", "toast more small");
    const link = make("a", "", `${hidden} more`);
    link.href = "/notifications";
    more.append(signedIn ? link : `${hidden} more`);
    place.prepend(more);
  }

  // --- news ------------------------------------------------------------------------
  function count(unread, leftOut) {
    const bell = document.querySelector("#unread");
    if (!bell) return;
    const number = unread.length + leftOut;
    bell.hidden = !number;
    bell.querySelector("b").textContent = number > 99 ? "99+" : String(number);
  }
  function hear({ fresh, unread, left_out: leftOut }) {
    if (signedIn) {
      count(unread, leftOut);
      const open = new Set(unread);
      [...shown.keys()].filter((id) => !open.has(id)).forEach(gone);
    }
    const mine = fresh.filter((each) => !shown.has(each.notification_id));
    for (const each of mine) {
      const one = toast(each);
      shown.set(each.notification_id, one);
      place.append(one);
    }
    fit();
    const list = document.querySelector("#news");
    if (list && mine.length) list.hidden = false;
  }
  // What this page has shown is not shown by one that opens later.
  function told(news) {
    hear(news);
    const ids = news.fresh.map((each) => each.notification_id);
    if (signedIn && ids.length) post("/api/v1/notifications/shown", { notification_ids: ids }).catch(() => {});
  }

  // --- a guest who has said nothing yet has no zone; the browser knows one -----------------
  const zone = document.querySelector("#zone");
  if (zone && body.dataset.zone === "UTC" && zone.value === "UTC") zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

  // --- where news come from: the chat's own stream, else one stream for all other pages of this browser --------------
  document.addEventListener("notifications", (event) => told(event.detail));
  if (ask) return;
  const name = signedIn ? "notifications" : "notifications of a guest";
  const others = "BroadcastChannel" in window ? new BroadcastChannel(name) : null;
  let last = null;
  function spread(news) {
    last = { ...news, fresh: [] };
    others?.postMessage(news);
    told(news);
  }
  others?.addEventListener("message", ({ data }) => {
    if (data !== "?") hear(data);
    else if (last) others.postMessage(last);
  });
  // Resolves when nobody is signed in here any more; then another page may try.
  const listen = () => new Promise((over) => {
    let wait = 500;
    (function open() {
      const source = new EventSource("/live");
      source.addEventListener("notifications", (event) => spread(JSON.parse(event.data)));
      source.addEventListener("open", () => (wait = 500));
      const later = () => {
        source.close();
        setTimeout(still, (wait = Math.min(wait * 2, 30_000)));
      };
      source.addEventListener("end", later);
      source.addEventListener("error", () => source.readyState === EventSource.CLOSED && later());
      async function still() {
        const me = await fetch("/api/v1/me").then((answer) => (answer.ok || answer.status === 401 ? answer.json() : null)).catch(() => null);
        if (me && (me.kind === "user") !== signedIn) over();
        else me ? open() : setTimeout(still, (wait = Math.min(wait * 2, 30_000)));
      }
    })();
  });
  if (!signedIn && body.dataset.visit !== "yes") return; // nothing is kept, nobody to tell
  if (navigator.locks && others) {
    others.postMessage("?");
    navigator.locks.request(name, listen);
  } else listen();
})();
