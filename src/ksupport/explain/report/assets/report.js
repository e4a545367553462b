"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const COLOURS = ["#d1495b", "#2a9d6f", "#8f5bd6", "#c98a00", "#1f9bb5", "#b8479b", "#6b8e23", "#a0522d"];
  const LISTED = 40;
  const byId = (id) => document.getElementById(id);
  const step = byId("step"), level = byId("level"), tip = byId("tip");
  const pinned = new Map(); // feature -> place in COLOURS
  let near = -1; // feature under the pointer
  let chart = null; // what the explorer last drew

  // -- drawing ---------------------------------------------------------------------------

  function draw(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  function canvas(svg, height, widest) {
    const width = Math.max(260, Math.min(svg.parentNode.clientWidth || 600, widest));
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.maxWidth = `${width}px`;
    return width;
  }

  const number = (x) => (Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(+x.toPrecision(3)));

  function ticks(low, high, count) {
    const span = high - low || 1, rough = span / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const unit = [1, 2, 5, 10].map((m) => m * power).find((u) => u >= rough);
    const out = [];
    for (let i = Math.ceil(low / unit); i * unit <= high + unit * 1e-9; i += 1) out.push(i * unit);
    return out;
  }

  const extent = (values) => [Math.min(...values), Math.max(...values)];

  function scale(low, high, from, to) {
    const span = high - low || 1;
    return (value) => from + ((value - low) / span) * (to - from);
  }

  // -- what was found --------------------------------------------------------------------

  const MOST = 20, BENEATH = 3; // rows drawn, and of these beneath one feature

  function rowsDrawn() {
    const rows = [];
    let beneath = 0, left = 0;
    for (const row of data.found) {
      beneath = row.for === null ? 0 : beneath + 1;
      if (rows.length >= MOST || beneath > BENEATH) left += 1;
      else rows.push(row);
    }
    return { rows, left };
  }

  const shorten = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
  const sureness = (p) => (p > 0.99 ? ">99%" : p < 0.01 ? "<1%" : `${Math.round(100 * p)}%`);

  function bars() {
    const svg = byId("bars"), { rows, left } = rowsDrawn();
    if (!rows.length) return;
    const certain = rows[0].p !== null, line = 26, top = 24;
    const space = Math.min(byId("bars").parentNode.clientWidth || 860, 860), room_of_class = 150;
    const across = Math.max(1, Math.min(data.classes.length, Math.floor(space / room_of_class)));
    const legend = data.classes.length > 2 ? 18 * Math.ceil(data.classes.length / across) + 6 : 0;
    const height = top + rows.length * line + (left ? 24 : 4) + legend, width = canvas(svg, height, 860);
    const longest = Math.max(...rows.map((row) => row.name.length + row.prefix.length + (row.for === null ? 0 : 3)));
    const start = Math.min(longest * 7.6 + 10, 0.34 * width), room = Math.floor((start - 10) / 7.4);
    const narrow = width < 500, gap = narrow ? 46 : 56, split = certain ? start + (narrow ? 0.4 : 0.42) * (width - start) : start;
    const end = width - 8, bar = [start, split - gap], effect = [split + 8, end];
    const most = Math.max(...rows.map((row) => Math.abs(row.effect || 0))) || 1;
    const negative = rows.some((row) => row.effect < 0), positive = rows.some((row) => row.effect > 0);
    const beside = narrow ? 48 : 54; // room for a number beside a bar
    const low = effect[0] + (negative ? beside : 0), high = effect[1] - (positive ? beside : 0);
    const x = scale(negative ? -most : 0, positive ? most : 0, low, high);
    if (certain) draw(svg, "text", { class: "head", x: start, y: 12 }, "probability");
    const words = data.classes.length > 2 ? "effect, by class" : width < 340 ? "effect" : `effect on ${shorten(data.affected, narrow ? 10 : 18)}`;
    draw(svg, "text", { class: "head", x: x(0), y: 12, "text-anchor": negative && positive ? "middle" : negative ? "end" : "start" }, words);
    rows.forEach((row, i) => {
      const y = top + i * line, other = row.for !== null, at = other ? 18 : 0;
      const told = draw(svg, "text", { class: other ? "name other" : "name", x: at, y: y + 16 }, shorten(row.prefix + row.name, room - (other ? 1 : 0)));
      draw(told, "title", {}, row.name);
      if (certain) {
        draw(svg, "rect", { class: "track", x: bar[0], y: y + 4, width: bar[1] - bar[0], height: line - 12, rx: 3 });
        draw(svg, "rect", { class: row.coef === null || row.candidate ? "sure other" : "sure", x: bar[0], y: y + 4, width: Math.max(1, (bar[1] - bar[0]) * row.p), height: line - 12, rx: 3 });
        draw(svg, "text", { x: bar[1] + 6, y: y + 16 }, sureness(row.p));
      }
      if (row.effect === null) return;
      const from = Math.min(x(0), x(row.effect)), wide = Math.abs(x(row.effect) - x(0));
      draw(svg, "rect", { class: row.of_class !== null ? `kind-${row.of_class % 6}` : row.effect < 0 ? "minus" : "plus", x: from, y: y + 4, width: Math.max(wide, 1), height: line - 12 });
      const away = row.effect < 0 ? from - 5 : from + wide + 5;
      draw(svg, "text", { x: away, y: y + 16, "text-anchor": row.effect < 0 ? "end" : "start" }, row.effect_text.replace("-", "−"));
    });
    draw(svg, "line", { class: "guide", x1: x(0), x2: x(0), y1: top, y2: top + rows.length * line });
    if (left) draw(svg, "text", { x: 0, y: top + rows.length * line + 18 }, `and ${left} more in the table`);
    if (legend) data.classes.forEach((name, i) => {
      const lx = (i % across) * room_of_class, ly = height - legend + 18 * Math.floor(i / across) + 12;
      draw(svg, "rect", { class: `kind-${i % 6}`, x: lx, y: ly - 10, width: 12, height: 12 });
      draw(svg, "text", { x: lx + 18, y: ly }, shorten(name, Math.floor(room_of_class / 7.6) - 4));
    });
  }

  // -- to take away ----------------------------------------------------------------------

  function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const cell = (value) => (value === null ? "" : /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

  function csv() {
    const head = ["feature", "probability", "coefficient", "effect", "frequency", "stands in for"];
    const rows = data.found.map((row) => [row.cell, row.p, row.coef, row.effect, row.share, row.for]);
    return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"];

  function standalone(svg) { // a copy that carries its colours along
    const space = "http://www.w3.org/2000/svg", copy = document.createElementNS(space, "svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const given = { viewBox: svg.getAttribute("viewBox"), width, height };
    for (const name in given) copy.setAttribute(name, given[name]);
    draw(copy, "rect", { width, height, fill: getComputedStyle(document.body).backgroundColor });
    for (const child of svg.children) copy.append(child.cloneNode(true));
    const theirs = [...copy.querySelectorAll("*")].slice(1);
    svg.querySelectorAll("*").forEach((node, i) => {
      const computed = getComputedStyle(node);
      for (const name of STYLES) theirs[i].setAttribute(name, computed.getPropertyValue(name));
    });
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  function savePicture(svg, kind) {
    const { text, width, height } = standalone(svg), blob = new Blob([text], { type: "image/svg+xml" });
    if (kind === "svg") { save(`${svg.id}.svg`, blob); return; }
    const image = new Image(), sharp = 3;
    image.addEventListener("load", () => {
      const page = document.createElement("canvas");
      page.width = sharp * width;
      page.height = sharp * height;
      page.getContext("2d").drawImage(image, 0, 0, page.width, page.height);
      page.toBlob((png) => save(`${svg.id}.png`, png), "image/png");
      URL.revokeObjectURL(image.src);
    });
    image.src = URL.createObjectURL(blob);
  }

  function button(text, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  }

  function offers() {
    byId("csv").addEventListener("click", () => save("features.csv", new Blob([csv()], { type: "text/csv" })));
    for (const svg of document.querySelectorAll(".picture > svg")) {
      let row = svg.parentNode.nextElementSibling;
      if (!row || !row.classList.contains("buttons")) {
        row = document.createElement("div");
        row.className = "buttons";
        svg.parentNode.after(row);
      }
      for (const kind of ["svg", "png"]) {
        const made = button(`Save the picture (${kind.toUpperCase()})`, () => savePicture(svg, kind));
        made.dataset.saves = `${svg.id}.${kind}`;
        row.append(made);
      }
    }
    const paper = () => {
      const references = [...byId("paper").querySelectorAll("li")].map((li, i) => `[${i + 1}] ${li.textContent}`);
      return [byId("paper").querySelector("p").textContent, "", ...references, ""].join("\n");
    };
    byId("text").addEventListener("click", () => save("methods.txt", new Blob([paper()], { type: "text/plain" })));
    byId("copy").addEventListener("click", async () => {
      const said = byId("copied");
      try {
        await navigator.clipboard.writeText(paper());
        said.textContent = "Copied.";
      } catch { // not allowed here: leave it marked, for the reader to copy
        getSelection().selectAllChildren(byId("paper"));
        said.textContent = "Marked: copy it with Ctrl+C.";
      }
    });
  }

  // -- the paths -------------------------------------------------------------------------

  const path = () => data.paths[+level.value];

  function explore() {
    const walk = path(), svg = byId("explorer"), height = 380;
    const width = canvas(svg, height, 960), left = 52, right = width - 12, top = 12, bottom = 300;
    let low = 0, high = 0;
    for (const [, values] of walk.lines) for (const v of values) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low === high) high = 1;
    const last = Math.max(walk.t[walk.t.length - 1], 1), root = scale(0, Math.sqrt(last), left, right);
    const x = (t) => root(Math.sqrt(t)), y = scale(low, high, bottom, top);
    for (const v of ticks(low, high, 5)) {
      draw(svg, "line", { class: v === 0 ? "zero" : "axis", x1: left, x2: right, y1: y(v), y2: y(v) });
      draw(svg, "text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, number(v));
    }
    for (const share of [0, 0.04, 0.16, 0.36, 0.64, 1]) {
      const t = Math.round(last * share);
      draw(svg, "text", { x: x(t), y: bottom + 16, "text-anchor": share === 1 ? "end" : "middle" }, String(t));
    }
    draw(svg, "text", { x: left + 4, y: top + 8 }, data.unit);
    const clip = draw(draw(svg, "clipPath", { id: "walked" }), "rect", { x: 0, y: 0, width, height });
    const ghosts = draw(svg, "g", { class: "ghost" }), strong = draw(svg, "g", { "clip-path": "url(#walked)" });
    const lines = new Map();
    for (const [feature, values] of [...walk.lines].reverse()) {
      const points = values.map((v, i) => `${x(walk.t[i]).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
      const drawn = [ghosts, strong].map((group) => draw(group, "polyline", { class: "line", points, "data-feature": feature }));
      lines.set(feature, { drawn, values });
    }
    const most = Math.max(1, ...walk.entered, ...walk.left), middle = 350;
    walk.t.forEach((t, i) => {
      const tall = (count) => 24 * Math.sqrt(count / most), at = x(t) - 1.5;
      const up = tall(walk.entered[i]), down = tall(walk.left[i]);
      if (up) draw(svg, "rect", { class: "up", x: at, y: middle - up, width: 3, height: up });
      if (down) draw(svg, "rect", { class: "down", x: at, y: middle, width: 3, height: down });
    });
    draw(svg, "line", { class: "axis", x1: left, x2: right, y1: middle, y2: middle });
    draw(svg, "text", { x: left - 6, y: middle - 8, "text-anchor": "end" }, "enter");
    draw(svg, "text", { x: left - 6, y: middle + 16, "text-anchor": "end" }, "leave");
    const cursor = draw(svg, "line", { class: "cursor", y1: top, y2: bottom });
    chart = { walk, x, y, lines, cursor, clip, width, height, svg };
    paint();
    move();
  }

  function paint() {
    if (!chart) return;
    for (const [feature, line] of chart.lines) {
      const colour = pinned.has(feature) ? COLOURS[pinned.get(feature) % COLOURS.length] : "";
      for (const node of line.drawn) {
        node.setAttribute("class", ["line", data.chosen[feature] && "chosen", colour && "pinned", feature === near && "near"].filter(Boolean).join(" "));
        node.style.stroke = feature === near ? "" : colour;
      }
    }
  }

  function valueAt(feature, record) {
    const line = chart.lines.get(feature);
    return line ? line.values[record] : 0;
  }

  function named(features) {
    const names = features.map((f) => data.names[f]);
    return names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ");
  }

  function move() {
    const record = +step.value, walk = path(), at = chart.x(walk.t[record]);
    chart.cursor.setAttribute("x1", at);
    chart.cursor.setAttribute("x2", at);
    chart.clip.setAttribute("width", at);
    byId("step-value").textContent = walk.t[record];
    byId("level-value").textContent = walk.label;
    step.setAttribute("aria-valuetext", `step ${walk.t[record]}`);
    level.setAttribute("aria-valuetext", walk.label);
    const came = [], went = [];
    if (record > 0) {
      for (const [feature, line] of chart.lines) {
        const before = line.values[record - 1] !== 0, now = line.values[record] !== 0;
        if (now && !before) came.push(feature);
        if (before && !now) went.push(feature);
      }
    }
    let words = `Step ${walk.t[record]} of the path with ${walk.label}: ${walk.size[record]} features.`;
    if (came.length) words += ` New: ${named(came)}.`;
    if (went.length) words += ` Gone: ${named(went)}.`;
    byId("status").textContent = words;
    list(record);
    mark();
  }

  function chip(feature, record) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.feature = feature;
    const on = pinned.has(feature);
    button.setAttribute("aria-pressed", String(on));
    if (on) {
      const dot = document.createElement("i");
      dot.style.background = COLOURS[pinned.get(feature) % COLOURS.length];
      button.append(dot, " ");
    }
    button.append(`${data.names[feature]} ${number(valueAt(feature, record))}`);
    button.addEventListener("click", () => toggle(feature, true));
    return button;
  }

  function list(record) {
    const active = [...chart.lines.keys()].filter((f) => valueAt(f, record) !== 0);
    active.sort((a, b) => Math.abs(valueAt(b, record)) - Math.abs(valueAt(a, record)));
    byId("here").replaceChildren(...active.slice(0, LISTED).map((f) => chip(f, record)));
    byId("pinned").replaceChildren(...[...pinned.keys()].map((f) => chip(f, record)));
  }

  function toggle(feature, fromList) {
    const focused = fromList && document.activeElement ? document.activeElement.parentNode : null;
    if (pinned.has(feature)) {
      pinned.delete(feature);
    } else {
      const used = new Set(pinned.values());
      let place = 0;
      while (used.has(place)) place += 1;
      pinned.set(feature, place);
    }
    paint();
    list(+step.value);
    if (focused && focused.id) { // the list was made anew: give the focus back
      const again = focused.querySelector(`[data-feature="${feature}"]`) || byId("here").querySelector("button");
      if (again) again.focus();
    }
  }

  function nearest(event) {
    const box = chart.svg.getBoundingClientRect(), ratio = chart.width / box.width;
    const px = (event.clientX - box.left) * ratio, py = (event.clientY - box.top) * ratio;
    let record = 0, gap = Infinity;
    chart.walk.t.forEach((t, i) => {
      const distance = Math.abs(chart.x(t) - px);
      if (distance < gap) { gap = distance; record = i; }
    });
    let best = -1, closest = 14;
    for (const [feature, line] of chart.lines) {
      if (line.values[record] === 0) continue;
      const distance = Math.abs(chart.y(line.values[record]) - py);
      if (distance < closest) { closest = distance; best = feature; }
    }
    return { feature: best, record, left: px / ratio, top: py / ratio, width: box.width };
  }

  byId("explorer").addEventListener("pointermove", (event) => {
    const found = nearest(event);
    if (found.feature !== near) { near = found.feature; paint(); }
    tip.hidden = near < 0;
    if (near < 0) return;
    tip.textContent = `${data.names[near]}: ${number(valueAt(near, found.record))} at step ${chart.walk.t[found.record]}`;
    tip.style.left = `${Math.min(found.left + 12, Math.max(found.width - 190, 0))}px`;
    tip.style.top = `${found.top + 14}px`;
  });
  byId("explorer").addEventListener("pointerleave", () => { near = -1; tip.hidden = true; paint(); });
  byId("explorer").addEventListener("click", (event) => {
    const found = nearest(event);
    if (found.feature >= 0) toggle(found.feature, false);
  });

  function place(record) {
    step.max = path().t.length - 1;
    step.value = Math.min(record, path().t.length - 1);
  }

  function closestRecord(t) {
    let best = 0;
    path().t.forEach((each, i) => { if (Math.abs(each - t) < Math.abs(path().t[best] - t)) best = i; });
    return best;
  }

  function go(at, record) {
    level.value = at;
    place(record);
    explore();
  }

  step.addEventListener("input", move);
  level.addEventListener("input", () => {
    const t = chart.walk.t[Math.min(+step.value, chart.walk.t.length - 1)];
    go(+level.value, closestRecord(t));
  });
  byId("home").addEventListener("click", () => go(data.at[0], data.at[1]));
  byId("unpin").addEventListener("click", () => { pinned.clear(); paint(); list(+step.value); });

  // -- the choice ------------------------------------------------------------------------

  let cells = null;

  function choice() {
    const svg = byId("surface");
    if (data.surface) surface(svg, data.surface);
    else if (data.scores) scores(svg, data.scores);
  }

  function surface(svg, { labels, t, loss, chosen }) {
    byId("criterion-words").textContent = "Mean squared error on held-out folds, for every setting (down) and step (across): the deeper the colour, the smaller. The frame marks the chosen setting; a click shows that path and step below.";
    const row = labels.length > 16 ? 14 : 20, left = 92, top = 6, height = labels.length * row + 34;
    const width = canvas(svg, height, 960), wide = (width - left - 6) / t.length;
    const logs = loss.map((values) => values.map((v) => Math.log(Math.max(v, 1e-300))));
    const flat = logs.flat(), [low] = extent(flat);
    const ordered = [...flat].sort((a, b) => a - b), high = ordered[Math.floor(0.9 * (ordered.length - 1))];
    const shade = scale(low, high, 1, 0.04);
    logs.forEach((values, i) => {
      draw(svg, "text", { x: left - 6, y: top + (i + 0.75) * row, "text-anchor": "end" }, labels[i].length > 14 ? `${labels[i].slice(0, 13)}…` : labels[i]);
      values.forEach((v, j) => {
        const cell = draw(svg, "rect", { class: "cell", x: left + j * wide, y: top + i * row, width: wide + 0.5, height: row + 0.5, "fill-opacity": Math.max(0.04, Math.min(1, shade(v))).toFixed(3) });
        draw(cell, "title", {}, `${labels[i]}, step ${t[j]}: ${number(loss[i][j])}`);
        cell.addEventListener("click", () => {
          const at = data.paths.findIndex((walk) => walk.label === labels[i]);
          if (at < 0) return;
          level.value = at;
          go(at, closestRecord(t[j]));
        });
      });
    });
    const bottom = top + labels.length * row;
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const j = Math.round(share * (t.length - 1));
      draw(svg, "text", { x: left + (j + 0.5) * wide, y: bottom + 16, "text-anchor": share === 1 ? "end" : "middle" }, String(t[j]));
    }
    const frame = (at, name, gap) => draw(svg, "rect", { class: name, x: left + at[1] * wide - gap, y: top + at[0] * row - gap, width: wide + 2 * gap, height: row + 2 * gap });
    frame(chosen, "best", 1);
    cells = { svg, frame, labels, t, now: null };
    mark();
  }

  function mark() {
    if (!cells || !chart) return;
    if (cells.now) cells.now.remove();
    const row = cells.labels.indexOf(path().label), t = path().t[+step.value];
    if (row < 0) return;
    let column = 0;
    cells.t.forEach((each, j) => { if (Math.abs(each - t) < Math.abs(cells.t[column] - t)) column = j; });
    cells.now = cells.frame([row, column], "current", 3);
  }

  function scores(svg, { size, worse }) {
    byId("criterion-words").textContent = "The criterion of the best set of features of every size, above the best of all (0): sets within about 2 of it are nearly as good.";
    const height = 260, width = canvas(svg, height, 760), left = 52, right = width - 14, bottom = height - 34;
    const [low, high] = extent(size), most = Math.max(...worse, 1);
    const x = scale(low, high, left, right), y = scale(0, most, bottom, 14);
    for (const v of ticks(0, most, 5)) {
      draw(svg, "line", { class: "axis", x1: left, x2: right, y1: y(v), y2: y(v) });
      draw(svg, "text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, number(v));
    }
    for (const v of ticks(low, high, 6)) if (Number.isInteger(v)) draw(svg, "text", { x: x(v), y: bottom + 16, "text-anchor": "middle" }, String(v));
    draw(svg, "text", { x: right, y: height - 4, "text-anchor": "end" }, "features");
    draw(svg, "polyline", { class: "guide", points: size.map((s, i) => `${x(s)},${y(worse[i])}`).join(" ") });
    size.forEach((s, i) => {
      const dot = draw(svg, "circle", { class: worse[i] === 0 ? "dot down" : "dot", cx: x(s), cy: y(worse[i]), r: worse[i] === 0 ? 6 : 4 });
      draw(dot, "title", {}, `${s} features: ${number(worse[i])} worse`);
    });
  }

  // -- rows and features -----------------------------------------------------------------

  function scatter(id, xs, ys, rows, across, up, alike) {
    const svg = byId(id), height = 300, width = canvas(svg, height, 470);
    const left = 52, right = width - 12, bottom = height - 40;
    const [x0, x1] = extent(alike ? [...xs, ...ys] : xs), [y0, y1] = alike ? [x0, x1] : extent(ys);
    const x = scale(x0, x1, left, right), y = scale(y0, y1, bottom, 26);
    for (const v of ticks(y0, y1, 5)) {
      draw(svg, "line", { class: "axis", x1: left, x2: right, y1: y(v), y2: y(v) });
      draw(svg, "text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, number(v));
    }
    for (const v of ticks(x0, x1, 4)) draw(svg, "text", { x: x(v), y: bottom + 16, "text-anchor": "middle" }, number(v));
    const a = Math.max(x0, y0), b = Math.min(x1, y1);
    if (b > a) draw(svg, "line", { class: "guide", x1: x(a), y1: y(a), x2: x(b), y2: y(b) });
    draw(svg, "text", { x: right, y: height - 6, "text-anchor": "end" }, across);
    draw(svg, "text", { x: left, y: 14 }, up);
    xs.forEach((v, i) => {
      const dot = draw(svg, "circle", { class: "dot", cx: x(v).toFixed(1), cy: y(ys[i]).toFixed(1), r: 3.5 });
      draw(dot, "title", {}, `${data.row} ${rows[i]}: ${number(v)}, ${number(ys[i])}`);
    });
  }

  function residuals() {
    const r = data.residuals;
    if (r) scatter("quantiles", r.quantile, r.standardised, r.row, "normal quantile", "standardised residual");
  }

  // -- predictions -----------------------------------------------------------------------

  const whole = (share) => `${Math.round(100 * share)}%`;

  function predictions() {
    const p = data.predicted;
    if (p.kind === "numbers") scatter("observed", p.predicted, p.observed, p.row, p.held_out ? "predicted (held out)" : "fitted", "observed", true);
    if (p.kind === "classes") { roc(p.roc); calibration(p.bins); }
    if (p.kind === "survival") curves(p);
  }

  function shares(svg, across, up, last, told, below = 0) { // axes from 0 to 1, or, across, to the last
    const plot = 320, height = plot + below, width = canvas(svg, height, last === 1 ? 420 : 640), left = 48, right = width - 22, top = 28, bottom = plot - 42;
    const x = scale(0, last, left, right), y = scale(0, 1, bottom, top);
    for (const v of [0, 0.25, 0.5, 0.75, 1]) {
      draw(svg, "line", { class: "axis", x1: left, x2: right, y1: y(v), y2: y(v) });
      draw(svg, "text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, whole(v));
    }
    for (const v of ticks(0, last, 4)) draw(svg, "text", { x: x(v), y: bottom + 16, "text-anchor": "middle" }, told(v));
    draw(svg, "text", { x: right, y: plot - 6, "text-anchor": "end" }, across);
    draw(svg, "text", { x: left, y: 14 }, up);
    return { x, y, right, bottom };
  }

  const points = (xs, ys, { x, y }) => xs.map((v, i) => `${x(v).toFixed(1)},${y(ys[i]).toFixed(1)}`).join(" ");

  function roc([across, up]) {
    const svg = byId("roc");
    const at = shares(svg, "false positives (1 - specificity)", "true positives (sensitivity)", 1, whole);
    draw(svg, "line", { class: "zero", x1: at.x(0), y1: at.y(0), x2: at.x(1), y2: at.y(1) });
    draw(svg, "polyline", { class: "curve one", points: points(across, up, at) });
  }

  function calibration({ predicted, observed, rows }) {
    const svg = byId("calibration"), second = shorten(data.classes[1], 18);
    const at = shares(svg, `probability of ${second}`, `share that is ${second}`, 1, whole);
    draw(svg, "line", { class: "zero", x1: at.x(0), y1: at.y(0), x2: at.x(1), y2: at.y(1) });
    predicted.forEach((p, i) => {
      const give = Math.sqrt((p * (1 - p)) / rows[i]), cut = (v) => at.y(Math.max(0, Math.min(1, v)));
      draw(svg, "line", { class: "range", x1: at.x(p), x2: at.x(p), y1: cut(p - 2 * give), y2: cut(p + 2 * give) });
      const dot = draw(svg, "circle", { class: "dot full", cx: at.x(p), cy: at.y(observed[i]), r: 5 });
      draw(dot, "title", {}, `${rows[i]} ${data.rows} with ${whole(p)} on average: ${whole(observed[i])} are ${second}`);
    });
  }

  const RISKS = ["lowest risk", "middle", "highest risk"], DASHES = ["one", "two", "three"];

  function curves({ curves: parts, ticks: times }) {
    const svg = byId("curves"), last = Math.max(...parts.map((each) => each.t[each.t.length - 1])) || 1;
    const at = shares(svg, shorten(data.target, 24), "still without the event", last, number, 22 + 18 * parts.length);
    parts.forEach(({ t, low, high }, i) => { // the interval, flat until the next time
      const stairs = (values) => t.flatMap((v, j) => (j ? [[v, values[j - 1]], [v, values[j]]] : [[v, values[j]]]));
      const around = [...stairs(low), ...stairs(high).reverse()].map(([x, y]) => `${at.x(x).toFixed(1)},${at.y(y).toFixed(1)}`);
      draw(svg, "polygon", { class: `band ${DASHES[i]}`, points: around.join(" ") });
    });
    draw(svg, "text", { x: 0, y: at.bottom + 56 }, "at risk");
    parts.forEach(({ at_risk: counts }, i) => {
      const y = at.bottom + 56 + 18 * (i + 1);
      draw(svg, "line", { class: `curve ${DASHES[i]}`, x1: 0, x2: 26, y1: y - 4, y2: y - 4 });
      times.forEach((v, j) => draw(svg, "text", { x: at.x(v), y, "text-anchor": "middle" }, String(counts[j])));
    });
    parts.forEach(({ t, s }, i) => { // flat until the next time, then straight down
      const xs = t.flatMap((v, j) => (j ? [v, v] : [v])), ys = s.flatMap((v, j) => (j ? [s[j - 1], v] : [v]));
      draw(svg, "polyline", { class: `curve ${DASHES[i]}`, points: points(xs, ys, at) });
    });
    parts.forEach(({ rows, events }, i) => {
      const y = 40 + 18 * i, x = at.right - 190;
      draw(svg, "line", { class: `curve ${DASHES[i]}`, x1: x, x2: x + 28, y1: y - 4, y2: y - 4 });
      draw(svg, "text", { class: "halo", x: x + 34, y }, `${RISKS[i]}: ${events} of ${rows} events`);
    });
  }

  // -- the heat map ----------------------------------------------------------------------

  function heat() {
    const svg = byId("rows"), map = data.heat;
    if (!map) return;
    const count = map.cells[0].length, line = Math.max(14, Math.min(26, 330 / map.cells.length)), top = 64;
    const width = canvas(svg, top + map.cells.length * line + 26, 920), narrow = width < 500;
    const start = Math.min(12 + 8 * Math.max(...map.names.map((name) => name.length)), (narrow ? 0.26 : 0.2) * width);
    const wide = (width - start - 4) / count, room = Math.floor((start - 8) / 7.6);
    strip(svg, map, start, wide, top - 8);
    map.cells.forEach((row, i) => {
      const y = top + i * line;
      draw(draw(svg, "text", { class: "name", x: 0, y: y + 0.5 * line + 4 }, shorten(map.names[i], room)), "title", {}, map.names[i]);
      [...row].forEach((letter, j) => {
        const shade = letter.charCodeAt(0) - 105; // "i" is the mean
        if (shade) draw(svg, "rect", { class: shade < 0 ? "minus" : "plus", x: (start + j * wide).toFixed(2), y, width: (wide + 0.3).toFixed(2), height: line - 1, "fill-opacity": (Math.abs(shade) / 8).toFixed(2) });
      });
    });
    const told = count < map.rows ? `each column is the mean of about ${Math.round(map.rows / count)} ${data.rows}` : `${map.rows} ${data.rows}`;
    draw(svg, "text", { x: width - 4, y: top + map.cells.length * line + 18, "text-anchor": "end" }, told);
  }

  function strip(svg, { kind, response, event }, start, wide, bottom) { // the response of each column
    if (kind === "classes") {
      const ends = [...data.classes, ""].map((_, each) => response.filter((value) => value <= each - 0.5).length);
      data.classes.forEach((_, each) => {
        const from = start + ends[each] * wide, to = start + ends[each + 1] * wide;
        if (to <= from) return;
        draw(svg, "rect", { class: data.classes.length > 2 ? `kind-${each % 6}` : each % 2 ? "class second" : "class", x: from + 1, y: bottom - 10, width: to - from - 2, height: 10 });
        draw(svg, "text", { x: (from + to) / 2, y: bottom - 16, "text-anchor": "middle" }, shorten(data.classes[each], Math.max(3, Math.floor((to - from) / 7))));
      });
      return;
    }
    const [low, high] = extent([0, ...response]), y = scale(low, high, bottom, 22), zero = y(0);
    draw(svg, "text", { x: start, y: 12 }, kind === "survival" ? `${shorten(data.target, 24)} (dark: event, pale: censored)` : shorten(data.target, 40));
    for (const v of [low, high]) if (v !== low || v !== 0) draw(svg, "text", { x: start - 4, y: y(v) + 4, "text-anchor": "end" }, number(v));
    draw(svg, "text", { x: start - 4, y: zero + 4, "text-anchor": "end" }, "0");
    draw(svg, "line", { class: "guide", x1: start, x2: start + wide * response.length, y1: zero, y2: zero });
    response.forEach((v, j) => draw(svg, "rect", { class: event[j] > 0.5 ? "bar" : "bar pale", x: start + j * wide, y: Math.min(zero, y(v)), width: Math.max(0.6, wide - 0.6), height: Math.max(0.6, Math.abs(y(v) - zero)) }));
  }

  function correlations() {
    const { names, r } = data.correlation, svg = byId("map");
    if (!names.length) { svg.parentNode.hidden = true; return; }
    const label = Math.min(150, 12 + 7 * Math.max(...names.map((n) => Math.min(n.length, 20))));
    const room = Math.max(260, Math.min(svg.parentNode.clientWidth || 600, 720));
    const cell = Math.min(26, (room - label - 8) / names.length);
    const size = Math.min(12, cell);
    canvas(svg, cell * names.length + 12, label + cell * names.length + 8);
    r.forEach((row, i) => {
      const name = names[i].length > 20 ? `${names[i].slice(0, 19)}…` : names[i];
      if (cell >= 6) draw(svg, "text", { x: label - 6, y: 4 + (i + 0.5) * cell + size / 3, "text-anchor": "end" }, name).style.fontSize = `${size}px`;
      row.forEach((value, j) => {
        const box = draw(svg, "rect", { class: value < 0 ? "minus" : "plus", x: label + j * cell, y: 4 + i * cell, width: cell - 0.5, height: cell - 0.5, "fill-opacity": Math.min(1, Math.abs(value)).toFixed(2) });
        draw(box, "title", {}, `${names[i]} and ${names[j]}: ${value}`);
      });
    });
  }

  // -- all -------------------------------------------------------------------------------

  function everything() {
    bars();
    explore();
    choice();
    predictions();
    heat();
    residuals();
    correlations();
  }

  level.max = data.paths.length - 1;
  byId("level-label").hidden = data.paths.length < 2;
  level.value = data.at[0];
  place(data.at[1]);
  everything();
  offers();
  for (const folded of document.querySelectorAll("#details > details")) folded.addEventListener("toggle", () => { if (folded.open) everything(); });
  window.addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("#details > details")) each.open = true; });
  let wait = 0, wide = document.documentElement.clientWidth;
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === wide) return; // a phone hides its address bar
    wide = document.documentElement.clientWidth;
    clearTimeout(wait);
    wait = setTimeout(everything, 120);
  });
})();
