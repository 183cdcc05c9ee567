// The console works without this file. It adds single keys, live figures and the renewal of a claim.
"use strict";
(() => {
  const body = document.body;
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const words = JSON.parse(body.dataset.words || "{}");
  // A sentence in the page's language; {name} stands for a value.
  const say = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);

  // --- keys -------------------------------------------------------------
  const DECIDES = new Set(["approve", "request_changes", "reject", "withdraw"]);
  let going = -Infinity;

  const rows = () => all(".rows a.row");
  function move(step) {
    const links = rows();
    if (!links.length) return;
    const current = document.activeElement.closest?.(".rows a.row") || one('.rows a.row[aria-current="true"]');
    const at = links.indexOf(current);
    const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function select() {
    const row = document.activeElement.closest?.(".rows li") || one('.rows li:has([aria-current="true"])');
    one("input[type=checkbox]", row || document.createElement("p"))?.click();
  }
  function act(element) {
    const what = element.dataset.act;
    if (what === "reject" || what === "request_changes") {
      const reason = one("#reason");
      if (reason && !reason.value.trim()) return reason.focus();
    }
    if (what === "withdraw") {
      element.parentElement.open = true;
      return one("#why-withdraw")?.focus();
    }
    if (what === "later") {
      element.parentElement.open = true;
      return one("#at")?.focus();
    }
    if (what === "changes") {
      element.focus();
      return element.scrollIntoView({ block: "start" });
    }
    element.click();
  }
  function keys() {
    one("#key-list")?.showModal();
  }
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input:not([type=checkbox]),textarea,select,[contenteditable]");
    if (field && event.key === "Escape") return field.blur();
    if (field || event.ctrlKey || event.altKey || event.metaKey || one("dialog[open]")) return;
    if (body.dataset.keys !== "on" && event.key !== "Escape") return;
    const started = performance.now() - going < 1500;
    going = -Infinity;
    const place = started && one(`#key-list [data-go="${CSS.escape(event.key)}"]`);
    if (place) return void (location.href = place.href);
    const simple = { j: () => move(1), k: () => move(-1), x: select, "?": keys, g: () => (going = performance.now()) };
    if (event.key === "/") {
      event.preventDefault();
      return one('input[data-act="search"]')?.focus();
    }
    if (simple[event.key]) return simple[event.key]();
    const target = one(`[data-key="${CSS.escape(event.key)}"]`);
    if (!target || (event.repeat && DECIDES.has(target.dataset.act))) return;
    event.preventDefault();
    act(target);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.('[data-act="keys"]')) {
      event.preventDefault();
      keys();
    }
  });
  // A second click while a decision is on its way sends nothing.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    addEventListener("pageshow", () => delete form.dataset.sent, { once: true });
  });

  // Signing in elsewhere: go on by itself, but not when one comes back to this page.
  const arrived = performance.getEntriesByType("navigation")[0]?.type;
  if (arrived !== "back_forward") one('form[data-act="hand-over"]')?.requestSubmit();

  one('.rows a.row[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  one('.bar nav [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });

  // --- live -------------------------------------------------------------
  const dirty = (root) => all("textarea,input:not([type=hidden],[type=checkbox],[type=search])", root).some((f) => f.value !== f.defaultValue);
  let planned = false;
  let wanted = new Set();
  let asked = 0;
  let shown = 0;
  // Who gives a claim up goes away from here: to look at the item once more would take it again.
  let leaving = false;
  addEventListener("submit", (event) => {
    if (event.target.matches("form[data-claim]")) leaving = true;
  });
  addEventListener("pageshow", () => (leaving = false));
  async function refresh() {
    planned = false;
    if (leaving) return;
    const about = wanted;
    const turn = ++asked;
    wanted = new Set();
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // An answer that was overtaken by a newer one would put the past back: it is asked for again instead.
    if (turn < shown) return about.forEach(plan);
    shown = turn;
    for (const old of all("[data-live-on]")) {
      const next = fresh.getElementById(old.id);
      if (!about.has(old.dataset.liveOn) || !next || next.outerHTML === old.outerHTML) continue;
      // What is decided on is what was read: a form for another content never slips in under the hand.
      if (old.dataset.hash !== next.dataset.hash) {
        newer(old);
        continue;
      }
      if (old.contains(document.activeElement) && old.dataset.as && dirty(old)) {
        if (old.dataset.as !== next.dataset.as) toast(say("This changed while you were typing. Load the page again to see it."));
        continue;
      }
      if (old.dataset.as && old.dataset.as === next.dataset.as && old.dataset.who === next.dataset.who) continue;
      const held = old.contains(document.activeElement) ? document.activeElement : null;
      old.replaceWith(next);
      if (held) back(held, next);
    }
    for (const id of about) redraw(id, fresh);
    later();
  }
  // What had the focus has it again, if it is still there.
  function back(held, root) {
    const place = held.getAttribute("href");
    const mark = held.id ? `#${CSS.escape(held.id)}` : place && `[href="${CSS.escape(place)}"]`;
    if (mark) (root.matches(mark) ? root : one(mark, root))?.focus({ preventScroll: true });
  }
  // The list's row says the same as the panel; what happened before the stream was open is in the page only.
  function redraw(id, fresh) {
    const place = `.rows [data-item="${CSS.escape(id)}"] a.row`;
    const next = one(place, fresh);
    // What the filter no longer lists stays where it is, and says what it has become. (The panel's new state is in the page by now.)
    if (!next) return mark(id, one(`[data-live-on="${CSS.escape(id)}"] [data-state]`)?.dataset.state);
    one(place)?.replaceChildren(...next.childNodes);
    if (!one("input", next.parentElement)) one(`.rows [data-item="${CSS.escape(id)}"] input`)?.remove();
  }
  function newer(panel) {
    if (panel.id !== "decision" || one("[data-newer]", panel)) return;
    const note = document.createElement("p");
    const link = document.createElement("a");
    note.className = "notice wait";
    note.dataset.newer = "yes";
    note.setAttribute("role", "alert");
    link.href = location.href;
    link.textContent = say("Show it");
    note.append(say("A newer revision came in while you were reading. A decision on this one would be refused."), " ", link);
    panel.prepend(note);
  }
  function plan(about) {
    wanted.add(about);
    if (planned) return;
    planned = true;
    setTimeout(refresh, wanted.has("signals") || wanted.has("audit") ? 500 : 60);
  }
  function toast(text, place) {
    const box = document.createElement("div");
    box.className = "toast said";
    box.textContent = text;
    if (place) {
      const link = document.createElement("a");
      link.href = place;
      link.textContent = text;
      box.replaceChildren(link);
    }
    // What can be undone stays beside it for as long as it can.
    for (const old of all("#toasts .said")) old.remove();
    one("#toasts").append(box);
    setTimeout(() => box.remove(), 8000);
  }
  const TONES = { submitted: "wait", changes_requested: "wait", rejected: "stop", approved: "pass", scheduled: "pass", published: "live", withdrawn: "" };
  function mark(id, state) {
    const row = one(`.rows [data-item="${CSS.escape(id)}"]`);
    const chip = row && one("[data-state]", row);
    if (!chip || !(state in TONES)) return;
    chip.className = `chip ${TONES[state]}`;
    chip.dataset.state = state;
    one("use", chip).setAttribute("href", `#${state}`);
    chip.lastChild.textContent = say(state[0].toUpperCase() + state.slice(1).replaceAll("_", " "));
    if (state !== "approved") one("[data-way]", row)?.remove();
    if (state !== "submitted") one("input", row)?.remove();
  }
  let fresh = 0;
  function offer(count) {
    const link = document.createElement("a");
    link.href = one("#news").dataset.href;
    link.textContent = say("{n} new", { n: count });
    one("#news").replaceChildren(link);
  }
  function notice({ text, place }) {
    for (const each of all('[data-count="notices"]')) {
      each.textContent = Number(each.textContent) + 1;
      each.hidden = false;
    }
    toast(text, place);
  }
  function hear({ waiting, news }) {
    for (const each of all('[data-count="waiting"]')) each.textContent = waiting;
    const here = new Set(all("[data-live-on]").map((each) => each.dataset.liveOn));
    for (const item of news) {
      if (item.new && one("#news") && !one(`[data-item="${item.item_id}"]`)) offer(++fresh);
      if (item.event === "item") mark(item.item_id, item.state);
      const about = ["signals", "audit", "switch", "secret"].includes(item.event) ? item.event : item.item_id;
      if (item.event === "refused" && !item.item_id) for (const each of ["switch", "secret"]) if (here.has(each)) plan(each);
      if (here.has(about)) plan(about);
      if (item.event === "claim" && one(`[data-item="${CSS.escape(item.item_id)}"]`)) plan(item.item_id);
      if (item.event === "claim" && item.by && here.has(about) && one("form[data-claim]")) toast(say("{who} took this over. You can decide all the same.", { who: item.by }));
      if (item.event === "notice") notice(item);
      if (item.event === "rejected") toast(say("The site refused to show a row that has no receipt. See Audit."));
    }
  }
  if (body.dataset.live) {
    const stream = new EventSource(body.dataset.live);
    stream.onmessage = (event) => hear(JSON.parse(event.data));
    stream.onopen = () => {
      for (const each of all("[data-live-on][data-pending]")) plan(each.dataset.liveOn);
    };
    addEventListener("pagehide", () => stream.close());
  }

  // A decision that the lock never answers can be taken back after a while: look again then.
  function later() {
    const panel = one("[data-look-in]");
    if (panel) setTimeout(() => panel.isConnected && plan(panel.dataset.liveOn), panel.dataset.lookIn * 1000);
  }
  later();

  // --- undo -------------------------------------------------------------
  // The time that is left is for the eye; who listens is told once until when.
  function tick() {
    for (const each of all("[data-left]")) {
      const left = Math.floor((Date.parse(each.dataset.left) - Date.now()) / 1000);
      if (left < 0) (each.closest(".toast, li, form") || each).remove();
      else each.textContent = say("{time} left", { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` });
    }
  }
  tick();
  setInterval(tick, 1000);

  // --- claim ------------------------------------------------------------
  // This page keeps its claim while it is open and gives it up when it closes; another page of the same person keeps its own.
  const tab = Math.random().toString(36).slice(2);
  function claimed(form) {
    const fields = new URLSearchParams(new FormData(form));
    fields.set("tab", tab);
    return fields;
  }
  async function renew() {
    const form = one("form[data-claim]");
    if (!form || leaving || document.hidden) return;
    const answer = await fetch(form.dataset.claim, { method: "POST", body: claimed(form) });
    if (answer.status === 200) plan(one("#decision").dataset.liveOn);
  }
  renew().catch(() => {});
  setInterval(() => renew().catch(() => {}), 300000);
  document.addEventListener("visibilitychange", () => renew().catch(() => {}));
  addEventListener("pageshow", (event) => event.persisted && renew().catch(() => {}));
  addEventListener("pagehide", () => {
    const form = one("form[data-claim]");
    if (form) navigator.sendBeacon(form.action, claimed(form));
  });
})();
