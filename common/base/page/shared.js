// What the explorables share: elements, controls, colours.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null));
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const drawing = (width, height, label, attributes, ...children) =>
  shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, ...attributes }, ...children);
const BYTES = { char: 1, half: 2, float: 4, double: 8, double2: 16 }; // of an element

// A sample of a colour, and what it stands for.
const key = (name, text) => el(
    'span', {}, drawing(10, 10, text, {class: 'swatch'}, shape('path', {class: name, d: boxes([[1, 1, 8, 8]])})), text);

// Controls. Each has a name, by which a label and a test find it; `change` gets the new value.
function choice(name, label, options, value, change) {
  const input = el("select", { name, onchange: () => change(input.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
  return el("label", {}, el("span", {}, label), input);
}

function slider(name, label, { min, max, step = 1, value, say = String }, change) {
  const shown = el("output", {}, say(value));
  const input = el('input', {
      type: 'range',
      name,
      min,
      max,
      step,
      value,
      oninput: () => {
          shown.textContent = say(Number(input.value));
          change(Number(input.value));
      }
  });
  const control = el("label", { class: "slider" }, el("span", {}, label, " ", shown), input);
  control.limit = (least, most, now) => {
    input.min = least;
    input.max = most;
    input.value = now;
    shown.textContent = say(Number(input.value));
  };
  return control;
}

// A number out of bounds changes nothing, and a message next to the field says what would be right.
function number(name, label, { min, max, value }, change) {
  const fault = el("span", { class: "fault", role: "status", id: `${name}-fault` });
  const input = el("input", { type: "number", name, min, max, value, "aria-describedby": fault.id, oninput: () => {
    const good = input.value !== "" && input.checkValidity();
    input.setAttribute("aria-invalid", !good);
    fault.textContent = good ? "" :
        `${input.value || "This"} is no whole number from ${min} to ${max}. The last right one stays in use.`;
    if (good) change(Number(input.value));
  } });
  return el("label", {}, el("span", {}, label), input, fault);
}

const button = (name, label, act) => el("button", { type: "button", name, onclick: act }, label);
const facts = (...rows) => el(
    'dl', {class: 'facts'}, rows.map(([term, name]) => el('div', {}, el('dt', {}, term), el('dd', {'data-is': name}))));

// Writes values into a panel's places for them.
function tell(panel, values) {
  for (const [name, value] of Object.entries(values)) panel.querySelector(`[data-is="${name}"]`).textContent = value;
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// The frame of an explorable: one question, at most three controls, the answer to what they are set to, and a picture.
// Everything else is behind "more". Returns say(verdict, text), which writes the answer: "right", "wrong" or "" for
// neither.
function ask(panel, { title, question, hint, controls, stage, more }) {
  const answer = el("p", { class: "answer", role: "status" });
  fill(panel, {}, [
      el("h4", {}, title), el("p", { class: "question" }, question), el("p", { class: "hint" }, hint),
      el("div", { class: "controls" }, controls), answer, stage,
      el("details", { class: "more" }, el("summary", {}, "more"), more)]);
  return (verdict, text) => {
    answer.className = `answer ${verdict}`;
    answer.textContent = text;
  };
}

// The value of a custom property of the page's style, such as a colour, in the scheme of the moment.
const styled = (node, name) => getComputedStyle(node).getPropertyValue(name).trim();
// Calls when light and dark change places. A canvas does not follow by itself.
const onScheme = act => matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);

// Calls when an element gets another width, with what it shows.
const onWidth = (node, act) => new ResizeObserver(act).observe(node);

const explorables = new Map(); // name: build(panel, its data, the machines)
