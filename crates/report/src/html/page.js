"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const paths = [...document.querySelectorAll(".arrows path[data-from]")];
  const find = (selector) => document.querySelector(selector);
  const slider = find(".walk input");
  let now = 0;

  // Folds: a row that stands for a run, until it is opened.
  const body = find(".steps tbody");
  const opened = new Set();
  const folds = rows.filter((row) => row.dataset.fold).map((row) => {
    const from = Number(row.dataset.row);
    const n = Number(row.dataset.fold);
    const stand = document.createElement("tr");
    stand.className = "fold";
    const head = document.createElement("th");
    head.textContent = "…";
    const cell = document.createElement("td");
    cell.colSpan = row.cells.length - 1;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${n} steps of ${data.rows[from].thread}`;
    button.addEventListener("click", () => open(from));
    cell.append(button);
    stand.append(head, cell);
    body.insertBefore(stand, row);
    return { from, n, stand };
  });

  function open(from) {
    opened.add(from);
    layOut();
  }

  // Which line each row is on, with folds closed.
  function layOut() {
    let line = 0;
    const lines = new Array(rows.length);
    let next = 0;
    for (let row = 0; row < rows.length; ) {
      const fold = folds[next];
      if (fold && fold.from === row) {
        next += 1;
        const closed = !opened.has(fold.from);
        fold.stand.hidden = !closed;
        for (let at = row; at < row + fold.n; at += 1) {
          rows[at].hidden = closed;
          lines[at] = line;
          if (!closed) line += 1;
        }
        if (closed) line += 1;
        row += fold.n;
        continue;
      }
      lines[row] = line;
      line += 1;
      row += 1;
    }
    if (folds.length === 0) return;
    const middle = (row) => (lines[row] + 1) * data.row + data.row / 2;
    for (const path of paths) {
      const { from, to, x1, x2 } = path.dataset;
      const [y1, y2] = [middle(from), middle(to)];
      const bend = Math.min(Math.abs(y2 - y1) / 2, data.row * 2);
      path.setAttribute("d", `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`);
    }
  }

  function showValues() {
    const values = new Map();
    for (let row = 0; row <= now; row += 1) {
      const { object, value } = data.rows[row];
      if (object && value) values.set(object, { value, changed: row === now });
    }
    const table = find(".watch tbody");
    table.replaceChildren();
    for (const [object, { value, changed }] of values) {
      const line = table.insertRow();
      if (changed) line.className = "changed";
      line.insertCell().textContent = object;
      line.insertCell().textContent = value;
    }
    find(".watch").hidden = values.size === 0;
  }

  function showSource() {
    const { file, line } = data.rows[now];
    const lines = file && data.lines[file];
    find(".source").hidden = !lines;
    if (!lines) return;
    find(".source h2").textContent = `${file}:${line}`;
    const pre = find(".source pre");
    pre.replaceChildren();
    for (let at = line - 3; at <= line + 3; at += 1) {
      if (lines[at] === undefined) continue;
      const shown = document.createElement(at === line ? "mark" : "span");
      shown.textContent = `${String(at).padStart(5)}  ${lines[at]}${at === line ? "" : "\n"}`;
      pre.append(shown);
    }
  }

  function select(row, scroll) {
    rows[now].classList.remove("now");
    now = Math.max(0, Math.min(rows.length - 1, row));
    const fold = folds.find(({ from, n }) => now >= from && now < from + n);
    if (fold && !opened.has(fold.from)) open(fold.from);
    rows[now].classList.add("now");
    if (scroll) rows[now].scrollIntoView({ block: "nearest" });
    slider.value = now + 1;
    find(".walk output").textContent = now + 1;
    const { thread, text } = data.rows[now];
    find(".walk .now").textContent = `${thread}: ${text}`;
    for (const path of paths) {
      const lit = Number(path.dataset.to) === now || Number(path.dataset.from) === now;
      path.classList.toggle("lit", lit);
    }
    showValues();
    showSource();
    const { number } = data.rows[now];
    if (number !== null) history.replaceState(null, "", `#step=${number}`);
  }

  function fromAddress() {
    const found = /^#step=(\d+)$/.exec(location.hash);
    if (!found) return rows.length - 1;
    // A step that has no row of its own is in the one before.
    const step = Number(found[1]);
    const at = data.rows.findLastIndex(({ number }) => number !== null && number <= step);
    return Math.max(0, at);
  }

  rows.forEach((row, idx) => row.querySelector("button").addEventListener("click", () => select(idx)));
  slider.addEventListener("input", () => select(slider.value - 1, true));
  addEventListener("hashchange", () => select(fromAddress(), true));
  addEventListener("keydown", (event) => {
    if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1,
      Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(to, true);
  });
  find(".walk").hidden = false;
  layOut();
  if (rows.length > 0) select(fromAddress(), true);
})();
