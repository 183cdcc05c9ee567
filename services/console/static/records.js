// The grid works without this file: each row has a page of its own. This moves through cells by arrow keys and changes them in place.
"use strict";
(() => {
  const table = document.getElementById("records");
  if (!table) return;
  const news = document.getElementById("cell-news");
  const edits = Boolean(table.dataset.cell);
  const cells = (row) => [...row.querySelectorAll("td:not([colspan])")];
  const rows = () => [...table.tBodies[0].rows];
  const columns = JSON.parse(table.dataset.columns || "[]");
  const raw = (cell) => cell.dataset.raw ?? cell.textContent;
  let editing = null;

  function focus(cell) {
    if (!cell) return;
    for (const each of table.querySelectorAll('td[tabindex="0"]')) each.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  function step(cell, down, right) {
    const row = rows()[rows().indexOf(cell.parentElement) + down];
    if (row) focus(cells(row)[Math.min(Math.max(cells(cell.parentElement).indexOf(cell) + right, 0), cells(row).length - 1)]);
  }
  function say(words, tone) {
    news.textContent = words;
    news.className = `notice ${tone}`;
    news.hidden = !words;
  }
  function begin(cell) {
    if (!edits || editing) return;
    if ("long" in cell.dataset) return void (location.href = `${table.dataset.row}?key=${encodeURIComponent(cell.parentElement.dataset.key)}`);
    const input = document.createElement("input");
    input.value = raw(cell);
    input.setAttribute("aria-label", columns[cells(cell.parentElement).indexOf(cell)]);
    editing = { cell, input, was: raw(cell), shown: [...cell.childNodes] };
    cell.classList.add("edited");
    cell.replaceChildren(input);
    input.select();
  }
  function leave() {
    const { cell, shown } = editing;
    editing = null;
    cell.classList.remove("edited");
    cell.replaceChildren(...shown);
    return cell;
  }
  async function keep(then) {
    const { cell, input, was } = editing;
    const value = input.value;
    leave();
    then(cell);
    if (value === was) return;
    const shown = [...cell.childNodes];
    cell.textContent = value;
    cell.setAttribute("aria-busy", "true");
    const row = cell.parentElement;
    const column = columns[cells(row).indexOf(cell)];
    const body = new URLSearchParams({ token: table.dataset.token, key: row.dataset.key, column, was, value });
    try {
      const answer = await fetch(table.dataset.cell, { method: "POST", body });
      const told = await answer.json();
      if (answer.ok) {
        cell.textContent = told.text;
        delete cell.dataset.raw;
        row.dataset.key = told.key;
        cell.classList.add("was-kept");
        say("", "");
      } else {
        if (told.now === null || told.now === undefined) cell.replaceChildren(...shown);
        else {
          cell.textContent = told.now;
          delete cell.dataset.raw;
        }
        say(told.error, "stop");
      }
    } catch {
      cell.replaceChildren(...shown);
      say(table.dataset.lost, "stop");
    }
    cell.removeAttribute("aria-busy");
  }

  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    if (editing) {
      event.stopPropagation();
      if (event.key === "Escape") return focus(leave());
      if (event.key !== "Enter" && event.key !== "Tab") return;
      event.preventDefault();
      const [down, right] = event.key === "Enter" ? [1, 0] : [0, event.shiftKey ? -1 : 1];
      return void keep((done) => {
        focus(done);
        step(done, down, right);
      });
    }
    if (moves[event.key]) {
      event.preventDefault();
      return step(cell, ...moves[event.key]);
    }
    if (event.key === "Enter" || event.key === "F2") {
      event.preventDefault();
      event.stopPropagation();
      begin(cell);
    }
  });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td:not([colspan])");
    if (cell && !editing) focus(cell);
  });
  table.addEventListener("dblclick", (event) => {
    const cell = event.target.closest("td:not([colspan])");
    if (cell) begin(cell);
  });
  table.addEventListener("focusout", (event) => {
    if (editing && event.target === editing.input) keep(() => {});
  });
  const first = table.querySelector("tbody td:not([colspan])");
  if (first) first.tabIndex = 0;
})();
