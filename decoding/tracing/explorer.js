"use strict";

// From the data of a trace and a position in it to what the page shows. A position is {text, step}: the step at which
// token `step` of text `text` is chosen.
const Explorer = (() => {
  // The most candidates of a list; the rest is one line.
  const SHOWN = 10;
  // The most stacks of an ambiguous grammar.
  const STACKS = 4;

  const clamped = (number, count) => Math.max(0, Math.min(number, count - 1));

  /** Return the position after an action: a name, or the number of a step. */
  function moved(data, at, action) {
    const steps = data.texts[at.text].steps;
    const search = (from, by) => {
      for (let step = from + by; step >= 0 && step < steps.length; step += by)
        if (steps[step].intervened) return step;
      return from;
    };
    const inText = (text) => (text === at.text ? at : { text, step: 0 });
    const stepTo = (step) => ({ text: at.text, step: clamped(step, steps.length) });
    if (typeof action === "number") return stepTo(action);
    switch (action) {
      case "next": return stepTo(at.step + 1);
      case "previous": return stepTo(at.step - 1);
      case "first": return stepTo(0);
      case "last": return stepTo(steps.length - 1);
      case "nextIntervention": return stepTo(search(at.step, 1));
      case "previousIntervention": return stepTo(search(at.step, -1));
      case "nextText": return inText(clamped(at.text + 1, data.texts.length));
      case "previousText": return inText(clamped(at.text - 1, data.texts.length));
    }
    return at;
  }

  const KEYS = {
    ArrowRight: "next", ArrowLeft: "previous", Home: "first", End: "last",
    n: "nextIntervention", p: "previousIntervention", ArrowDown: "nextText", ArrowUp: "previousText",
  };

  const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

  /** Write a probability in percent; what is too small for that as a power of ten. */
  function percent(value) {
    if (value === 0 || value === 1) return `${100 * value}%`;
    if (value > 0.9995) return "> 99.9%";
    if (value >= 0.0001) return `${(100 * value).toFixed(value < 0.01 ? 2 : 1)}%`;
    return `10${[...String(Math.floor(Math.log10(value)))].map((digit) => RAISED[digit]).join("")}`;
  }

  const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

  function candidate([token, name, before, after, allowed], chosen) {
    return { token, name, before, after, allowed, chosen: token === chosen };
  }

  /** Return the rows of a list of candidates, and one for all tokens that are not in it. */
  function rows(candidates, share, total) {
    const shown = candidates.slice(0, SHOWN);
    const written = candidates.find((one) => one.chosen);
    if (written && !shown.includes(written)) shown.push(written);
    const found = shown.map((one) => ({
      name: one.name, share: one[share], label: percent(one[share]), allowed: one.allowed, chosen: one.chosen,
    }));
    const others = total - shown.length;
    const rest = Math.max(0, 1 - shown.reduce((sum, one) => sum + one[share], 0));
    return { found, rest: others > 0 ? { count: others, share: rest, label: percent(rest) } : null };
  }

  function headline(step, chosen, wanted) {
    if (step.forced && step.intervened)
      return { name: chosen.name, reason: "forced: the only token that is allowed, while the model’s likeliest is", other: wanted.name };
    if (step.forced) return { name: chosen.name, reason: "forced: the only token that is allowed" };
    if (step.intervened) return { name: chosen.name, reason: "the model’s likeliest token is forbidden:", other: wanted.name };
    if (chosen.token === wanted.token) return { name: chosen.name, reason: "the model’s likeliest token" };
    return { name: chosen.name, reason: "the likeliest, and allowed, would have been", other: wanted.name };
  }

  function place(step) {
    const stacks = step.stacks.slice(0, STACKS);
    if (!stacks.length && step.pointer === null && !step.notes.length) return null;
    return { stacks, more: step.stacks.length - stacks.length, pointer: step.pointer, notes: step.notes };
  }

  /** Return all that is to be seen of a step. */
  function view(data, at) {
    const text = data.texts[at.text];
    const step = text.steps[at.step];
    const candidates = step.candidates.map((one) => candidate(one, step.chosen));
    const chosen = candidates.find((one) => one.chosen);
    const after = candidates.filter((one) => one.allowed).sort((one, other) => other.after - one.after);
    return {
      count: `step ${at.step + 1} of ${text.steps.length}`,
      headline: headline(step, chosen, candidates[0]),
      removed: step.removed,
      facts:
        `${plural(step.allowed, "token is", "tokens are")} allowed of ${data.vocabulary_size.toLocaleString("en")}; ` +
        `the mask removes ${percent(step.removed)} of the probability. The written token had ${percent(chosen.before)} ` +
        `before the mask and ${percent(chosen.after)} after it.`,
      before: rows(candidates, "before", data.vocabulary_size),
      after: rows(after, "after", step.allowed),
      place: place(step),
      isFirst: at.step === 0,
      isLast: at.step === text.steps.length - 1,
      hasInterventionAfter: moved(data, at, "nextIntervention").step !== at.step,
      hasInterventionBefore: moved(data, at, "previousIntervention").step !== at.step,
    };
  }

  /** Return what the page shows of a text at every step. */
  function overview(data, number) {
    const text = data.texts[number];
    const count = (kind) => text.steps.filter((step) => step[kind]).length;
    const alone = text.surprise === null ? 0 : 2 ** -text.surprise;
    return {
      prompt: text.prompt,
      summary:
        `${plural(text.steps.length, "token", "tokens")}: ${count("forced")} forced, ` +
        `${plural(count("intervened"), "intervention", "interventions")}. Left alone, the model would have kept ` +
        `to the constraint at every step of this text with a probability of ${percent(alone)}.`,
      tokens: text.steps.map((step) => ({
        name: step.candidates.find((one) => one[0] === step.chosen)[1],
        kind: step.intervened ? "intervened" : step.forced ? "forced" : "",
        breaks: step.text.endsWith("\n"),
        removed: step.removed,
      })),
    };
  }

  return { moved, view, overview, percent, KEYS };
})();

