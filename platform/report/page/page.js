'use strict';
// Charts and tables of a report from the runs in #data. Every chart has its numbers beside it as a table.
const runs = JSON.parse(document.getElementById('data').textContent).runs;
const charts = {};
const $ = id => document.getElementById(id);
const whole = n => n.toLocaleString('en-US');
const percent = n => (100 * n).toFixed(1) + '%';

function prefixed(value, unit) {
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'u'], [1e-9, 'n'], [1e-12, 'p']];
  const [scale, prefix] = steps.find(([s]) => Math.abs(value) >= s * 0.9995) || [1, ''];
  const scaled = value / scale;
  const decimals = Number.isInteger(scaled) && scaled < 10 ? 0 : Math.abs(scaled) >= 99.95 ? 0 : Math.abs(scaled) >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(decimals)} ${prefix}${unit}`;
}
// For axes: few and short.
const short = n => n >= 1e6 ? `${n / 1e6} M` : n >= 1e3 ? `${n / 1e3} k` : `${n}`;
const decade = v => Math.abs(Math.log10(v) % 1) < 1e-9;
const round125 = v => [1, 2, 5].includes(Number((v / 10 ** Math.floor(Math.log10(v) + 1e-9)).toPrecision(6)));

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
const palette = i => colour(`--c${i % 7}`);
// What the machines of the runs are made of, in the order of their module trees.
const together = of => [...new Set(runs.flatMap(of))];

function fill(table, head, rows, caption) {
  table.replaceChildren();
  if (caption) table.createCaption().textContent = caption;
  const top = table.createTHead().insertRow();
  for (const text of head) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = text;
    top.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, i) => {
      const cell = document.createElement(i ? 'td' : 'th');
      if (!i) cell.scope = 'row';
      cell.textContent = text;
      line.append(cell);
    });
  }
}

function draw(id, config, label) {
  if (charts[id]) charts[id].destroy();
  $(id).setAttribute('aria-label', label);
  charts[id] = new Chart($(id), config);
}

// A chart of bars: one group per category, one series per entry of `series`: {label, values}.
function bars(id, label, categories, series, options) {
  const {stacked = false, log = false, show, tick = show, top, horizontal = false} = options;
  const value = {stacked, max: top, type: log ? 'logarithmic' : 'linear', ticks: {maxRotation: 0, callback: v => log && !decade(v) ? null : tick(v)}};
  const category = {stacked, grid: {display: false}};
  draw(id, {
    type: 'bar',
    data: {labels: categories, datasets: series.map((s, i) => ({label: s.label, data: s.values, backgroundColor: palette(i), maxBarThickness: 48}))},
    options: {
      indexAxis: horizontal ? 'y' : 'x',
      scales: horizontal ? {x: value, y: category} : {y: value, x: category},
      plugins: {
        legend: {display: series.length > 1},
        tooltip: {callbacks: {label: c => `${c.dataset.label}: ${show(c.raw)}`}},
      },
    },
  }, label);
  let box = $(id).closest('figure').querySelector('details');
  if (!box) {
    box = document.createElement('details');
    box.innerHTML = '<summary>Data</summary><div class="scroll"><table></table></div>';
    $(id).closest('figure').append(box);
  }
  const table = box.querySelector('table');
  table.id = `${id}-table`;
  fill(table, ['', ...series.map(s => s.label)], categories.map((c, i) => [c, ...series.map(s => show(s.values[i]))]), label);
}

function comparison() {
  const slowest = Math.max(...runs.map(r => r.cycles));
  const checked = r => r.golden.checked ? (r.golden.passed ? 'passed' : 'FAILED') : 'not checked';
  fill($('compare'),
       ['Run', 'Cycles', 'Time', 'Faster by', 'MAC', 'VEC', 'DMA', 'DRAM bus', 'DRAM traffic', 'L1 peak', 'Energy', 'Golden'],
       runs.map(r => [r.label, whole(r.cycles), prefixed(r.seconds, 's'), (slowest / r.cycles).toFixed(2) + 'x', percent(r.utilization.mac),
                      percent(r.utilization.vec), percent(r.utilization.dma), percent(r.utilization.dram),
                      prefixed(r.dram.read_bytes + r.dram.write_bytes, 'B'), prefixed(r.l1.peak_bytes, 'B'),
                      prefixed(r.energy_pj.total * 1e-12, 'J'), checked(r)]));
}

function overview() {
  const labels = runs.map(r => r.label);
  bars('cycles', 'Cycles of each run', labels, [{label: 'cycles', values: runs.map(r => r.cycles)}], {show: whole, tick: short, horizontal: true});
  const parts = together(r => Object.keys(r.energy_pj).filter(part => part !== 'total'));
  bars('energy', 'Energy of each run by component', labels,
       parts.map(part => ({label: part.toUpperCase(), values: runs.map(r => (r.energy_pj[part] ?? 0) * 1e-12)})), {stacked: true, show: v => prefixed(v, 'J'), tick: v => prefixed(v, 'J').replace(/\.0+ /, ' ')});
  bars('utilisation', 'Utilisation of each run', labels,
       [['mac', 'MAC'], ['vec', 'VEC'], ['dma', 'DMA'], ['dram', 'DRAM bus']].map(([key, label]) => ({label, values: runs.map(r => r.utilization[key])})),
       {show: percent, tick: v => `${Math.round(100 * v)}%`, top: 1});
  const kinds = together(r => Object.keys(r).filter(key => r[key]?.read_bytes !== undefined)).flatMap(m => [[m, 'read'], [m, 'write']]);
  bars('traffic', 'Bytes moved by each run', kinds.map(([m, k]) => `${m.toUpperCase()} ${k}`),
       runs.map(r => ({label: r.label, values: kinds.map(([m, k]) => r[m] ? r[m][`${k}_bytes`] : 0)})), {log: true, show: v => prefixed(v, 'B')});
}

// Which run's accounts are shown. A run's time: {engine: {reason: cycles}}.
const accounts = {run: null};
const engine = unit => unit.replace(/^attnvp\./, '');
const kindOf = unit => engine(unit).split('.').filter(part => !/^channel/.test(part)).pop();
const mostBars = 24;  // more engines are shown by kind
const leastShown = 0.005;  // of every engine's time: less is "other"

// One bar an engine: {label, cycles: {reason: share}}, without those that never had anything to do.
function engines(run) {
  const bars = Object.entries(run.time).filter(([, cycles]) => Object.keys(cycles).some(reason => reason !== 'end'));
  const share = list => {
    const total = list.reduce((sum, cycles) => sum + Object.values(cycles).reduce((a, b) => a + b, 0), 0);
    const out = {};
    for (const cycles of list) for (const [reason, n] of Object.entries(cycles)) out[reason] = (out[reason] || 0) + n / total;
    return out;
  };
  if (bars.length <= mostBars) return bars.map(([unit, cycles]) => ({label: engine(unit), share: share([cycles])}));
  return [...new Set(bars.map(([unit]) => kindOf(unit)))].map(kind => {
    const of = bars.filter(([unit]) => kindOf(unit) === kind);
    return {label: `${kind}, mean of ${of.length}`, share: share(of.map(([, cycles]) => cycles))};
  });
}

function timeSpent() {
  const list = engines(accounts.run);
  const most = reason => Math.max(...list.map(e => e.share[reason] || 0));
  const all = [...new Set(list.flatMap(e => Object.keys(e.share)))];
  const reasons = all.filter(reason => most(reason) >= leastShown);
  const rank = reason => reason === 'useful' ? -2 : reason === 'end' ? 1 : -most(reason);  // useful first, end last
  reasons.sort((a, b) => rank(a) - rank(b));
  const series = reasons.map(reason => ({label: reason, values: list.map(e => e.share[reason] || 0)}));
  const other = list.map(e => all.filter(reason => !reasons.includes(reason)).reduce((sum, reason) => sum + (e.share[reason] || 0), 0));
  if (Math.max(...other) > 0) series.push({label: 'other', values: other});
  $('time-box').style.height = `${6 + 2.1 * list.length}rem`;
  bars('time', `Where the time of ${accounts.run.label} went, by engine`, list.map(e => e.label), series,
       {stacked: true, horizontal: true, show: percent, tick: v => `${Math.round(100 * v)}%`, top: 1});
}

function setUpAccounts() {
  const known = runs.filter(r => r.time);
  $('time-section').hidden = !known.length;
  if (!known.length) return;
  for (const r of known.filter(r => r.bound?.advice?.length)) {
    const line = document.createElement('li');
    line.textContent = `${r.label}: ${r.bound.advice[0].text}`;
    $('bounds').append(line);
  }
  known.forEach((r, i) => $('time-run').add(new Option(r.label, i)));
  $('time-pick').hidden = known.length < 2;
  $('time-run').onchange = e => { accounts.run = known[e.target.value]; timeSpent(); };
  accounts.run = known[0];
}

// What made each run: enough to have it again.
function origins() {
  const known = runs.filter(r => r.version);
  $('origin-section').hidden = !known.length;
  const pairs = o => Object.entries(o || {}).map(([key, value]) => `${key}=${value}`).join(' ');
  fill($('origin'), ['Run', 'Command', 'Overrides', 'Tiling', 'Seed', 'Machine', 'Version'],
       known.map(r => [r.label, r.command ?? '', pairs(r.overrides), pairs(r.tiling), r.seed ?? '', `${r.hardware} ${r.machine_hash ?? ''}`, r.version]));
}

function roofline() {
  const known = runs.filter(r => r.machine);
  $('roof-section').hidden = !known.length;
  if (!known.length) return;
  const point = r => ({x: r.macs / (r.dram.read_bytes + r.dram.write_bytes), y: r.macs / r.cycles});
  const xs = known.flatMap(r => [point(r).x, r.machine.macs_per_cycle / r.machine.dram_bytes_per_cycle]);
  const low = Math.min(...xs) / 4, high = Math.max(...xs) * 4;
  const machines = new Map(known.map(r => [JSON.stringify([r.hardware, r.machine]), r]));
  const roofs = [...machines.values()].map((r, i) => {
    const {macs_per_cycle: top, dram_bytes_per_cycle: slope} = r.machine;
    return {type: 'line', label: `roof of ${r.hardware}`, data: [low, top / slope, high].map(x => ({x, y: Math.min(top, x * slope)})),
            borderColor: colour('--ink'), borderDash: [[], [6, 4], [2, 3]][i % 3], pointRadius: 0, pointStyle: 'line', borderWidth: 2};
  });
  const shapes = ['circle', 'rect', 'triangle', 'rectRot', 'rectRounded', 'crossRot'];
  const points = known.map((r, i) => ({label: r.label, data: [point(r)], backgroundColor: palette(i), borderColor: palette(i), pointRadius: 7,
                                       pointHoverRadius: 9, pointStyle: shapes[i % shapes.length]}));
  const axis = text => ({type: 'logarithmic', title: {display: true, text}, ticks: {maxRotation: 0, callback: v => round125(v) ? v : null}});
  draw('roofline', {
    type: 'scatter',
    data: {datasets: [...points, ...roofs]},
    options: {
      scales: {x: {...axis('multiply-accumulates per byte of DRAM traffic'), min: low, max: high}, y: axis('multiply-accumulates per cycle')},
      plugins: {legend: {labels: {usePointStyle: true}},
                tooltip: {callbacks: {label: c => `${c.dataset.label}: ${c.raw.y.toPrecision(4)} MAC/cycle at ${c.raw.x.toPrecision(4)} MAC/byte`}}},
    },
  }, 'Roofline: multiply-accumulates per cycle over multiply-accumulates per byte of DRAM traffic');
  const figure = $('roofline').closest('figure');
  if (!figure.querySelector('table')) {
    figure.insertAdjacentHTML('beforeend', '<details><summary>Data</summary><div class="scroll"><table id="roofline-table"></table></div></details>');
  }
  fill($('roofline-table'), ['Run', 'MAC per DRAM byte', 'MAC per cycle', 'of the roof'], known.map(r => {
    const {x, y} = point(r), roof = Math.min(r.machine.macs_per_cycle, x * r.machine.dram_bytes_per_cycle);
    return [r.label, x.toPrecision(4), y.toPrecision(4), percent(y / roof)];
  }));
}

// Watts of the run in the Gantt chart, by kind of module, one on top of the other.
function power() {
  const run = gantt.run, trace = run && run.timeline.power;
  $('power-section').hidden = !trace || !trace.points.length;
  if ($('power-section').hidden) return;
  const [first, last] = run.timeline.window;
  const ends = trace.points.map((p, i) => i + 1 < trace.points.length ? trace.points[i + 1][0] : last);
  const totals = trace.points.map(p => p.slice(1).reduce((a, b) => a + b, 0));
  const peak = totals.indexOf(Math.max(...totals));
  const mean = totals.reduce((sum, w, i) => sum + w * (ends[i] - trace.points[i][0]), 0) / Math.max(last - first, 1);
  const kind = trace.kinds.reduce((most, k, i) => trace.points[peak][i + 1] > trace.points[peak][most + 1] ? i : most, 0);
  $('power-text').textContent = `${run.label}: ${prefixed(mean, 'W')} on average, at most ${prefixed(totals[peak], 'W')} in cycles ` +
      `${whole(trace.points[peak][0])} to ${whole(ends[peak])}, most of it in ${trace.kinds[kind].toUpperCase()}.`;
  const steps = i => [...trace.points.map(p => ({x: p[0], y: p[i + 1]})), {x: last, y: trace.points[trace.points.length - 1][i + 1]}];
  draw('power', {
    type: 'line',
    data: {datasets: trace.kinds.map((k, i) => ({label: k.toUpperCase(), data: steps(i), stepped: true, fill: true, pointRadius: 0, borderWidth: 1,
                                                 borderColor: palette(i), backgroundColor: palette(i)}))},
    options: {
      scales: {x: {type: 'linear', min: first, max: last, title: {display: true, text: 'cycles'}, ticks: {callback: v => whole(Math.round(v)), maxRotation: 0}},
               y: {stacked: true, title: {display: true, text: 'W'}}},
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${prefixed(c.raw.y, 'W')}`}}},
    },
  }, $('power-text').textContent);
}

