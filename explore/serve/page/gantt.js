// Gantt chart of one head, drawn on a canvas: fast enough for every step of a slider. The data is that of gantt.h.
const view = {data: null, from: 0, to: 1, selected: null, path: null, boxes: []};
const spoken = {matmul_abt: 'QK^T', matmul_ab: 'PV', score_tile: 'QK^T', attend_tile: 'PV'};
const inkOf = {matmul_abt: 0, matmul_ab: 2, softmax: 3, load: 4, store: 1, score_tile: 0, attend_tile: 2};
const leftInk = [5, 7, 8, 6];

const trackName = name => local(name, view.data.tracks);
const inkFor = i => palette(inkOf[view.data.operations[i]] ?? leftInk[i % leftInk.length]);
const opName = i => spoken[view.data.operations[i]] ?? view.data.operations[i];

function showGantt(data) {
  const had = view.data && data && view.data.tracks && data.tracks ? view.data : null;
  const all = had && view.from === had.window[0] && view.to === had.window[1];
  view.data = data?.tracks ? data : null;
  view.path = view.selected = null;
  $('explanation').hidden = true;
  if (!view.data) { drawGantt(); return; }
  if (!had || all || view.to > data.cycles || view.from >= data.window[1] || view.to <= data.window[0]) [view.from, view.to] = data.window;
  const options = data.heads.map(h => `${h}`);
  if (options.join() !== [...$('head').options].map(o => o.value).join()) $('head').replaceChildren(...options.map(h => new Option(h)));
  $('head').value = `${data.head}`;
  drawGantt();
}

function drawGantt() {
  const canvas = $('gantt'), box = $('gantt-box'), {data} = view;
  const width = box.clientWidth, ratio = window.devicePixelRatio || 1;
  const rows = data ? data.tracks.length : 1, row = rows > 16 ? 16 : 26, axis = 26;
  const height = rows * row + axis;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext('2d');
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = 'middle';
  view.boxes = [];
  if (!data) {
    ctx.fillStyle = colour('--quiet');
    ctx.fillText('The commands of this run are not shown: there are too many, or it has not ended.', 4, 20);
    canvas.setAttribute('aria-label', 'no chart');
    $('window').textContent = '';
    $('legend').replaceChildren();
    return;
  }
  const names = data.tracks.map(trackName);
  const left = Math.min(Math.max(...names.map(n => ctx.measureText(n).width)) + 10, width / 3);
  const x = cycle => left + (cycle - view.from) / (view.to - view.from) * (width - left - 4);
  view.geometry = {left, width, row, rows, x, cycle: px => view.from + (px - left) / (width - left - 4) * (view.to - view.from)};
  const ink = colour('--ink'), quiet = colour('--quiet'), line = colour('--line');
  names.forEach((name, i) => {
    ctx.fillStyle = line;
    ctx.fillRect(left, (i + 1) * row - 1, width - left, 1);
    ctx.fillStyle = ink;
    ctx.fillText(name, 0, (i + .5) * row, left - 6);
  });
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, 0, width - left, height);
  ctx.clip();
  const onPath = view.path && new Set(view.path.path.map(s => s.command));
  if ($('waits').checked) {
    ctx.fillStyle = colour('--rest');
    for (const [track, from, to, cause, command] of data.waits) {
      if (to <= view.from || from >= view.to) continue;
      const a = x(from), b = Math.max(x(to), a + 1);
      ctx.fillRect(a, track * row + row - 6, b - a, 4);
      view.boxes.push({a, b, top: track * row + row - 7, bottom: (track + 1) * row, text: () => `${names[track]}: waits for ${data.causes[cause]}, cycles ${whole(from)} to ${whole(to)}`});
    }
  }
  const inks = data.operations.map((_, i) => inkFor(i));
  for (const [track, from, to, op, head, rows_, command] of data.slices) {
    if (to <= view.from || from >= view.to) continue;
    const a = x(from), b = Math.max(x(to), a + 1), top = track * row + 2, high = row - 8;
    ctx.globalAlpha = (head === data.head ? 1 : .35) * (onPath && !onPath.has(command) ? .45 : 1);
    ctx.fillStyle = inks[op];
    ctx.fillRect(a, top, Math.max(b - a - .5, .8), high);
    ctx.globalAlpha = 1;
    if (onPath?.has(command)) {
      ctx.strokeStyle = colour('--alarm');
      ctx.lineWidth = 2;
      ctx.strokeRect(a + 1, top + 1, Math.max(b - a - 2, 1), high - 2);
    }
    view.boxes.push({a, b, top, bottom: top + high, text: () => `${names[track]}: ${opName(op)}, head ${head}, row block ${rows_}, cycles ${whole(from)} to ${whole(to)} (${whole(to - from)})`});
  }
  if (view.selected) {
    ctx.globalAlpha = .2;
    ctx.fillStyle = colour('--link');
    const [a, b] = view.selected.map(x);
    ctx.fillRect(a, 0, b - a, rows * row);
    ctx.globalAlpha = 1;
  }
  ctx.restore();
  ctx.fillStyle = quiet;
  const count = Math.max(2, Math.floor((width - left) / 110));
  for (let i = 0; i <= count; ++i) {
    const cycle = view.from + (view.to - view.from) * i / count;
    ctx.textAlign = i === 0 ? 'left' : i === count ? 'right' : 'center';
    ctx.fillText(whole(Math.round(cycle)), x(cycle), rows * row + 14);
  }
  ctx.textAlign = 'left';
  const used = [...new Set(data.slices.map(s => s[3]))].sort((a, b) => a - b);
  $('legend').replaceChildren(...used.map(i => {
    const mark = make('i');
    mark.style.background = inks[i];
    return make('span', {}, [mark, opName(i)]);
  }), make('span', {textContent: data.own_only ? 'only this head' : 'faint: other heads'}));
  const [a, b] = view.selected ?? [view.from, view.to];
  $('window').textContent = `${view.selected ? 'selected: ' : ''}cycles ${whole(Math.round(a))} to ${whole(Math.round(b))}${data.left_out ? `; ${whole(data.left_out)} commands are left out` : ''}`;
  busyTable();
  canvas.setAttribute('aria-label', `Gantt chart of head ${data.head}: ${rows} tracks, cycles ${whole(Math.round(view.from))} to ${whole(Math.round(view.to))}`);
}

