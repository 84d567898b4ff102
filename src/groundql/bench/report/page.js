"use strict";
(() => {
  const data = (id) => JSON.parse(document.getElementById(id).textContent);
  const head = data("head");
  const make = (name, text, cls) => {
    const node = document.createElement(name);
    if (text !== undefined && text !== null) node.textContent = String(text);
    if (cls) node.className = cls;
    return node;
  };
  const colour = (bucket) => head.colours[bucket] || "#999";
  const words = (bucket) => bucket.replaceAll("_", " ");

  // sort any table by its columns
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    table.querySelectorAll("th").forEach((th, column) => {
      th.tabIndex = 0;
      const sort = () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
        const compare = (a, b) => {
          const [x, y] = [value(a), value(b)];
          const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
          return numbers ? x - y : x === "" ? 1 : y === "" ? -1 : x.localeCompare(y);
        };
        const rows = [...body.rows].sort((a, b) => (down ? -compare(a, b) : compare(a, b)));
        body.append(...rows);
      };
      th.addEventListener("click", sort);
      th.addEventListener("keydown", (e) => { if (e.key === "Enter") sort(); });
    });
  }

  // tasks
  const list = document.getElementById("list");
  const field = (id) => document.getElementById(id);
  const protocol = () => Number(field("protocol").value);

  const rowsTable = (rows, title) => {
    const box = make("div");
    box.append(make("small", rows ? `${title}: ${rows.count.toLocaleString("en")} rows${rows.cells.length < rows.count ? `, the first ${rows.cells.length}` : ""}` : `${title}: no rows kept`));
    if (!rows || !rows.cells.length) return box;
    const scroll = make("div", null, "scroll"), table = make("table", null, "rows");
    const line = table.createTHead().insertRow();
    rows.columns.forEach((name) => line.append(make("th", name)));
    const body = table.createTBody();
    rows.cells.forEach((cells) => {
      const row = body.insertRow();
      cells.forEach((cell) => { const td = row.insertCell(); td.textContent = cell === null ? "—" : cell; if (cell === null) td.className = "none"; });
    });
    scroll.append(table); box.append(scroll);
    return box;
  };

  const program = (told, mark) => {
    const box = make("div");
    if (!told.stages) { box.append(make("pre", told.text || "nothing was handed in")); return box; }
    box.append(make("small", told.container));
    told.stages.forEach((stage, place) => {
      const wrong = mark && mark.stage === place;
      box.append(make("pre", `${place + 1}  ${stage}`, wrong ? "wrong" : ""));
      if (wrong) box.append(make("div", `first wrong stage: ${mark.why}`, "why"));
    });
    if (!told.stages.length) box.append(make("pre", "(no stages)"));
    return box;
  };

  const tries = (arm) => {
    if (!arm.tries || !arm.tries.length) return null;
    const box = make("details"); box.append(make("summary", `rounds and findings (${arm.tries.length + (arm.more_tries || 0)})`));
    arm.tries.forEach((one) => {
      box.append(make("h3", `attempt ${one.attempt + 1}, round ${one.round + 1}${one.rows === null ? "" : `: ${one.rows} rows`}`));
      if (one.mql) box.append(make("pre", one.mql)); else box.append(make("small", "the program handed in"));
      one.findings.forEach((f) => {
        const line = make("div", null, "finding");
        line.append(make("b", `${f.blocking ? "blocking" : "advisory"} ${f.code}: `), document.createTextNode(f.text));
        box.append(line);
      });
    });
    return box;
  };

  const open = (place, box) => {
    const told = data(`task-${place}`);
    const top = make("div", null, "side"), gold = make("div"), rows = make("div");
    gold.append(make("h3", "gold"), program(told.gold));
    rows.append(make("h3", "its rows"), rowsTable(told.gold.rows, "gold"));
    top.append(gold, rows);
    if (told.colloquial) box.append(make("p", `also asked as: ${told.colloquial}`, "key"));
    box.append(make("p", Object.entries(head.tasks[place].slices).map(([k, v]) => `${k} ${v}`).join(" · "), "key"), top);
    told.arms.forEach((arm, number) => {
      if (!arm) return;
      const part = make("div", null, "arm"), title = make("h3", head.arms[number]);
      Object.entries(arm.verdicts).forEach(([name, verdict]) => {
        const tag = make("span", `${name}: ${words(verdict.bucket)}`, "tag");
        tag.style.background = colour(verdict.bucket);
        tag.title = `EXF1 ${verdict.exf1.toFixed(2)} ${verdict.detail}`;
        title.append(tag);
      });
      part.append(title);
      const detail = [...new Set(Object.values(arm.verdicts).map((v) => v.detail).filter(Boolean))].join("; ");
      if (detail) part.append(make("div", detail, "key"));
      if (arm.failure && !detail.includes(arm.failure)) part.append(make("div", arm.failure, "key"));
      const side = make("div", null, "side"), left = make("div"), right = make("div");
      left.append(program(arm, arm.mark)); right.append(rowsTable(arm.rows, "its rows"));
      if (arm.cost) right.append(make("small", `${arm.cost[0]} calls, ${arm.cost[1].toLocaleString("en")} + ${arm.cost[2].toLocaleString("en")} tokens, ${arm.cost[3] === null ? "price unknown" : arm.cost[3].toFixed(4) + " USD"}, ${arm.cost[4].toFixed(1)} s`));
      side.append(left, right); part.append(side);
      const rounds = tries(arm); if (rounds) part.append(rounds);
      box.append(part);
    });
  };

  const nodes = head.tasks.map((task, place) => {
    const node = make("details", null, "task"), summary = make("summary"), dots = make("span", null, "dots");
    summary.append(make("small", `${task.db} ${task.record}`), make("span", task.question), dots);
    node.append(summary);
    let box = null;
    node.addEventListener("toggle", () => { if (node.open && !box) { box = make("div", null, "body"); node.append(box); open(place, box); } });
    return { task, node, dots };
  });

  const paint = () => {
    const p = protocol();
    nodes.forEach(({ task, dots }) => {
      dots.replaceChildren(...task.buckets.map((pair, number) => {
        const dot = make("span", null, "dot"), bucket = pair[p];
        dot.style.background = bucket ? colour(bucket) : "transparent";
        dot.title = `${head.arms[number]}: ${bucket ? words(bucket) : "not asked"}`;
        return dot;
      }));
    });
  };

  const show = () => {
    const p = protocol(), text = field("find").value.toLowerCase();
    const db = field("db").value, arm = Number(field("arm").value), bucket = field("bucket").value, slice = field("slice").value;
    const fits = ({ task }) => {
      if (db && task.db !== db) return false;
      if (slice) { const [axis, value] = JSON.parse(slice); if (task.slices[axis] !== value) return false; }
      if (text && !`${task.db} ${task.record} ${task.question}`.toLowerCase().includes(text)) return false;
      const of = arm < 0 ? task.buckets.map((b) => b[p]) : [task.buckets[arm][p]];
      if (!bucket) return true;
      if (bucket === "wrong") return of.some((b) => b && b !== "correct");
      if (bucket === "differ") return new Set(of.filter(Boolean).map((b) => b === "correct")).size > 1;
      if (bucket === "none") return of.every((b) => b !== "correct");
      return of.includes(bucket);
    };
    const right = (one) => one.task.buckets.filter((b) => b[p] === "correct").length;
    let kept = nodes.filter(fits);
    const order = field("order").value;
    if (order === "hard") kept = [...kept].sort((a, b) => right(a) - right(b));
    if (order === "easy") kept = [...kept].sort((a, b) => right(b) - right(a));
    list.replaceChildren(...kept.map((one) => one.node));
    field("count").textContent = `${kept.length.toLocaleString("en")} of ${nodes.length.toLocaleString("en")} tasks`;
  };
  const option = (select, value, text) => { const o = make("option", text); o.value = value; select.append(o); };
  [...new Set(head.tasks.map((t) => t.db))].forEach((db) => option(field("db"), db, db));
  head.arms.forEach((arm, number) => option(field("arm"), number, arm));
  Object.keys(head.colours).forEach((bucket) => option(field("bucket"), bucket, words(bucket)));
  [...new Set(head.tasks.flatMap((t) => Object.entries(t.slices).filter(([k]) => k !== "database").map((e) => JSON.stringify(e))))]
    .sort().forEach((pair) => option(field("slice"), pair, JSON.parse(pair).join(": ")));
  document.querySelectorAll(".controls input, .controls select").forEach((one) => one.addEventListener("input", () => { paint(); show(); }));
  paint(); show();
})();