// The Gantt chart. A run's timeline: {tracks, names, details, slices: [track, from, to, name, head, row block, detail]}.
const gantt = {run: null, from: 0, to: 1, drag: null};
const shown = {matmul_abt: 'QK^T', matmul_ab: 'PV', score_tile: 'QK^T', attend_tile: 'PV'};
const order = ['matmul_abt', 'matmul_ab', 'softmax', 'load', 'store', 'score_tile', 'attend_tile'];

function visible(timeline, waits) {
  const pixel = (gantt.to - gantt.from) / 1200;
  const last = new Map(), out = [];
  for (const s of timeline.slices) {
    if (s[2] <= gantt.from || s[1] >= gantt.to || (!waits && timeline.waits[s[0]])) continue;
    const before = last.get(s[0]);
    // What is too small to be seen apart is drawn as one.
    if (before && before[3] === s[3] && s[2] - s[1] < pixel && s[1] - before[2] < pixel) {
      before[2] = s[2];
      before[7] = (before[7] || 1) + 1;
      continue;
    }
    const copy = s.slice();
    last.set(s[0], copy);
    out.push(copy);
  }
  return out;
}

function drawGantt() {
  const timeline = gantt.run.timeline, waits = $('gantt-waits').checked;
  const tracks = timeline.tracks.filter((_, i) => waits || !timeline.waits[i]);
  const slices = visible(timeline, waits);
  const names = [...new Set(slices.map(s => s[3]))].sort((a, b) => {
    const rank = n => (order.indexOf(timeline.names[n]) + 1 || 99);
    return rank(a) - rank(b) || a - b;
  });
  const paint = n => {
    const i = order.indexOf(timeline.names[n]);
    return i < 0 ? palette(5 + n % 2) : palette([0, 2, 3, 4, 1, 0, 2][i]);
  };
  $('gantt-box').style.height = `${6 + 2.1 * tracks.length}rem`;
  draw('gantt', {
    type: 'bar',
    data: {
      labels: tracks,
      datasets: names.map(n => ({
        label: shown[timeline.names[n]] || timeline.names[n],
        data: slices.filter(s => s[3] === n).map(s => ({x: [Math.max(s[1], gantt.from), Math.min(s[2], gantt.to)], y: timeline.tracks[s[0]], slice: s})),
        backgroundColor: paint(n), grouped: false, barPercentage: 0.9, categoryPercentage: 0.9, minBarLength: 1,
      })),
    },
    options: {
      indexAxis: 'y',
      scales: {x: {min: gantt.from, max: gantt.to, title: {display: true, text: 'cycles'}, ticks: {callback: v => whole(Math.round(v)), maxRotation: 0}}, y: {grid: {display: false}}},
      plugins: {
        tooltip: {callbacks: {
          title: items => `${items[0].label}: ${items[0].dataset.label}`,
          label: c => {
            const [, from, to, , head, block, detail, count] = c.raw.slice;
            const text = [`cycles ${whole(from)} to ${whole(to)} (${whole(to - from)})`];
            if (count) return [...text, `${count} in one`];
            return [...text, `head ${head}, row block ${block}`, timeline.details[detail]].filter(Boolean);
          },
        }},
      },
    },
    plugins: [{id: 'selection', afterDraw(chart) {
      if (!gantt.drag) return;
      const {top, bottom} = chart.chartArea;
      chart.ctx.save();
      chart.ctx.globalAlpha = 0.25;
      chart.ctx.fillStyle = colour('--link');
      chart.ctx.fillRect(gantt.drag.from, top, gantt.drag.to - gantt.drag.from, bottom - top);
      chart.ctx.restore();
    }}],
  }, `Gantt chart of ${gantt.run.label}: ${tracks.length} tracks, cycles ${whole(Math.round(gantt.from))} to ${whole(Math.round(gantt.to))}`);
  $('gantt-window').textContent = `cycles ${whole(Math.round(gantt.from))} to ${whole(Math.round(gantt.to))}`;
  const span = gantt.to - gantt.from;
  const inside = timeline.slices.filter(s => s[2] > gantt.from && s[1] < gantt.to);
  fill($('gantt-table'), ['Track', 'Slices', 'Cycles', 'Share'], timeline.tracks.map((track, i) => {
    const of = inside.filter(s => s[0] === i);
    const busy = of.reduce((sum, s) => sum + Math.min(s[2], gantt.to) - Math.max(s[1], gantt.from), 0);
    return [track, whole(of.length), whole(Math.round(busy)), percent(busy / span)];
  }));
}

