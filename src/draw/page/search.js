// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One list of everything that has a name; hits light their nodes up.
(() => {
  const query = byId("query");
  const hits = byId("hits");
  const kMost = 60;
  let selected = -1;

  /** {text, where, route, node} of everything. */
  const entries = data.nodes.flatMap((node, index) => {
    const at = (text, where, route) => ({ text, where, route, node: index });
    const ports = (output) => node[output ? "outputs" : "inputs"].map((port, i) =>
      at(`${port.name}  ${port.type} ${port.kind}`, `${output ? "output" : "input"} of ${node.name}`, `/${portId(index, output, i)}`));
    const operators = node.operators.map((op, i) => {
      const line = op.line === undefined ? null : data.lines[op.line];
      const where = line ? `${line.file}:${line.line} ${line.text}` : "";
      return at(`${op.op} → ${op.results.map(([name]) => `%${name}`).join(", ")}`, `operator ${i + 1} of ${node.name} ${where}`, `/node-${index}/${i}`);
    });
    const constants = node.constants.map((constant) => at(`${constant.name}  ${constant.type}`, `constant of ${node.name}`, `/node-${index}`));
    return [at(node.name, `node ${node.backend}`, `/node-${index}`), ...ports(false), ...ports(true), ...operators, ...constants];
  });

  function marked(text, word) {
    const at = text.toLowerCase().indexOf(word);
    if (at < 0 || word === "") return [text];
    return [text.slice(0, at), make("mark", {}, text.slice(at, at + word.length)), text.slice(at + word.length)];
  }

  function close() {
    hits.hidden = true;
    query.setAttribute("aria-expanded", "false");
    query.removeAttribute("aria-activedescendant");
    picture.classList.remove("searching");
    selected = -1;
  }

  function go(route) {
    close();
    query.value = "";
    // The same place again: the hash does not change, but the reader wants to see it.
    if (location.hash === `#${route}`) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = route;
  }

  function select(index) {
    const rows = [...hits.querySelectorAll("[role=option]")];
    if (rows.length === 0) return;
    selected = (index + rows.length) % rows.length;
    rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === selected)));
    rows[selected].scrollIntoView({ block: "nearest" });
    query.setAttribute("aria-activedescendant", rows[selected].id);
  }

  function search() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const inText = (entry) => words.filter((word) => entry.text.toLowerCase().includes(word)).length;
    const found = entries.filter((entry) => words.every((word) => `${entry.text} ${entry.where}`.toLowerCase().includes(word)));
    found.sort((a, b) => inText(b) - inText(a));  // what is called so comes before what stands beside it
    const nodes = new Set(found.map((entry) => entry.node));
    picture.classList.add("searching");
    for (const node of picture.querySelectorAll(".node")) node.classList.toggle("found", nodes.has(Number(node.dataset.node)));
    const rows = found.slice(0, kMost).map((entry, i) => make("li",
      { role: "option", id: `hit-${i}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); go(entry.route); } },
      marked(entry.text, words[0]), make("small", {}, marked(entry.where, words[0]))));
    if (found.length > kMost) rows.push(make("li", {}, `and ${found.length - kMost} more`));
    if (found.length === 0) rows.push(make("li", {}, "nothing found"));
    hits.replaceChildren(...rows);
    hits.hidden = false;
    query.setAttribute("aria-expanded", "true");
    select(0);
    hits.dataset.count = String(found.length);
  }

  query.addEventListener("input", search);
  query.addEventListener("focus", () => { if (query.value) search(); });
  query.addEventListener("blur", close);
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(selected + 1);
    else if (event.key === "ArrowUp") select(selected - 1);
    else if (event.key === "Enter" && hits.children[selected]) hits.children[selected].dispatchEvent(new PointerEvent("pointerdown", { cancelable: true }));
    else if (event.key === "Escape") { query.value = ""; close(); query.blur(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
})();
