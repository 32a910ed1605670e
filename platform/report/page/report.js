// A report's tables and charts from the runs in #data.
const runs = JSON.parse(document.getElementById('data').textContent).runs;
// What the machines of the runs are made of, in the order of their module trees.
const together = of => [...new Set(runs.flatMap(of))];
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
  bars('cycles', 'Cycles of each run', labels, [{label: 'cycles', values: runs.map(r => r.cycles)}], {show: whole, tick: short, horizontal: true, title: 'cycles of the platform clock'});
  const parts = together(r => Object.keys(r.energy_pj).filter(part => part !== 'total'));
  bars('energy', 'Energy of each run by component', labels,
       parts.map(part => ({label: part.toUpperCase(), values: runs.map(r => (r.energy_pj[part] ?? 0) * 1e-12)})), {stacked: true, show: v => prefixed(v, 'J'), tick: v => prefixed(v, 'J').replace(/\.0+ /, ' '), title: 'energy in joules'});
  bars('utilisation', 'Utilisation of each run', labels,
       [['mac', 'MAC'], ['vec', 'VEC'], ['dma', 'DMA'], ['dram', 'DRAM bus']].map(([key, label]) => ({label, values: runs.map(r => r.utilization[key])})),
       {show: percent, tick: v => `${Math.round(100 * v)}%`, top: 1, title: 'share of the run\'s cycles'});
  const kinds = together(r => Object.keys(r).filter(key => r[key]?.read_bytes !== undefined)).flatMap(m => [[m, 'read'], [m, 'write']]);
  bars('traffic', 'Bytes moved by each run', kinds.map(([m, k]) => `${m.toUpperCase()} ${k}`),
       runs.map(r => ({label: r.label, values: kinds.map(([m, k]) => r[m] ? r[m][`${k}_bytes`] : 0)})), {log: true, show: v => prefixed(v, 'B'), title: 'bytes moved'});
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

// The most that one cluster, or core, was dealt, beside the mean. A run's: {clusters: {macs: {most, mean, ratio}}}.
function dealt() {
  const known = runs.filter(r => r.imbalance);
  $('dealt-section').hidden = !known.length;
  const names = {macs: 'MACs', vec_cycles: 'VEC cycles', dma_bytes: 'DMA bytes'};
  const rows = (r, workers, of) => Object.entries(names).filter(([key]) => of[key]?.most > 0)
    .map(([key, name]) => [r.label, `${name} of ${workers}`, whole(of[key].most), whole(Math.round(of[key].mean)), of[key].ratio.toFixed(2)]);
  fill($('dealt'), ['Run', 'Work', 'Most', 'Mean', 'Most/mean'],
       known.flatMap(r => Object.entries(r.imbalance).flatMap(([workers, of]) => rows(r, workers, of))));
}

// What made each run: enough to have it again.
function origins() {
  const known = runs.filter(r => r.version);
  $('origin-section').hidden = !known.length;
  const pairs = o => Object.entries(o || {}).map(([key, value]) => `${key}=${value}`).join(' ');
  fill($('origin'), ['Run', 'Command', 'Overrides', 'Tiling', 'Seed', 'Machine', 'Version'],
       known.map(r => [r.label, r.command ?? '', pairs(r.overrides), pairs(r.tiling), r.seed ?? '', `${r.hardware} ${r.machine_hash ?? ''}`, r.version]));
}

function findings() {
  const known = runs.filter(r => r.check);
  $('check-section').hidden = !known.length;
  fill($('check'), ['Run', 'Number', 'Kind', 'Finding'], known.flatMap(r => r.check.findings.length
    ? r.check.findings.map((f, i) => [r.label, `${i + 1}`, f.kind, f.text]) : [[r.label, '', 'nothing found', `${whole(r.check.commands)} commands examined`]]));
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
      scales: {x: {type: 'linear', min: first, max: last, title: {display: true, text: 'time in cycles'}, ticks: {callback: v => whole(Math.round(v)), maxRotation: 0}},
               y: {stacked: true, title: {display: true, text: 'power in watts'}}},
      plugins: {tooltip: {callbacks: {label: c => `${c.dataset.label}: ${prefixed(c.raw.y, 'W')}`}}},
    },
  }, $('power-text').textContent);
}

$('subject').textContent = [...new Set(runs.map(r => {
  const n = r.network;
  return `${n.name} (batch ${n.batch}, ${n.heads} heads, ${n.seq_q} x ${n.seq_kv}, ${n.emb} per head) on ${r.hardware}`;
}))].join('; ');
comparison();
origins();
dealt();
findings();
setUpAccounts();
setUpGantt();
start(() => {
  overview();
  roofline();
  if (accounts.run) timeSpent();
  if (gantt.run) drawGantt();
  power();
});