function show(from, to) {
  const [first, last] = gantt.run.timeline.window;
  const width = Math.min(Math.max(to - from, 20), last - first);
  gantt.from = Math.min(Math.max(from, first), last - width);
  gantt.to = gantt.from + width;
  drawGantt();
}

const moves = {
  in: () => show(gantt.from + (gantt.to - gantt.from) / 4, gantt.to - (gantt.to - gantt.from) / 4),
  out: () => show(gantt.from - (gantt.to - gantt.from) / 2, gantt.to + (gantt.to - gantt.from) / 2),
  left: () => show(gantt.from - (gantt.to - gantt.from) / 4, gantt.to - (gantt.to - gantt.from) / 4),
  right: () => show(gantt.from + (gantt.to - gantt.from) / 4, gantt.to + (gantt.to - gantt.from) / 4),
  all: () => show(...gantt.run.timeline.window),
};

function pick(run) {
  gantt.run = run;
  [gantt.from, gantt.to] = run.timeline.window;
}

function setUpGantt() {
  const traced = runs.filter(r => r.timeline);
  if (!traced.length) {
    $('gantt-section').querySelectorAll('.controls, figure').forEach(e => e.hidden = true);
    $('gantt-help').textContent = 'No run of this page has a timeline; attnvp run --timeline FILE --json FILE writes both.';
    return;
  }
  traced.forEach((r, i) => $('gantt-run').add(new Option(r.label, i)));
  $('gantt-pick').hidden = traced.length < 2;
  $('gantt-run').onchange = e => { pick(traced[e.target.value]); drawGantt(); power(); };
  $('gantt-waits').onchange = drawGantt;
  for (const button of document.querySelectorAll('[data-gantt]')) button.onclick = () => moves[button.dataset.gantt]();
  const keys = {'+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'all'};
  const box = $('gantt-box');
  box.onkeydown = e => {
    if (!(e.key in keys) || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    moves[keys[e.key]]();
  };
  const at = e => Math.min(Math.max(e.offsetX, charts.gantt.chartArea.left), charts.gantt.chartArea.right);
  box.onpointerdown = e => { if (e.button === 0 && e.target === $('gantt')) gantt.drag = {from: at(e), to: at(e)}; };
  box.onpointermove = e => {
    if (!gantt.drag) return;
    gantt.drag.to = at(e);
    charts.gantt.draw();
  };
  window.addEventListener('pointerup', () => {
    if (!gantt.drag) return;
    const [a, b] = [gantt.drag.from, gantt.drag.to].sort((x, y) => x - y);
    gantt.drag = null;
    const scale = charts.gantt.scales.x;
    if (b - a > 4) show(scale.getValueForPixel(a), scale.getValueForPixel(b));
    else charts.gantt.draw();
  });
  box.ondblclick = moves.all;
  pick(traced[0]);
}

function render() {
  Chart.defaults.color = colour('--ink');
  Chart.defaults.borderColor = colour('--line');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 13;
  overview();
  roofline();
  if (accounts.run) timeSpent();
  if (gantt.run) drawGantt();
  power();
}

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
$('subject').textContent = [...new Set(runs.map(r => {
  const n = r.network;
  return `${n.name} (batch ${n.batch}, ${n.heads} heads, ${n.seq_q} x ${n.seq_kv}, ${n.emb} per head) on ${r.hardware}`;
}))].join('; ');
comparison();
origins();
setUpAccounts();
setUpGantt();
render();
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', render);
