// Plots of runs that the report page and the page of attnvp serve share: where the time went, and the roofline. The list `runs` is
// the page's own.
// Which run's accounts are shown. A run's time: {engine: {reason: cycles}}.
const accounts = {run: null};
const engine = unit => unit.replace(/^attnvp\./, '');
const kindOf = unit => engine(unit).split('.').filter(part => !/^channel/.test(part)).pop();
const mostBars = 24;  // more engines are shown by kind
const leastShown = 0.005;  // of every engine's time: less is "other"

// One bar an engine: {label, cycles: {reason: share}}, without those that never had anything to do.
function engines(run) {
  const bars = Object.entries(run.time).filter(([, cycles]) => Object.keys(cycles).some(reason => reason !== 'end'))
    .sort(([a], [b]) => naturally(a, b));
  const share = list => {
    const total = list.reduce((sum, cycles) => sum + Object.values(cycles).reduce((a, b) => a + b, 0), 0);
    const out = {};
    for (const cycles of list) for (const [reason, n] of Object.entries(cycles)) out[reason] = (out[reason] || 0) + n / total;
    return out;
  };
  if (bars.length <= mostBars) return bars.map(([unit, cycles]) => ({label: local(engine(unit), bars.map(([u]) => engine(u))), share: share([cycles])}));
  return [...new Set(bars.map(([unit]) => kindOf(unit)))].map(kind => {
    const of = bars.filter(([unit]) => kindOf(unit) === kind);
    return {label: of.length > 1 ? `${kind}, mean of ${of.length}` : kind, share: share(of.map(([, cycles]) => cycles))};
  });
}

function timeSpent() {
  const list = engines(accounts.run);
  const most = reason => Math.max(...list.map(e => e.share[reason] || 0));
  const all = [...new Set(list.flatMap(e => Object.keys(e.share)))];
  const reasons = all.filter(reason => most(reason) >= leastShown);
  const rank = reason => reason === 'useful' ? -2 : reason === 'end' ? 1 : -most(reason);  // useful first, end last
  reasons.sort((a, b) => rank(a) - rank(b));
  const series = reasons.map(reason => ({label: reason, values: list.map(e => e.share[reason] || 0), colour: reason === 'end' && colour('--rest')}));
  const other = list.map(e => all.filter(reason => !reasons.includes(reason)).reduce((sum, reason) => sum + (e.share[reason] || 0), 0));
  if (Math.max(...other) > 0) series.push({label: 'other', values: other, colour: colour('--quiet')});
  $('time-box').style.height = `${6 + 2.1 * list.length}rem`;
  bars('time', `Where the time of ${accounts.run.label} went, by engine`, list.map(e => e.label), series,
       {stacked: true, horizontal: true, show: percent, tick: v => `${Math.round(100 * v)}%`, top: 1, title: 'share of the run\'s cycles'});
}

