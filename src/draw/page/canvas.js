// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Zoom and pan by the viewBox, and what lights up under the pointer and the keyboard's focus.
const canvas = (() => {
  const whole = picture.viewBox.baseVal;
  const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let view = { ...home };

  function show() {
    picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  /** Keeps the point (x, y) of the picture where it is on the screen. */
  function zoom(factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
    const width = Math.min(Math.max(view.width * factor, home.width / 40), home.width * 4);
    const scale = width / view.width;
    view = { x: x - (x - view.x) * scale, y: y - (y - view.y) * scale, width, height: view.height * scale };
    show();
  }

  const largest = 1.7;  // a single node need not fill the screen
  function fit() {
    view = { ...home };
    show();
    const scale = picture.getScreenCTM().a;
    if (scale > largest) zoom(scale / largest);
  }

  function pointAt(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  }

  /** Moves the view so that the element is in it. */
  function reveal(element) {
    const box = element.getBBox();
    const inside = box.x >= view.x && box.y >= view.y && box.x + box.width <= view.x + view.width && box.y + box.height <= view.y + view.height;
    if (inside) return;
    view.x = box.x + box.width / 2 - view.width / 2;
    view.y = box.y + box.height / 2 - view.height / 2;
    show();
  }

  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = pointAt(event);
    zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 250), at.x, at.y);
  }, { passive: false });

  let drag = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 4) return;
    if (!drag.moved) picture.setPointerCapture(event.pointerId);
    drag.moved = true;
    picture.classList.add("moving");
    const scale = 1 / picture.getScreenCTM().a;
    view.x -= (event.clientX - drag.x) * scale;
    view.y -= (event.clientY - drag.y) * scale;
    drag.x = event.clientX;
    drag.y = event.clientY;
    show();
  });
  let dragged = false;
  picture.addEventListener("pointerup", () => {
    dragged = Boolean(drag && drag.moved);
    drag = null;
    picture.classList.remove("moving");
  });
  picture.addEventListener("pointercancel", () => { drag = null; });
  // The click that ends a drag selects nothing.
  picture.addEventListener("click", (event) => {
    if (dragged) event.stopImmediatePropagation();
    dragged = false;
  }, true);

  /** The links of a port, a node or a link itself. */
  function linksOf(element) {
    if (element.classList.contains("link")) return [element];
    if (element.classList.contains("port")) {
      return links.filter((link) => link.dataset.from === element.id || link.dataset.to === element.id);
    }
    const ports = new Set([...element.querySelectorAll(".port")].map((port) => port.id));
    return links.filter((link) => ports.has(link.dataset.from) || ports.has(link.dataset.to));
  }

  // Lit links are drawn once more on top: edges of one port share their lanes. The links themselves stay where they
  // are, for the order of the tab key.
  const overlay = document.createElementNS("http://www.w3.org/2000/svg", "g");
  overlay.setAttribute("class", "overlay");
  overlay.setAttribute("aria-hidden", "true");
  picture.append(overlay);
  function drawnAgain(link) {
    const copy = document.createElementNS("http://www.w3.org/2000/svg", "g");
    copy.setAttribute("class", link.getAttribute("class"));
    copy.append(link.querySelector(".line").cloneNode(), link.querySelector(".head").cloneNode());
    return copy;
  }

  let kept = [];  // what stays lit because it is selected
  function light(lit) {
    overlay.replaceChildren();
    for (const element of picture.querySelectorAll(".lit")) element.classList.remove("lit");
    for (const link of new Set([...kept, ...lit])) {
      link.classList.add("lit");
      overlay.append(drawnAgain(link));
      byId(link.dataset.from).classList.add("lit");
      byId(link.dataset.to).classList.add("lit");
    }
  }
  const target = (event) => event.target.closest(".port, .link, .node");
  for (const begin of ["pointerover", "focusin"]) {
    picture.addEventListener(begin, (event) => light(target(event) ? linksOf(target(event)) : []));
  }
  for (const end of ["pointerleave", "focusout"]) picture.addEventListener(end, () => light([]));

  function keep(element) {
    for (const old of picture.querySelectorAll(".selected")) old.classList.remove("selected");
    if (element) element.classList.add("selected");
    kept = element ? linksOf(element) : [];
    light([]);
  }

  fit();
  return { zoom, fit, reveal, keep, linksOf, target };
})();
