// The Gantt chart. A run's timeline: {tracks, waits, names, details, found: details of findings, slices: [track, from, to, name, head, row block,
// detail]}, or, of a long run, {windows: {cycles, sums: [track, window, name, cycles, slices]}} in place of the slices.
const gantt = {run: null, from: 0, to: 1};
const shown = {matmul_abt: 'QK^T', matmul_ab: 'PV', score_tile: 'QK^T', attend_tile: 'PV'};
const order = ['matmul_abt', 'matmul_ab', 'softmax', 'load', 'store', 'score_tile', 'attend_tile'];
const mostSlices = 300;  // of a track, before they are summed up per window
const mostWindows = 200;

// Pieces of the window in sight: [track, from, to, name, busy cycles, slices].
function pieces() {
  const {slices, windows} = gantt.run.timeline, [first, last] = gantt.run.timeline.window;
  const inside = ([, from, to]) => to > gantt.from && from < gantt.to;
  if (!windows) return slices.filter(inside).map(s => [s[0], s[1], s[2], s[3], s[2] - s[1], 1]);
  return windows.sums.map(([track, w, name, busy, n]) =>
    [track, first + w * windows.cycles, Math.min(first + (w + 1) * windows.cycles, last), name, busy, n]).filter(inside);
}

// Windows of equal length over what is in sight, one after the other for each track: {track, from, to, shares: {name: share}}.
function summedUp(list) {
  const own = gantt.run.timeline.windows, [first] = gantt.run.timeline.window;
  const span = gantt.to - gantt.from;
  let length = span / mostWindows;
  if (own) length = own.cycles * Math.max(1, Math.ceil(length / own.cycles));
  const start = own ? first + Math.floor((gantt.from - first) / length) * length : gantt.from;
  const out = new Map();
  for (const [track, from, to, name, busy] of list) {
    for (let w = Math.max(0, Math.floor((from - start) / length)); start + w * length < Math.min(to, gantt.to); ++w) {
      const a = start + w * length, b = a + length, common = Math.min(b, to) - Math.max(a, from);
      if (common <= 0) continue;
      const key = `${track} ${w}`;
      if (!out.has(key)) out.set(key, {track, from: Math.max(a, gantt.from), to: Math.min(b, gantt.to), shares: {}});
      const {shares} = out.get(key);
      shares[name] = (shares[name] || 0) + busy * common / (to - from) / length;
    }
  }
  return [...out.values()];
}

