// The page System keeps its figures fresh in place: nothing is added, nothing moves. Without this file it is right when it is loaded.
"use strict";
(() => {
  const EVERY = 2000;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const words = JSON.parse(document.body.dataset.words || "{}");
  const say = (text) => words[text] ?? text;
  const WORDS = { stop: say("■ Stop"), wait: say("▲ Look"), live: say("✓ Well") };
  let shown = "";

  function fill(cells) {
    for (const place of all("[data-cell]")) {
      const cell = cells[place.dataset.cell];
      const text = cell ? cell.text : "—";
      if (place.textContent !== text) place.textContent = text;
      place.className = `told ${cell ? cell.tone : ""}`;
    }
    for (const line of all("[data-points]")) line.setAttribute("d", cells[line.dataset.points]?.points ?? "");
    const chip = one("[data-chip]");
    const verdict = cells.verdict;
    if (!chip || !verdict) return;
    chip.className = `chip ${verdict.tone}`;
    if (chip.textContent !== verdict.text) chip.textContent = verdict.text;
  }
  function row(tone, text, hint) {
    const item = document.createElement("li");
    item.className = tone;
    for (const [tag, said] of [["b", WORDS[tone]], ["span", text], ["code", hint]]) {
      const part = document.createElement(tag);
      part.textContent = said;
      item.append(part);
    }
    return item;
  }
  function tell(problems) {
    const said = JSON.stringify(problems);
    if (said === shown) return;
    shown = said;
    const rows = problems.map((each) => row(each.tone, each.text, each.hint));
    one("#problems").replaceChildren(...(rows.length ? rows : [row("live", say("Nothing is wrong."), "")]));
  }
  // Another part, or one less, is another page: it is offered, not put under the hand.
  function offer(parts) {
    const table = one("[data-parts]");
    if (!table || table.dataset.parts === parts.join(" ") || !parts.length || one("#other")) return;
    const note = document.createElement("div");
    note.id = "other";
    note.className = "toast";
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = say("There are other parts now. Show them");
    note.append(link);
    one("#toasts").replaceChildren(note);
  }
  async function look() {
    if (document.hidden) return;
    let stale = true;
    try {
      const answer = await fetch("/system/figures.json", { headers: { Accept: "application/json" } });
      if (answer.redirected || !answer.ok) return void (one("#stale").hidden = false);
      const news = await answer.json();
      stale = news.stale;
      fill(news.cells);
      tell(news.problems);
      offer(news.parts);
    } catch {
      stale = true;
    }
    one("#stale").hidden = !stale;
  }
  if (one("#problems")) setInterval(look, EVERY);
})();
