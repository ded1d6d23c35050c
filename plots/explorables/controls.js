// What several explorables have.

const rounded = number => Math.round(number).toLocaleString("en");

const machineChoice = (machines, chosen, change, label = "machine") =>
  choice("machine", label, Object.entries(machines).map(([name, m]) => [name, m.label]), chosen, change);

const checkbox = (name, text, checked, change) =>
  el("label", { class: "check" },
     el("input", { type: "checkbox", name, checked, onchange: event => change(event.target.checked) }),
     el("span", {}, text));

const average = values => values.reduce((a, b) => a + b, 0) / values.length;
