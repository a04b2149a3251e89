// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands beside the picture: the pipeline, a node operator by operator, a port, an edge.
const details = (() => {
  const panel = byId("details");

  const goto = (text, route) => make("button", { class: "goto", onclick: () => { location.hash = route; } }, text);
  const gotoPort = (at) => goto(portName(at), `/${portId(at.node, at.output, at.index)}`);
  const heading = (text) => make("h3", {}, text);
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

  function finding(entry, where) {
    return make("div", { class: `finding ${entry.severity}` }, make("b", {}, entry.severity), where ? [" at ", where] : "", ": ", entry.text);
  }

  function findingsOf(node, index) {
    return node.findings.map((entry) => {
      if (entry.port === undefined) return finding(entry, null);
      const output = entry.port >= node.inputs.length;
      return finding(entry, gotoPort({ node: index, output, index: output ? entry.port - node.inputs.length : entry.port }));
    });
  }

  function chips(node) {
    const texts = [[node.backend || "no model", ""], [node.file, ""], [node.size, ""], [node.status && `validation ${node.status}`, node.status]];
    const share = shareOf(node);
    if (share !== null) texts.push([`${node.microseconds.toFixed(1)} µs · ${percent(share)} of a step`, ""]);
    for (const [label, text] of node.facts) texts.push([`${label}: ${text}`, ""]);
    return make("div", { class: "chips" }, texts.filter(([text]) => text).map(([text, style]) => make("span", { class: `chip ${style}` }, text)));
  }

  /** The other ends of a port's edges. */
  function neighbours(at) {
    const own = at.output ? "from" : "to";
    const other = at.output ? "to" : "from";
    return data.edges
      .filter((edge) => edge[own][0] === at.node && edge[own][1] === at.index)
      .map((edge) => make("div", {}, at.output ? "→ " : "← ", gotoPort({ node: edge[other][0], output: !at.output, index: edge[other][1] }), edge.feedback ? " (feedback, next step)" : ""));
  }

  function portLine(at) {
    const port = portOf(at);
    return make("div", { class: "portline" },
      make("b", {}, port.name), " ", make("span", { class: "code" }, port.type), " ",
      port.kind ? make("span", { class: "kind" }, port.kind) : null,
      port.facts.map(([label, text]) => make("div", { class: "facts" }, `${label}: ${text}`)),
      neighbours(at),
      port.external ? make("div", {}, at.output ? "→ pipeline output" : "← pipeline input") : null);
  }

  function ports(index, output) {
    const list = data.nodes[index][output ? "outputs" : "inputs"];
    return [heading(output ? "Outputs" : "Inputs"), ...list.map((port, i) => portLine({ node: index, output, index: i })), list.length ? null : make("p", { class: "lead" }, "none")];
  }

  function source(line) {
    if (line === undefined) return make("div", { class: "source" }, make("span", { class: "where" }, "no line of the program is known"));
    const { file, line: number, function: name, text } = data.lines[line];
    return make("div", { class: "source" },
      text ? make("code", { class: "text" }, text) : null,
      make("span", { class: "where" }, file + (number ? `:${number}` : "") + (name ? ` in ${name}` : "")));
  }

  function operator(node, op, index) {
    const found = node.findings.filter((entry) => entry.op === index);
    return make("div", { class: `op${found.length ? " bad" : ""}`, id: `op-${index}` },
      make("span", { class: "index" }, String(index + 1)),
      make("span", {}, make("span", { class: "name code" }, op.op), " ", make("span", { class: "code" }, `(${op.arguments})`)),
      op.size ? make("span", { class: "size", title: "constants it reads" }, op.size) : make("span"),
      make("span", { class: "result code" }, op.results.map(([name, type]) => `→ %${name}${type ? `: ${type}` : ""}`).join("   ")),
      found.map((entry) => finding(entry, null)));
  }

  /** Operators one after the other; a line of the program stands above those that came from it. */
  function operators(node) {
    const rows = [heading(node.operatorsKnown ? counted(node.operators.length, "operator") : "Operators")];
    if (node.operatorsNote) rows.push(make("p", { class: "lead" }, node.operatorsNote));
    let last = null;
    node.operators.forEach((op, index) => {
      if (last === null || op.line !== last.line) rows.push(source(op.line));
      rows.push(operator(node, op, index));
      last = op;
    });
    return rows;
  }

  function constants(node) {
    if (node.constants.length === 0) return [];
    const body = node.constants.map((constant) => make("tr", {},
      make("td", { class: "code" }, constant.name), make("td", { class: "code" }, constant.type),
      make("td", { class: "number" }, constant.size), make("td", { class: "code" }, constant.preview)));
    return [make("details", node.constants.length <= 12 ? { open: "" } : {},
      make("summary", {}, heading(counted(node.constants.length, "constant"))),
      make("div", { class: "wrapper" }, make("table", {}, make("thead", {}, make("tr", {}, ["name", "type", "size", "values"].map((text) => make("th", {}, text)))), make("tbody", {}, body))))];
  }

  function showNode(index) {
    const node = data.nodes[index];
    panel.replaceChildren(make("h2", {}, node.name), chips(node), ...findingsOf(node, index),
      ...ports(index, false).filter(Boolean), ...ports(index, true).filter(Boolean), ...operators(node), ...constants(node));
  }

  function showPort(at) {
    const position = at.output ? data.nodes[at.node].inputs.length + at.index : at.index;
    const found = data.nodes[at.node].findings.filter((entry) => entry.port === position);
    panel.replaceChildren(make("h2", {}, portOf(at).name),
      make("p", { class: "lead" }, at.output ? "output of " : "input of ", goto(data.nodes[at.node].name, `/node-${at.node}`)),
      ...found.map((entry) => finding(entry, null)), portLine(at));
  }

  function showEdge(index) {
    const edge = data.edges[index];
    const from = { node: edge.from[0], output: true, index: edge.from[1] };
    const to = { node: edge.to[0], output: false, index: edge.to[1] };
    panel.replaceChildren(make("h2", {}, edge.feedback ? "Feedback edge" : "Data edge"),
      make("p", { class: "lead" }, edge.feedback ? "The value arrives one step later." : "The value arrives in the same step."),
      make("div", { class: "portline" }, "from ", gotoPort(from)), make("div", { class: "portline" }, "to ", gotoPort(to)),
      make("p", { class: "code" }, portOf(from).type));
  }

  function overviewRow(node, index) {
    const share = shareOf(node);
    const time = share === null ? null : make("td", {}, make("span", { class: "bar", style: `width:${(60 * share).toFixed(1)}px` }), percent(share));
    return make("tr", {}, make("td", {}, goto(node.name, `/node-${index}`)), make("td", {}, node.backend || "no model"),
      make("td", { class: "number" }, node.operatorsKnown ? String(node.operators.length) : "–"),
      make("td", { class: "number" }, node.size || "–"), time, make("td", {}, node.status || "–"));
  }

  function showOverview() {
    const columns = ["node", "backend", "operators", "size", ...(totalMicroseconds > 0 ? ["time"] : []), "validation"];
    const found = data.nodes.flatMap((node, index) => node.findings.map((entry) => finding(entry, goto(node.name, `/node-${index}`))));
    panel.replaceChildren(make("h2", {}, data.name),
      make("p", { class: "lead" }, "Choose a node for its operators, a port or an edge for what it joins."),
      ...data.findings.map((entry) => finding(entry, null)), ...found,
      heading(counted(data.nodes.length, "node")),
      make("div", { class: "wrapper" }, make("table", {}, make("thead", {}, make("tr", {}, columns.map((text) => make("th", {}, text)))), make("tbody", {}, data.nodes.map(overviewRow)))));
  }

  /** Marks an operator of the node that is shown and brings it into view. */
  function showOperator(index) {
    const row = byId(`op-${index}`);
    if (!row) return;
    row.classList.add("found");
    row.scrollIntoView({ block: "center" });
  }

  return { showNode, showPort, showEdge, showOverview, showOperator, panel };
})();
