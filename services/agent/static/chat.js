// The chat works without this file. It sends without loading anew, shows an answer while it is written, and keeps all tabs alike.
"use strict";
(() => {
  const body = document.body;
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const msgs = one("#msgs"), form = one("#ask"), field = one("#m"), notice = one("#notice");
  let token = body.dataset.token, conversation = body.dataset.conversation || "", live = null;
  const turns = new Map(); // turn -> {state, agent, text, seconds}; those that wait or run

  // --- pieces of the page -----------------------------------------------
  function make(tag, className, text) {
    const found = document.createElement(tag);
    if (className) found.className = className;
    if (text !== undefined) found.textContent = text;
    return found;
  }
  const nodes = (turn) => all(`[data-turn="${CSS.escape(turn)}"]`, msgs);
  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 160;
  function follow(change) {
    const stay = atEnd();
    change();
    if (stay) scrollTo({ top: document.documentElement.scrollHeight });
  }
  function tell(text, tone = "stop") {
    notice.hidden = !text;
    notice.className = `notice ${tone}`;
    notice.textContent = text;
    if (text) notice.scrollIntoView({ block: "nearest" });
  }
  function person(turn, text) {
    const li = make("li", "me");
    li.dataset.turn = turn;
    li.append(make("span", "vh", "You: "), make("p", "plain", text));
    return li;
  }
  function state() {
    const running = [...turns.values()].some((each) => each.state === "runs");
    const waiting = [...turns.values()].filter((each) => each.state === "waits").length;
    one("#stop").hidden = !running;
    const more = waiting ? ` ${waiting} ${waiting > 1 ? "messages wait their" : "message waits its"} turn.` : " Your next message waits its turn.";
    one("#state").textContent = running ? `Answering.${more}` : waiting ? more.trim() : "";
    one("#empty")?.remove();
  }

  // --- what happens in a turn ---------------------------------------------
  const happens = {
    waiting({ turn, text, before }) {
      if (turns.has(turn) && nodes(turn).length) return;
      nodes(turn).forEach((each) => each.remove());
      const li = person(turn, text);
      if (before) {
        li.classList.add("waits");
        li.dataset.said = "Waits its turn";
      }
      msgs.append(li);
      turns.set(turn, { state: before ? "waits" : "runs" });
    },
    started({ turn, text }) {
      nodes(turn).forEach((each) => each.remove());
      const agent = make("li", "agent");
      agent.dataset.turn = turn;
      agent.setAttribute("aria-busy", "true");
      agent.append(make("span", "vh", "Agent: "), make("p", "caret plain", ""));
      const first = one(".waits", msgs);
      const here = [person(turn, text), agent];
      first ? first.before(...here) : msgs.append(...here);
      turns.set(turn, { state: "runs", agent });
    },
    text({ turn, text }) {
      const agent = turns.get(turn)?.agent;
      if (!agent) return;
      let last = agent.lastElementChild;
      if (!last.classList.contains("caret")) {
        last = make("p", "caret plain");
        agent.append(last);
        text = text.replace(/^\n+/, "");
      }
      last.append(text);
    },
    tool({ turn, call_id, tool }) {
      const known = turns.get(turn);
      if (!known?.agent) return;
      const caret = one(".caret", known.agent);
      if (caret && !caret.textContent) caret.remove();
      else caret?.classList.remove("caret");
      let list = known.agent.lastElementChild;
      if (!list.classList.contains("tools")) {
        list = make("ul", "tools");
        known.agent.append(list);
      }
      const li = make("li");
      li.dataset.call = call_id;
      const seconds = make("span", "mute", "· runs");
      const began = performance.now();
      li.append(make("code", "", tool), " ", seconds);
      list.append(li);
      const timer = setInterval(() => {
        if (!seconds.isConnected) return clearInterval(timer);
        seconds.textContent = `· runs, ${Math.round((performance.now() - began) / 1000)} s`;
      }, 1000);
    },
    tools({ turn, calls }) {
      const agent = turns.get(turn)?.agent;
      if (!agent) return;
      const signs = { done: "✓", waiting: "▲" }, said = { failed: "failed", refused: "refused", waiting: "waits for a person", interrupted: "interrupted" };
      for (const call of calls) {
        const li = one(`[data-call="${CSS.escape(call.call_id)}"]`, agent);
        if (!li) continue;
        li.replaceChildren(`${signs[call.state] || "✕"} `, make("code", "", call.tool), ` ${call.shown} `);
        if (said[call.state]) li.append(make("b", "", said[call.state]), " ");
        li.append(make("span", "mute", `· ${call.ms} ms`));
      }
      agent.append(make("p", "caret plain"));
    },
    note({ turn, text }) {
      turns.get(turn)?.agent?.append(make("p", "mute small", text));
    },
    turn({ turn, html, said, tainted, as }) {
      const old = nodes(turn), fresh = make("template");
      fresh.innerHTML = html;
      const anchor = old[0] || one(".waits", msgs);
      anchor ? anchor.before(fresh.content) : msgs.append(fresh.content);
      old.forEach((each) => each.remove());
      turns.delete(turn);
      one("#said").textContent = as === "stopped" ? "Stopped." : said;
      const taint = one("#taint");
      if (taint && tainted) {
        taint.hidden = !tainted.length;
        one("#sources").textContent = tainted.join(", ");
      }
    },
    meter({ html }) {
      one("#meter").innerHTML = html;
    },
    list({ html, title, gone }) {
      if (gone) return void (location.href = "/");
      one("#side").innerHTML = html;
      if (conversation) one(`[href="/c/${conversation}"]`, one("#side"))?.setAttribute("aria-current", "page");
      if (title) {
        one("#title").textContent = title;
        document.title = `${title} · Schleuse Workspace`;
        const name = one("#manage [name=title]");
        if (name && document.activeElement !== name) name.value = title;
      }
    },
  };

  // --- the stream ----------------------------------------------------------
  const SILENT = "The workspace does not answer. It is asked again until it does.";
  let silence = 0;
  const silent = () => notice.hidden && tell(SILENT, "wait");
  function listen(after = "") {
    live?.close();
    if (!conversation && body.dataset.signedIn !== "yes" && body.dataset.visit !== "yes") return; // a guest who has said nothing has nothing to listen to
    const query = new URLSearchParams();
    if (conversation) query.set("c", conversation);
    if (after) query.set("after", after);
    const mine = (live = new EventSource(`/live?${query}`));
    for (const [name, happen] of Object.entries(happens)) {
      mine.addEventListener(name, (event) => {
        follow(() => happen(JSON.parse(event.data)));
        state();
      });
    }
    mine.addEventListener("notifications", (event) => document.dispatchEvent(new CustomEvent("notifications", { detail: JSON.parse(event.data) })));
    let met = false;
    mine.addEventListener("here", () => {
      if (met) setTimeout(lost, 4000, new Set(turns.keys()));
      met = true;
    });
    mine.addEventListener("end", () => {
      mine.close();
      setTimeout(again, 300);
    });
    mine.addEventListener("open", () => {
      clearTimeout(silence);
      if (silence && notice.textContent === SILENT) tell("");
      silence = 0;
    });
    mine.addEventListener("error", () => {
      silence ||= setTimeout(silent, 2000);
      if (mine.readyState === EventSource.CLOSED && mine === live) setTimeout(again, 1000);
    });
  }
  // After the stream was lost: a turn that nobody knows any more is shown as it was kept.
  async function lost(before) {
    for (const turn of before) {
      if (!turns.has(turn)) continue;
      const answer = await fetch(`/api/v1/turns/${turn}`).catch(() => null);
      if (answer && answer.status !== 409) return reload();
    }
  }
  // Who is here may have changed, or the workspace has started anew: the page asks, and what was written stays.
  async function again() {
    if (document.hidden) return document.addEventListener("visibilitychange", again, { once: true });
    try {
      const answer = await fetch("/", { method: "HEAD", redirect: "manual" });
      if (answer.status >= 500) throw new Error("not ready");
      reload();
    } catch {
      silent();
      setTimeout(again, 1000);
    }
  }
  const DRAFT = "draft";
  function keep() {
    try {
      field.value ? sessionStorage.setItem(DRAFT, JSON.stringify([conversation, field.value])) : sessionStorage.removeItem(DRAFT);
    } catch { /* a browser may forbid it; then nothing is kept */ }
  }
  function reload() {
    keep();
    location.reload();
  }
  function restore() {
    try {
      const [where, text] = JSON.parse(sessionStorage.getItem(DRAFT) || "[]");
      if (where === conversation && !field.value) field.value = text;
      sessionStorage.removeItem(DRAFT);
    } catch { /* nothing to restore */ }
  }

  // --- sending --------------------------------------------------------------
  async function ask(method, path, data) {
    const headers = { "X-Form-Token": token, ...(data && { "Content-Type": "application/json" }) };
    return fetch(path, { method, headers, body: data && JSON.stringify(data) });
  }
  // Another tab may have begun the visit: then this page's token is not the one that counts.
  async function change(method, path, data) {
    let answer = await ask(method, path, data);
    if (answer.status === 403 && (await answer.clone().json()).code === "token") {
      token = (await (await fetch("/api/v1/me")).json()).token;
      all("[name=token]").forEach((each) => (each.value = token));
      answer = await ask(method, path, data);
    }
    if (answer.status === 401) reload();
    return answer;
  }
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  let sending = false;
  async function send() {
    const text = field.value;
    if (!text.trim() || sending) return;
    sending = true;
    field.value = "";
    tell("");
    try {
      const answer = await change("POST", "/api/v1/turns", { text, conversation_id: conversation || null, wait: false, zone: conversation ? "" : timeZone });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.message);
      if (found.token) {
        token = found.token;
        all("[name=token]").forEach((each) => (each.value = token));
      }
      if (!conversation) settle(found);
    } catch (error) {
      field.value = field.value ? `${text}\n${field.value}` : text;
      tell(error instanceof TypeError ? "The workspace does not answer. Nothing was sent." : error.message);
    } finally {
      sending = false;
      keep();
      field.focus();
    }
  }
  function settle(found) {
    conversation = found.conversation_id;
    history.replaceState(null, "", `/c/${conversation}`);
    form.action = `/c/${conversation}`;
    all("[data-to]").forEach((each) => (each.action = `/c/${conversation}/${each.dataset.to}`));
    one("#manage").hidden = false;
    listen(`${found.turn_id}.0`);
  }
  async function stop() {
    if (one("#stop").hidden || !conversation) return;
    const answer = await change("POST", `/api/v1/conversations/${conversation}/stop`);
    if (!answer.ok) tell((await answer.json()).message);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.submitter?.value === "stop" ? stop() : send();
  });
  field.addEventListener("input", keep);

  // --- keys ------------------------------------------------------------------
  const coarse = matchMedia("(pointer: coarse)");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.key === "Escape") return stop();
    if (event.target === field) {
      if (event.key === "Enter" && !event.shiftKey && !coarse.matches) {
        event.preventDefault();
        if (!event.repeat) send();
      }
      return;
    }
    if (event.target.closest?.("input,textarea,select,[contenteditable]") || event.repeat) return;
    if (event.key === "n") location.href = "/";
  });

  // --- the zone of this browser (rule 6) ---------------------------------------
  async function zone() {
    const mine = timeZone;
    if (!mine || mine === body.dataset.zone || (!conversation && body.dataset.signedIn !== "yes")) return;
    try {
      if (sessionStorage.getItem("zone") === mine) return;
      sessionStorage.setItem("zone", mine);
    } catch { /* then it is said with every page */ }
    const answer = await change("PUT", "/api/v1/me/zone", { zone: mine });
    const found = answer.ok ? await answer.json() : {};
    if (found.notice) tell(found.notice, "wait");
  }

  restore();
  if (location.hash === "#end" || (conversation && !location.search)) scrollTo({ top: document.documentElement.scrollHeight });
  if (body.dataset.pending) turns.set(body.dataset.pending, { state: "runs" });
  if (!new URLSearchParams(location.search).has("before")) listen(body.dataset.pending ? `${body.dataset.pending}.0` : "");
  if (location.search.startsWith("?turn=")) history.replaceState(null, "", location.pathname);
  zone();
})();