// The page.
if (typeof document !== "undefined") {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("trace").textContent);
  let at = { text: 0, step: 0 };
  let shownText = -1;

  /** Return an element; children are elements or text. */
  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function bar(row, className, mark) {
    const filled = element("i");
    filled.style.width = `${100 * row.share}%`;
    const name = element("span", "name", row.name);
    name.title = row.name;
    return element(
      "li", className, element("span", "mark", mark), name,
      element("span", "bar", filled), element("span", "value", row.label));
  }

  function showBars(list, { found, rest }) {
    const made = found.map((row) => {
      const className = [row.allowed ? "" : "forbidden", row.chosen ? "chosen" : ""].join(" ").trim();
      return bar(row, className, row.chosen ? "▸" : row.allowed ? "" : "✕");
    });
    if (rest) made.push(bar({ ...rest, name: `${rest.count.toLocaleString("en")} more` }, "rest", ""));
    list.replaceChildren(...made);
  }

  function showPlace(place) {
    byId("place").hidden = place === null;
    if (place === null) return;
    const made = [];
    if (place.pointer !== null)
      made.push(place.pointer
        ? element("p", "", "In the value at ", element("code", "", place.pointer))
        : element("p", "", "In the outermost value"));
    for (const stack of place.stacks)
      made.push(element("ol", "stack", ...stack.map((rule) => element("li", "", rule))));
    if (place.more) made.push(element("p", "", `and ${place.more} more ways to read the text so far`));
    // Lines below each other: one may mark a part of the one above.
    if (place.notes.length) made.push(element("pre", "notes", place.notes.join("\n")));
    byId("where").replaceChildren(...made);
  }

  function showText() {
    const seen = Explorer.overview(data, at.text);
    byId("summary").textContent = seen.summary;
    const tokens = seen.tokens.flatMap((token, step) => {
      const made = element("span", `token ${token.kind}`, token.name);
      made.dataset.step = step;
      return token.breaks ? [made, element("br")] : [made];
    });
    byId("text").replaceChildren(element("span", "prompt", seen.prompt), ...tokens);
    byId("strip").replaceChildren(...seen.tokens.map((token, step) => {
      const made = element("i", token.kind);
      made.style.setProperty("--mass", token.removed);
      made.dataset.step = step;
      return made;
    }));
    byId("slider").max = seen.tokens.length - 1;
    byId("texts").value = at.text;
    shownText = at.text;
  }

  function show() {
    if (shownText !== at.text) showText();
    const seen = Explorer.view(data, at);
    byId("slider").value = at.step;
    byId("count").textContent = seen.count;
    const { name, reason, other } = seen.headline;
    byId("headline").replaceChildren(
      element("code", "", name), element("small", "", reason), ...(other ? [" ", element("code", "", other)] : []));
    byId("kept").style.width = `${100 * (1 - seen.removed)}%`;
    byId("removed").style.width = `${100 * seen.removed}%`;
    byId("facts").textContent = seen.facts;
    showBars(byId("before"), seen.before);
    showBars(byId("after"), seen.after);
    showPlace(seen.place);
    for (const made of document.querySelectorAll("#text .token, #strip i")) {
      const step = Number(made.dataset.step);
      made.classList.toggle("now", step === at.step);
      made.classList.toggle("later", step > at.step);
    }
    const disabled = {
      previous: seen.isFirst, next: seen.isLast,
      previousIntervention: !seen.hasInterventionBefore, nextIntervention: !seen.hasInterventionAfter,
    };
    for (const button of document.querySelectorAll("button")) button.disabled = disabled[button.dataset.action];
    const box = byId("text");
    const now = box.querySelector(".now");
    if (now.offsetTop < box.offsetTop + box.scrollTop || now.offsetTop > box.offsetTop + box.scrollTop + box.clientHeight - 30)
      box.scrollTop = now.offsetTop - box.offsetTop - box.clientHeight / 2;
  }

  function act(action) {
    at = Explorer.moved(data, at, action);
    show();
  }

  function begin() {
    const several = data.texts.length > 1;
    byId("choose").hidden = byId("textkeys").hidden = !several;
    data.texts.forEach((text, number) => {
      const option = element("option", "", `${number + 1}: ${text.prompt.slice(0, 40)}`);
      option.value = number;
      byId("texts").append(option);
    });
    byId("texts").addEventListener("change", (event) => {
      at = { text: Number(event.target.value), step: 0 };
      show();
    });
    byId("slider").addEventListener("input", (event) => act(Number(event.target.value)));
    for (const box of [byId("text"), byId("strip")])
      box.addEventListener("click", (event) => {
        const made = event.target.closest("[data-step]");
        if (made) act(Number(made.dataset.step));
      });
    for (const button of document.querySelectorAll("button"))
      button.addEventListener("click", () => act(button.dataset.action));
    document.addEventListener("keydown", (event) => {
      const action = Explorer.KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      // A list has its own keys, and so have browsers.
      if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
      if (action.endsWith("Text") && !several) return;
      event.preventDefault();
      act(action);
    });
    // `#12` opens step 12; `#2.12` that of the second text.
    const [, text, step] = /^#(?:(\d+)\.)?(\d+)$/.exec(location.hash) || [null, "1", "1"];
    at = Explorer.moved(data, { text: Math.min(data.texts.length, Number(text || 1) || 1) - 1, step: 0 }, Number(step) - 1);
    show();
  }

  if (data.texts.some((text) => text.steps.length)) begin();
  else {
    byId("summary").textContent = "No text was written.";
    for (const part of document.querySelectorAll("#text, nav, main, footer")) part.hidden = true;
  }
}
