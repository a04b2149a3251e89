// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where we are is in the address: #/node-0, #/node-0/7 (an operator), #/port-0-o1, #/link-3, or nothing.
(() => {
  function plural(count, what) { return `${count} ${what}${count === 1 ? "" : "s"}`; }
  const feedback = data.edges.filter((edge) => edge.feedback).length;
  byId("facts").textContent = [plural(data.nodes.length, "node"), plural(data.edges.length - feedback, "data edge"),
    plural(feedback, "feedback edge"), ...data.facts.map(([label, text]) => `${label} ${text}`)].join(" · ");

  function route() {
    const [id, operator] = decodeURIComponent(location.hash.replace(/^#\/?/, "")).split("/");
    const element = id && picture.querySelector(`#${CSS.escape(id)}`);
    canvas.keep(element || null);
    if (!element) return details.showOverview();
    canvas.reveal(element);
    const port = parsePort(id);
    if (port) details.showPort(port);
    else if (element.dataset.edge !== undefined) details.showEdge(Number(element.dataset.edge));
    else details.showNode(Number(element.dataset.node));
    details.panel.scrollTop = 0;
    if (operator !== undefined) details.showOperator(Number(operator));
  }

  /** What a click or Enter on an element opens. A pipeline input opens the port it leads to. */
  function open(element) {
    const stub = /^(in|out)-(\d+)-s(\d+)$/.exec(element.id);
    location.hash = stub ? `/${portId(stub[2], stub[1] === "out", stub[3])}` : `/${element.id}`;
  }

  /** Along an edge of the focused element, forwards or backwards: a link leads to its end, a port to its neighbour. */
  function follow(element, forwards) {
    const near = forwards ? "from" : "to";
    const far = forwards ? "to" : "from";
    const own = element.classList.contains("node") ? new Set([...element.querySelectorAll(".port")].map((port) => port.id)) : new Set([element.id]);
    const ways = links.filter((candidate) => own.has(candidate.dataset[near]) && !own.has(candidate.dataset[far]));
    const isData = (candidate) => candidate.dataset.edge !== undefined && !candidate.classList.contains("feedback");
    const link = element.classList.contains("link") ? element : ways.find(isData) || ways.find((way) => way.dataset.edge !== undefined) || ways[0];
    if (!link) return;
    const end = byId(link.dataset[far]);
    const next = element.classList.contains("node") && end.closest(".node") ? end.closest(".node") : end;
    canvas.reveal(next);
    next.focus();
  }

  picture.addEventListener("click", (event) => {
    const element = canvas.target(event);
    if (element && (element.dataset.edge !== undefined || !element.classList.contains("link"))) open(element);
  });
  picture.addEventListener("keydown", (event) => {
    const element = canvas.target(event);
    if (!element) return;
    if (event.key === "Enter" || event.key === " ") open(element);
    else if (event.key === "ArrowRight") follow(element, true);
    else if (event.key === "ArrowLeft") follow(element, false);
    else return;
    event.preventDefault();
  });
  picture.addEventListener("focusin", (event) => {
    const element = canvas.target(event);
    if (element && event.target.matches(":focus-visible")) canvas.reveal(element);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
    if (event.key === "/") byId("query").focus();
    else if (event.key === "+" || event.key === "=") canvas.zoom(0.8);
    else if (event.key === "-") canvas.zoom(1.25);
    else if (event.key === "0") canvas.fit();
    else if (event.key === "Escape") location.hash = "";
    else return;
    event.preventDefault();
  });
  byId("zoom-in").addEventListener("click", () => canvas.zoom(0.8));
  byId("zoom-out").addEventListener("click", () => canvas.zoom(1.25));
  byId("zoom-fit").addEventListener("click", () => canvas.fit());

  /** Findings are seen in the picture too: a badge at the corner of their node or port. */
  function addBadge(element, all) {
    const findings = all.filter((entry) => entry.severity !== "note");
    if (!element || findings.length === 0) return;
    const box = element.querySelector("rect").getBBox();
    const svg = (tag, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const error = findings.some((entry) => entry.severity === "error");
    const badge = svg("g", { class: `badge${error ? " error" : ""}` });
    const label = svg("text", { x: box.x + box.width, y: box.y + 3 });
    label.textContent = String(findings.length);
    const title = svg("title", {});
    title.textContent = findings.map((entry) => entry.text).join("\n");
    badge.append(svg("circle", { cx: box.x + box.width, cy: box.y, r: 7 }), label, title);
    element.append(badge);
  }
  data.nodes.forEach((node, index) => {
    addBadge(byId(`node-${index}`), node.findings);
    [...node.inputs.keys()].forEach((i) => addBadge(byId(portId(index, false, i)), node.findings.filter((entry) => entry.port === i)));
    [...node.outputs.keys()].forEach((i) => addBadge(byId(portId(index, true, i)), node.findings.filter((entry) => entry.port === node.inputs.length + i)));
  });

  const themeKey = "leapp-theme";
  const setTheme = (theme) => { if (theme) document.documentElement.dataset.theme = theme; };
  try { setTheme(localStorage.getItem(themeKey)); } catch { /* a page of a file may not be allowed to remember */ }
  byId("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    setTheme(dark ? "light" : "dark");
    try { localStorage.setItem(themeKey, dark ? "light" : "dark"); } catch { /* as above */ }
  });

  window.addEventListener("hashchange", route);
  route();
})();