// What bounds multiply-accumulates per cycle: arrays and lanes from above, memories' bytes by how many are moved for each.
function roofline() {
  const known = runs.filter(r => r.machine && r.macs);
  $('roof-section').hidden = !known.length;
  if (!known.length) return;
  const moved = (r, memory) => r.macs / (r[memory].read_bytes + r[memory].write_bytes);
  const speed = r => r.macs / r.cycles;
  const slope = (r, memory) => r.machine[`${memory}_bytes_per_cycle`];
  const memories = ['dram', 'l1'].filter(memory => known.every(r => slope(r, memory) > 0 && Number.isFinite(moved(r, memory))));
  const lanes = r => r.bound?.demands?.vec ? r.macs / r.bound.demands.vec : Infinity;  // softmax takes them that long
  const xs = known.flatMap(r => memories.flatMap(memory => [moved(r, memory), r.machine.macs_per_cycle / slope(r, memory)]));
  const low = Math.min(...xs) / 4, high = Math.max(...xs) * 4;
  const least = Math.min(...known.map(speed)) / 4;
  const roofs = new Map();  // by where they are: those of equal machines are one
  const roof = (name, dash, data) => {
    const place = JSON.stringify(data.map(p => [p.x, Number(p.y.toPrecision(2))]));
    if (roofs.has(place)) return;
    roofs.set(place, {type: 'line', label: name, data, borderColor: colour('--quiet'), borderDash: dash, pointRadius: 0, borderWidth: 2});
  };
  const several = new Set(known.map(r => r.hardware)).size > 1, alike = new Set(known.map(r => lanes(r).toPrecision(2))).size < 2;
  known.forEach(r => {
    const top = r.machine.macs_per_cycle, of = several ? `, ${r.hardware}` : '';
    roof(`MAC${of}`, [], [{x: low, y: top}, {x: high, y: top}]);
    for (const memory of memories) {
      const start = Math.max(low, least / slope(r, memory)), end = Math.min(high, 1.5 * top / slope(r, memory));
      roof(memory.toUpperCase() + of, memory === 'dram' ? [] : [8, 4], [{x: start, y: start * slope(r, memory)}, {x: end, y: end * slope(r, memory)}]);
    }
    if (lanes(r) < Infinity) roof(`VEC${of}${alike ? '' : `, ${r.label}`}`, [2, 3], [{x: low, y: lanes(r)}, {x: high, y: lanes(r)}]);
  });
  const shapes = ['circle', 'rect', 'triangle', 'rectRot', 'rectRounded', 'star'];
  const points = known.map((r, i) => ({label: r.label, data: memories.map(memory => ({x: moved(r, memory), y: speed(r), memory})),
                                       backgroundColor: memories.map(memory => memory === 'dram' ? palette(i) : 'transparent'), borderColor: palette(i), borderWidth: 2,
                                       pointRadius: 7, pointHoverRadius: 9, pointStyle: shapes[i % shapes.length]}));
  const axis = text => ({type: 'logarithmic', title: {display: true, text}, ticks: {maxRotation: 0, callback: v => round125(v) ? Number(v.toPrecision(1)).toLocaleString('en-US', {maximumFractionDigits: 6}) : null}});
  // A roof's name is at its right end; one that would be on another is left to the table.
  const names = {id: 'names', afterDatasetsDraw(chart) {
    const {ctx, chartArea: area} = chart, taken = [];
    ctx.save();
    ctx.fillStyle = colour('--ink');
    ctx.font = `600 12px ${Chart.defaults.font.family}`;
    for (const {label, data} of roofs.values()) {
      const flat = data[0].y === data[1].y, end = data[1];
      const x = chart.scales.x.getPixelForValue(end.x), y = chart.scales.y.getPixelForValue(end.y);
      const width = ctx.measureText(label).width;
      const place = flat ? {x: x - width - 4, y: y - 6} : {x: Math.max(x - width - 8, area.left + 4), y: y + 6};
      if (taken.some(t => Math.abs(t.y - place.y) < 13 && t.x < place.x + width && place.x < t.x + t.width)) continue;
      taken.push({...place, width});
      ctx.fillText(label, place.x, place.y);
    }
    ctx.restore();
  }};
  draw('roofline', {
    type: 'scatter',
    data: {datasets: [...points, ...roofs.values()]},
    options: {
      scales: {x: {...axis('multiply-accumulates per byte moved'), min: low, max: high}, y: {...axis('multiply-accumulates per cycle'), min: least}},
      plugins: {legend: {labels: {usePointStyle: true, filter: item => item.datasetIndex < points.length}},
                tooltip: {filter: item => item.datasetIndex < points.length,
                          callbacks: {label: c => `${c.dataset.label}: ${c.raw.y.toPrecision(4)} MAC/cycle at ${c.raw.x.toPrecision(4)} MAC per byte of ${c.raw.memory.toUpperCase()}`}}},
    },
    plugins: [names],
  }, 'Roofline: multiply-accumulates per cycle over multiply-accumulates per byte moved');
  const figure = $('roofline').closest('figure');
  if (!figure.querySelector('table')) {
    figure.insertAdjacentHTML('beforeend', '<details><summary>Data</summary><div class="scroll"><table id="roofline-table"></table></div></details>');
  }
  const limits = r => ({MAC: r.machine.macs_per_cycle, VEC: lanes(r),
                        ...Object.fromEntries(memories.map(memory => [memory.toUpperCase(), moved(r, memory) * slope(r, memory)]))});
  fill($('roofline-table'), ['Run', 'MAC per DRAM byte', 'MAC per cycle', 'MAC per L1 byte', 'MAC roof', 'VEC roof', 'DRAM roof', 'L1 roof', 'lowest roof', 'of it'], known.map(r => {
    const roofs = limits(r), lowest = Object.keys(roofs).reduce((a, b) => roofs[b] < roofs[a] ? b : a);
    const text = v => v === undefined || v === Infinity ? '' : v.toPrecision(4);
    return [r.label, text(moved(r, 'dram')), text(speed(r)), text(moved(r, 'l1')), ...['MAC', 'VEC', 'DRAM', 'L1'].map(k => text(roofs[k])), lowest, percent(speed(r) / roofs[lowest])];
  }));
}
