// One file to the workspace, with its progress. `row` is made in `list`; resolves to the path that it has there, or rejects with words.
(() => {
  "use strict";
  const said = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);

  function line(list, file) {
    const row = document.createElement("li");
    const what = Object.assign(document.createElement("span"), { className: "what", textContent: file.name });
    const bar = Object.assign(document.createElement("progress"), { max: file.size || 1, value: 0 });
    bar.setAttribute("aria-label", `How much of ${file.name} has come`);
    const far = Object.assign(document.createElement("span"), { className: "small mute", textContent: said(file.size) });
    const stop = Object.assign(document.createElement("button"), { type: "button", className: "btn", textContent: "Stop" });
    stop.setAttribute("aria-label", `Stop ${file.name}`);
    row.append(what, bar, far, stop);
    list.append(row);
    list.hidden = false;
    return { row, bar, far, stop };
  }

  function words(request) {
    try {
      return JSON.parse(request.responseText).message;
    } catch {
      return request.status === 413 ? "It is larger than is taken here." : "The workspace does not answer. Nothing of it was kept.";
    }
  }

  window.upload = (file, folder, how, list) =>
    new Promise((done, failed) => {
      const most = 200 * 1024 * 1024, { row, bar, far, stop } = line(list, file), request = new XMLHttpRequest();
      const end = (text) => {
        bar.remove();
        stop.textContent = "Hide";
        stop.setAttribute("aria-label", `Hide ${file.name}`);
        stop.onclick = () => { row.remove(); list.hidden = !list.children.length; };
        far.textContent = text;
        far.className = "bad small";
        failed(new Error(`${file.name}: ${text}`));
      };
      if (file.size > most) return end("It has more than 200 MB, which is the most that is taken.");
      const path = folder ? `${folder}/${file.name}` : file.name;
      request.open("PUT", `/api/v1/files/content?${new URLSearchParams({ path, how })}`);
      request.setRequestHeader("X-Form-Token", document.body.dataset.token);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.upload.onprogress = (event) => {
        bar.value = event.loaded;
        far.textContent = event.loaded < file.size ? `${said(event.loaded)} of ${said(file.size)}` : "being kept";
      };
      request.onload = () => {
        if (request.status !== 201) return end(words(request));
        row.remove();
        list.hidden = !list.children.length;
        done(JSON.parse(request.responseText).path);
      };
      request.onerror = () => end("It broke off. Nothing of it was kept.");
      request.onabort = () => end("Stopped. Nothing of it was kept.");
      stop.onclick = () => request.abort();
      request.send(file);
    });

  // Files that are dropped or pasted; a folder comes without what is in it, so it is left out.
  window.dropped = (transfer) =>
    [...(transfer?.items ?? [])].filter((each) => each.kind === "file" && !each.webkitGetAsEntry?.()?.isDirectory).map((each) => each.getAsFile()).filter(Boolean);
})();
