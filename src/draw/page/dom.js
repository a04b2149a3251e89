// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The data and the elements that all parts share. Texts of the data only ever become text nodes. What nobody sees in
// them, or what turns round how others look, is shown as a replacement character.
const unseen = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const data = JSON.parse(document.getElementById("data").textContent, (key, value) => (typeof value === "string" ? value.replace(unseen, "\ufffd") : value));
const picture = document.getElementById("picture");
const byId = (id) => document.getElementById(id);

/** An element: make("p", {class: "lead"}, "text", child, ...). Null children are left out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const links = [...picture.querySelectorAll(".link")];
const portId = (node, output, index) => `port-${node}-${output ? "o" : "i"}${index}`;

/** {node, output, index} of "port-3-o1"; null for other ids. */
function parsePort(id) {
  const match = /^port-(\d+)-([io])(\d+)$/.exec(id);
  return match && { node: Number(match[1]), output: match[2] === "o", index: Number(match[3]) };
}
const portOf = (at) => data.nodes[at.node][at.output ? "outputs" : "inputs"][at.index];
const portName = (at) => `${data.nodes[at.node].name}/${portOf(at).name}`;

const totalMicroseconds = data.nodes.reduce((sum, node) => sum + (node.microseconds || 0), 0);
const shareOf = (node) => (totalMicroseconds > 0 && node.microseconds !== undefined ? node.microseconds / totalMicroseconds : null);
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