function drawGantt() {
  const timeline = gantt.run.timeline, waits = $('gantt-waits').checked;
  const seen = i => waits || !timeline.waits[i];
  const label = i => local(timeline.tracks[i], timeline.tracks);
  const tracks = timeline.tracks.map((_, i) => i).filter(seen);
  const list = pieces(), counts = timeline.tracks.map(() => 0);
  for (const piece of list) ++counts[piece[0]];
  const windowed = Boolean(timeline.windows) || Math.max(...tracks.map(i => counts[i])) > mostSlices;
  const rank = n => (order.indexOf(timeline.names[n]) + 1 || 99);
  const names = [...new Set(list.filter(p => seen(p[0])).map(p => p[3]))].sort((a, b) => rank(a) - rank(b) || a - b);
  const paint = n => {
    const i = order.indexOf(timeline.names[n]);
    return i < 0 ? palette(5 + n % 2) : palette([0, 2, 3, 4, 1, 0, 2][i]);
  };
  const called = n => shown[timeline.names[n]] || timeline.names[n];
  const clipped = (from, to) => [Math.max(from, gantt.from), Math.min(to, gantt.to)];
  const bar = n => ({label: called(n), backgroundColor: paint(n), grouped: false, barPercentage: 0.9, categoryPercentage: 0.9, minBarLength: 1});
  const datasets = windowed
    ? names.map(n => ({...bar(n), data: []}))
    : names.map(n => ({...bar(n), data: timeline.slices.filter(s => s[3] === n && seen(s[0]) && s[2] > gantt.from && s[1] < gantt.to)
                                          .map(s => ({x: clipped(s[1], s[2]), y: label(s[0]), slice: s}))}));
  const sums = windowed ? summedUp(list.filter(p => seen(p[0]))) : [];
  // Windows are drawn by hand, every name as high as its share; what is there of Chart.js' own is seen by the pointer alone.
  if (windowed) {
    datasets.push({...bar(0), label: '', backgroundColor: 'transparent', hoverBackgroundColor: 'transparent',
                   data: sums.map(s => ({x: [s.from, s.to], y: label(s.track), sum: s}))});
  }
  const stacks = {id: 'stacks', beforeDatasetsDraw(chart) {
    const {x, y} = chart.scales, row = (y.bottom - y.top) / tracks.length * 0.81;
    for (const sum of sums) {
      let base = y.getPixelForValue(tracks.indexOf(sum.track)) + row / 2;
      const left = x.getPixelForValue(sum.from), width = Math.max(x.getPixelForValue(sum.to) - left, 1) + 0.3;
      names.forEach((n, i) => {
        if (!sum.shares[n] || !chart.isDatasetVisible(i)) return;
        const height = row * Math.min(sum.shares[n], 1);
        chart.ctx.fillStyle = paint(n);
        chart.ctx.fillRect(left, base -= height, width, height);
      });
    }
  }};
  // What the checker has found, in a frame.
  const found = new Set(timeline.found);
  const frames = {id: 'frames', afterDatasetsDraw(chart) {
    if (!found.size) return;
    chart.ctx.save();
    chart.ctx.strokeStyle = colour('--alarm');
    chart.ctx.lineWidth = 2;
    chart.data.datasets.forEach((set, i) => chart.getDatasetMeta(i).data.forEach((bar, j) => {
      const slice = set.data[j].slice;
      if (!slice || !found.has(slice[6]) || !chart.isDatasetVisible(i)) return;
      const left = Math.min(bar.x, bar.base);
      chart.ctx.strokeRect(left, bar.y - bar.height / 2, Math.max(Math.abs(bar.x - bar.base), 3), bar.height);
    }));
    chart.ctx.restore();
  }};
  $('gantt-box').style.height = `${6 + (tracks.length > 16 ? 1.3 : 2.1) * tracks.length}rem`;
  draw('gantt', {
    type: 'bar',
    data: {labels: tracks.map(label), datasets},
    options: {
      indexAxis: 'y',
      scales: {x: {min: gantt.from, max: gantt.to, title: {display: true, text: 'time in cycles'}, ticks: {callback: v => whole(Math.round(v)), maxRotation: 0}},
               y: {grid: {display: false}, ticks: {autoSkip: false, font: {size: tracks.length > 16 ? 11 : 13}}}},
      plugins: {
        legend: {labels: {filter: item => item.text !== ''}},
        tooltip: {callbacks: {
          title: items => `${items[0].label}${items[0].raw.sum ? '' : `: ${items[0].dataset.label}`}`,
          label: c => {
            if (c.raw.sum) {
              const {from, to, shares} = c.raw.sum;
              return [`cycles ${whole(Math.round(from))} to ${whole(Math.round(to))}`, ...names.filter(n => shares[n]).map(n => `${called(n)} ${percent(shares[n])}`)];
            }
            const [, from, to, , head, block, detail] = c.raw.slice;
            return [`cycles ${whole(from)} to ${whole(to)} (${whole(to - from)})`, `head ${head}, row block ${block}`, timeline.details[detail]].filter(Boolean);
          },
        }},
      },
    },
    plugins: [stacks, frames],
  }, `Gantt chart of ${gantt.run.label}: ${tracks.length} tracks, cycles ${whole(Math.round(gantt.from))} to ${whole(Math.round(gantt.to))}`);
  const per = windowed && sums.length ? `; each column sums up ${whole(Math.round(Math.max(...sums.map(s => s.to - s.from))))} cycles` : '';
  $('gantt-window').textContent = `cycles ${whole(Math.round(gantt.from))} to ${whole(Math.round(gantt.to))}${per}`;
  const span = gantt.to - gantt.from;
  fill($('gantt-table'), ['Track', 'Slices', 'Cycles', 'Share'], timeline.tracks.map((track, i) => {
    const of = list.filter(p => p[0] === i);
    const busy = of.reduce((sum, [, from, to, , cycles]) => sum + cycles * (Math.min(to, gantt.to) - Math.max(from, gantt.from)) / Math.max(to - from, 1), 0);
    return [track, whole(of.reduce((sum, p) => sum + p[5], 0)), whole(Math.round(busy)), percent(busy / span)];
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
  const whole = area => ({...area, top: charts.gantt.chartArea.top, bottom: charts.gantt.chartArea.bottom});
  dragging('gantt', area => shade(charts.gantt, whole(area)), area => {
    const scale = charts.gantt.scales.x;
    if (area) show(scale.getValueForPixel(area.left), scale.getValueForPixel(area.right));
    else charts.gantt.draw();
  });
  box.ondblclick = moves.all;
  pick(traced[0]);
}
