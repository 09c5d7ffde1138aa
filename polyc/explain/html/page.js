"use strict";
// Links between lines, the slider for tiles, folding, and the choice of colours. Without it the page shows the same.
(() => {
  const each = (selector, action, root = document) => root.querySelectorAll(selector).forEach(action);

  // --- colours ---------------------------------------------------------------------------------------------------
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const kept = { get: () => { try { return localStorage.getItem("polyc-theme"); } catch { return null; } },
                 set: (value) => { try { localStorage.setItem("polyc-theme", value); } catch { /* for this visit only */ } } };
  const paint = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Colours: ${theme}`;
    button.setAttribute("aria-label", `Colours: ${theme}`);
  };
  let theme = themes.includes(kept.get()) ? kept.get() : "system";
  paint(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    kept.set(theme);
    paint(theme);
  });

  // --- folding ---------------------------------------------------------------------------------------------------
  // A part of a tree that is shown elsewhere too is copied from there when it is unfolded.
  const fill = (one) => {
    const other = document.getElementById(one.dataset.as);
    delete one.dataset.as;
    one.querySelector("a").remove();
    if (other.dataset.as) fill(other);
    [...other.children].slice(1).forEach((child) => one.append(child.cloneNode(true)));
    each("[id]", (copy) => copy.removeAttribute("id"), one);
  };
  addEventListener("toggle", (event) => { if (event.target.open && event.target.dataset.as) fill(event.target); }, true);
  const fold = (open) => each("details", (one) => { one.open = open && !one.dataset.as; });
  document.getElementById("open").addEventListener("click", () => fold(true));
  document.getElementById("close").addEventListener("click", () => fold(false));
  let before = null;
  addEventListener("beforeprint", () => { before = [...document.querySelectorAll("details")].map((one) => one.open); fold(true); });
  addEventListener("afterprint", () => { if (before) each("details", (one, k) => { one.open = before[k]; }); before = null; });

  // --- linked lines ----------------------------------------------------------------------------------------------
  const links = new Map(), join = (from, to) => { if (!links.has(from)) links.set(from, []); links.get(from).push(to); };
  each(".printed p[id]", (line) => {
    const region = line.id.split("c")[0], first = line.querySelector("a").hash.slice(1);
    const found = line.dataset.all ? line.dataset.all.split(" ").map((number) => `${region}s${number}`) : [first];
    found.forEach((other) => { join(line.id, other); join(other, line.id); });
  });
  const linked = (line) => (links.get(line.id) || []).map((id) => document.getElementById(id));
  const clear = () => each(".listing .hit", (line) => line.classList.remove("hit"));
  const show = (line) => { clear(); line.classList.add("hit"); linked(line).forEach((other) => other.classList.add("hit")); };
  const reveal = (line) => {
    const list = line.closest(".listing");
    list.scrollTop += line.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  };
  const line = (event) => { const found = event.target.closest(".listing > p"); return found && links.has(found.id) ? found : null; };
  let fixed = null;
  each(".listing", (list) => {
    list.addEventListener("mouseover", (event) => { const one = line(event) || fixed; if (one) show(one); else clear(); });
    list.addEventListener("mouseleave", () => (fixed ? show(fixed) : clear()));
    list.addEventListener("focusin", (event) => { const one = line(event); if (one) show(one); });
    list.addEventListener("click", (event) => {
      const one = event.target.closest(".listing > p > a") && line(event);
      if (!one) return;
      event.preventDefault();
      fixed = one;
      const [first] = linked(one), there = first.closest(".listing").getBoundingClientRect();
      reveal(first);
      if (there.top > innerHeight * 0.8 || first.getBoundingClientRect().top < 0) first.scrollIntoView({ block: "center" });
      first.querySelector("a").focus({ preventScroll: true });
      show(one);
    });
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") { fixed = null; clear(); } });

  // --- a graph that is wider than the screen begins in its middle ---------------------------------------------------
  each(".graph", (graph) => { graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2; });

  // --- tiles: the same drawing as in polyc/explain/pictures/panel.py ------------------------------------------------------
  const bounds = (shapes) => {
    const rows = shapes.flatMap((s) => s.filter((_, k) => k % 2 === 0)), columns = shapes.flatMap((s) => s.filter((_, k) => k % 2));
    return [Math.min(...rows), Math.min(...columns), Math.max(...rows), Math.max(...columns)];
  };
  const span = (name, low, high) => (high - low === 1 ? `${name} ${low}` : `${name} ${low} to ${high - 1} (${high - low})`);
  const draw = (figure, panel, data, frame) => {
    const { box, margin } = data, [own, ...near] = frame;
    const [top, left, bottom, right] = bounds([own]), most = bounds(frame);
    const down = margin * (bottom - top), across = margin * (right - left);
    const view = [Math.max(most[0], top - down), Math.max(most[1], left - across), Math.min(most[2], bottom + down), Math.min(most[3], right + across)];
    const x = (v) => box.left + ((v - view[1]) / (view[3] - view[1])) * (box.width - box.left - box.right);
    const y = (v) => box.top + ((v - view[0]) / (view[2] - view[0])) * (box.height - box.top - box.bottom);
    const points = (s) => {
      const corners = s.length === 4 ? [s[0], s[1], s[0], s[3], s[2], s[3], s[2], s[1]] : s;
      const found = [];
      for (let k = 0; k < corners.length; k += 2) found.push(`${x(corners[k + 1]).toFixed(1)},${y(corners[k]).toFixed(1)}`);
      return found.join(" ");
    };
    each("polygon.own", (one) => one.setAttribute("points", points(own)), figure);
    const add = (home, kind, shape) => {
      const one = document.createElementNS(home.namespaceURI, "polygon");
      one.setAttribute("class", kind);
      one.setAttribute("points", points(shape));
      home.append(one);
    };
    const again = new Set(), outer = figure.querySelector("svg > g"), inner = outer.querySelector("g");
    each("polygon.both, polygon.near", (one) => one.remove(), figure);
    near.forEach((shape) => {
      add(outer, "near", shape);
      if (shape.length !== 4 || own.length !== 4) { add(inner, "both bare", shape); return; }
      const high = Math.min(own[2], shape[2]) - Math.max(own[0], shape[0]), wide = Math.min(own[3], shape[3]) - Math.max(own[1], shape[1]);
      if (high > 0 && wide > 0) { add(inner, "both", shape); again.add(`${high} x ${wide}`); }
    });
    const label = (kind, at, value, where) => {
      const text = figure.querySelector(`text.${kind}`);
      if (text) { text.textContent = value; text.setAttribute(at, where.toFixed(1)); }
    };
    label("x0", "x", left, x(left));
    label("x1", "x", right - 1, x(right));
    label("y0", "y", top, y(top) + 9);
    label("y1", "y", bottom - 1, y(bottom));
    const [rows, columns] = panel.axes;
    figure.querySelector(".where").textContent = [rows && span(rows, top, bottom), columns && span(columns, left, right)].filter(Boolean).join(", ");
    figure.querySelector(".again").textContent = again.size ? `shared with neighbours: ${[...again].join(", ")}` : "";
  };
  each(".picture", (picture) => {
    const data = JSON.parse(picture.querySelector("script").textContent), at = [...data.at];
    each("input[type=range]", (input) => input.addEventListener("input", () => {
      const loop = Number(input.dataset.loop);
      at[loop] = Number(input.value);
      input.parentElement.querySelector("output").textContent = data.positions[loop][at[loop]];
      each("figure", (figure) => {
        const panel = data.panels[Number(figure.dataset.panel)], frame = panel.frames[at.join(" ")];
        figure.classList.toggle("away", !frame);
        if (frame) draw(figure, panel, data, frame.map((shape) => data.shapes[shape]));
        else { figure.querySelector(".where").textContent = "nothing in this tile"; figure.querySelector(".again").textContent = ""; }
      }, picture);
    }), picture);
  });
})();
