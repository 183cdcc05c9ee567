// The files page: what is chosen, dropped or pasted goes in with a progress bar; keys.
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const form = one("#take");

  async function again(said) {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    for (const each of ["#rows", "#room"]) {
      const now = page.querySelector(each);
      if (now) one(each).replaceWith(now);
    }
    one("#said").textContent = said;
  }

  async function take(files) {
    if (!files.length) return;
    one("#notice").hidden = true;
    one("#choose").value = ""; // they are on their way: the button does not put them in again
    const kept = [];
    for (const file of files) {
      try {
        kept.push(await upload(file, form.dataset.folder, one("#how").value, one("#coming")));
      } catch (error) {
        one("#said").textContent = error.message;
      }
    }
    if (kept.length) await again(`In the workspace now: ${kept.join(", ")}`);
  }

  if (form) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const files = [...one("#choose").files];
      files.length ? take(files) : one("#choose").click();
    });
    one("#choose").addEventListener("change", () => take([...one("#choose").files]));
    const brings = (event) => event.dataTransfer?.types.includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!brings(event)) return;
      event.preventDefault();
      form.classList.add("over");
    });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) form.classList.remove("over"); });
    document.addEventListener("drop", (event) => {
      if (!brings(event)) return;
      event.preventDefault();
      form.classList.remove("over");
      take(dropped(event.dataTransfer));
    });
    document.addEventListener("paste", (event) => {
      if (!event.target.closest?.("input,textarea")) take(dropped(event.clipboardData));
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.target.closest?.("input,textarea,select")) return;
    const rows = [...document.querySelectorAll("#rows .row")];
    const at = rows.indexOf(document.activeElement?.closest("li")?.querySelector(".row"));
    if (event.key === "j") rows[Math.min(rows.length - 1, at + 1)]?.focus();
    else if (event.key === "k") rows[Math.max(0, at - 1)]?.focus();
    else if (event.key === "u" && form) one("#choose").click();
    else if (event.key === "/") one("#q")?.focus();
    else return;
    event.preventDefault();
  });
})();
