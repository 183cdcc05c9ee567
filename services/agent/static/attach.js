// Files into the chat: chosen, dropped or pasted, they go to uploads/ and are named in the message.
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const choose = one("#attach"), field = one("#m"), list = one("#coming");
  if (!choose) return;
  let coming = 0;

  function name(path) {
    const said = `“${path}”`, before = field.value;
    field.value = before && !before.endsWith(" ") && !before.endsWith("\n") ? `${before} ${said} ` : `${before}${said} `;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  async function take(files) {
    for (const file of files) {
      coming += 1;
      try {
        const path = await upload(file, "uploads", "number", list);
        name(path);
        one("#attached").textContent = `${path} is in your workspace and named in the message.`;
      } catch (error) {
        one("#attached").textContent = error.message;
      }
      coming -= 1;
    }
    choose.value = "";
    if (files.length) field.focus();
  }

  one("#attach-button").hidden = false;
  one("#attach-link").hidden = true;
  one("#attach-button").addEventListener("click", () => choose.click());
  choose.addEventListener("change", () => take([...choose.files]));
  const brings = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    one(".ask").classList.add("drop", "over");
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) one(".ask").classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    one(".ask").classList.remove("over");
    take(dropped(event.dataTransfer));
  });
  field.addEventListener("paste", (event) => {
    const files = dropped(event.clipboardData);
    if (!files.length) return;
    event.preventDefault();
    take(files);
  });
  addEventListener("beforeunload", (event) => { if (coming) event.preventDefault(); });
})();