// The chart's numbers, as a table.
function busyTable() {
  if (!$('gantt-data').open || !view.data) return;
  const sums = view.data.tracks.map(() => [0, 0]);
  for (const [track, from, to] of view.data.slices) {
    const common = Math.min(to, view.to) - Math.max(from, view.from);
    if (common > 0) sums[track] = [sums[track][0] + 1, sums[track][1] + common];
  }
  fill($('gantt-table'), ['Track', 'Commands', 'Cycles', 'Share'],
       sums.map(([n, cycles], i) => [trackName(view.data.tracks[i]), whole(n), whole(Math.round(cycles)), percent(cycles / (view.to - view.from))]));
}

function moveTo(from, to) {
  if (!view.data) return;
  const last = view.data.cycles, width = Math.min(Math.max(to - from, 20), last);
  view.from = Math.min(Math.max(from, 0), last - width);
  view.to = view.from + width;
  drawGantt();
}
const moves = {
  in: () => moveTo(view.from + (view.to - view.from) / 4, view.to - (view.to - view.from) / 4),
  out: () => moveTo(view.from - (view.to - view.from) / 2, view.to + (view.to - view.from) / 2),
  left: () => moveTo(view.from - (view.to - view.from) / 4, view.to - (view.to - view.from) / 4),
  right: () => moveTo(view.from + (view.to - view.from) / 4, view.to + (view.to - view.from) / 4),
  all: () => { view.selected = null; if (view.data) moveTo(...view.data.window); },
};

// The critical path of the selected interval, or of all that is in sight, as `attnvp explain` has it.
async function explain() {
  if (!view.data || !app.answer?.is_tuned) return;
  const [from, to] = (view.selected ?? [view.from, view.to]).map(Math.round);
  $('window').textContent = 'following the critical path';
  try {
    const path = await api('simulate', {do: 'explain', state: app.state, from, to});
    view.path = path;
    const shares = sums => Object.entries(sums ?? {}).map(([name, n]) => `${name} ${percent(n / (path.to - path.from))}`).join(', ');
    $('explain-text').textContent = `Cycles ${whole(path.from)} to ${whole(path.to)}, ${whole(path.steps)} steps. By engine: ${shares(path.by_engine)}. By what is made or loaded: ${shares(path.by_tensor)}.`;
    $('explain-command').textContent = path.command;
    const words = {work: '', start: 'wait before ', processor: 'processor, before '};
    fill($('explain-table'), ['From', 'To', 'Cycles', 'Engine', 'Command', 'The next one waits for', 'Head', 'Row block'],
         path.path.map(s => [whole(s.from), whole(s.to), whole(s.to - s.from), s.track, words[s.kind] + (spoken[s.operation] ?? s.operation), s.cause, `${s.head}`, `${s.row_block}`]));
    $('explanation').hidden = false;
  } catch (e) {
    $('explain-text').textContent = e.message;
    $('explanation').hidden = false;
  }
  drawGantt();
}

function setUpGantt() {
  const box = $('gantt-box'), canvas = $('gantt');
  for (const button of document.querySelectorAll('[data-move]')) button.onclick = () => moves[button.dataset.move]();
  $('waits').onchange = drawGantt;
  $('gantt-data').ontoggle = busyTable;
  $('explain').onclick = explain;
  $('head').onchange = e => { app.head = Number(e.target.value); view.from = view.to = -1; changed(); };
  const keys = {'+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'all'};
  box.onkeydown = e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === 'Enter') explain();
    else if (e.key in keys) moves[keys[e.key]]();
    else return;
    e.preventDefault();
  };
  const at = e => view.geometry.cycle(Math.max(e.clientX - canvas.getBoundingClientRect().left, view.geometry.left));
  let start = null;
  canvas.onpointerdown = e => {
    if (!view.data || e.button !== 0) return;
    start = at(e);
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = e => {
    if (!view.data) return;
    if (start !== null) {
      view.selected = [Math.max(Math.min(start, at(e)), 0), Math.min(Math.max(start, at(e)), view.data.cycles)];
      drawGantt();
      return;
    }
    const {left, top} = canvas.getBoundingClientRect(), px = e.clientX - left, py = e.clientY - top;
    $('gantt-hover').textContent = view.boxes.findLast(b => px >= b.a && px <= b.b && py >= b.top && py <= b.bottom)?.text() ?? '';
  };
  canvas.onpointerup = () => {
    if (view.selected && view.geometry.x(view.selected[1]) - view.geometry.x(view.selected[0]) < 4) view.selected = null;
    start = null;
    drawGantt();
  };
  canvas.ondblclick = moves.all;
  new ResizeObserver(() => drawGantt()).observe(box);
}
