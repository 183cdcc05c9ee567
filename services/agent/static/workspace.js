// Who is signed in may change while a page is open: its stream ends then, and the page asks anew who it belongs to.
(() => {
  const again = async () => {
    if (document.hidden) {
      document.addEventListener("visibilitychange", again, { once: true });
      return;
    }
    try {
      const answer = await fetch("/", { method: "HEAD", redirect: "manual" });
      if (answer.status >= 500) throw new Error("not ready");
      location.reload();
    } catch {
      setTimeout(again, 1000);
    }
  };
  const live = new EventSource("/live");
  live.addEventListener("end", () => {
    live.close();
    setTimeout(again, 300);
  });
  live.addEventListener("error", () => {
    if (live.readyState === EventSource.CLOSED) again();
  });
})();
