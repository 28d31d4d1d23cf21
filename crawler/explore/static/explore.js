// Everything works without this file; it makes some of it quicker.
"use strict";

// A form with data-live asks again while its sliders move, and only that part of the page is replaced.
for (const form of document.querySelectorAll("form[data-live]")) {
  let waiting = 0;
  let asked = 0;
  const ask = async () => {
    const number = ++asked;
    const address = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
    const answer = await fetch(address);
    if (!answer.ok || number !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const name = form.dataset.live;
    document.querySelector(name).replaceWith(page.querySelector(name));
    history.replaceState(null, "", address);
  };
  form.addEventListener("input", (event) => {
    const shown = form.querySelector(`output[for="${event.target.id}"]`);
    if (shown) shown.value = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  });
}

// A button with data-key is pressed by its key, unless somebody writes.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (button) button.click();
});

// A part of the page with data-stream is replaced by each event of that stream, until the page is left.
for (const part of document.querySelectorAll("[data-stream]")) {
  const stream = new EventSource(part.dataset.stream);
  stream.addEventListener("message", (event) => {
    const page = new DOMParser().parseFromString(event.data, "text/html");
    part.replaceChildren(...page.body.childNodes);
  });
  window.addEventListener("pagehide", () => stream.close());
}

// A page with data-again is about work that goes on: it is asked for again until that has ended.
if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 700);
