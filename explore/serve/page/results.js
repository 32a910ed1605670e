// What the page shows of an answer: numbers with their ranges, comparison with the pinned state, advice, charts.
const measures = [
  {words: 'Cycles', of: r => r.cycles, show: whole},
  {words: 'Time', of: r => r.seconds, show: v => prefixed(v, 's')},
  {words: 'Energy', of: r => r.energy_pj.total * 1e-12, show: v => prefixed(v, 'J'), range: r => r.energy_range_pj && [r.energy_range_pj.low.total * 1e-12, r.energy_range_pj.high.total * 1e-12]},
  {words: 'Power', of: r => r.power_w.total, show: v => prefixed(v, 'W'), range: r => r.energy_range_pj && [r.energy_range_pj.low.total * 1e-12 / r.seconds, r.energy_range_pj.high.total * 1e-12 / r.seconds]},
  {words: 'Area', of: r => r.area_mm2.total, show: v => `${v.toPrecision(3)} mm2`, range: r => r.area_range_mm2 && [r.area_range_mm2.low, r.area_range_mm2.high]},
];
const rate = {words: 'Tokens a second', of: r => r.tokens_per_second ?? r.model?.tokens_per_second, show: v => v.toPrecision(4), most: true};
const traffic = {words: 'DRAM traffic', of: r => r.dram ? r.dram.read_bytes + r.dram.write_bytes : r.dram_bytes, show: v => prefixed(v, 'B')};
const shares = ['mac', 'vec', 'dma', 'dram'].map(name => ({words: `${name.toUpperCase()} busy`, of: r => r.utilization?.[name], show: percent, most: true}));

// "1.20x" of the pinned value, with whether that is better.
function versus(measure, run) {
  if (!app.pinned || app.pinned.query === app.answer.query) return null;
  const before = measure.of(app.pinned.run), now = measure.of(run);
  if (!before || !now) return null;
  const ratio = now / before, better = measure.most ? ratio > 1 : ratio < 1;
  return {text: `${ratio.toFixed(ratio < .1 ? 4 : 2)}x of the pinned ${measure.show(before)}`, better, equal: Math.abs(ratio - 1) < 5e-4};
}

function cards(run) {
  const list = run.tokens_per_second || run.model ? [...measures, rate] : measures;
  $('cards').replaceChildren(...list.map(m => {
    const value = make('dd', {textContent: m.show(m.of(run))});
    const range = m.range?.(run);
    if (range) value.append(make('span', {className: 'range', textContent: `${m.show(range[0])} to ${m.show(range[1])}`}));
    const v = versus(m, run);
    if (v) value.append(make('span', {className: `versus ${v.equal ? '' : v.better ? 'better' : 'worse'}`, textContent: v.equal ? 'as pinned' : v.text}));
    return make('div', {}, [make('dt', {textContent: m.words}), value]);
  }));
}

function comparison() {
  const show = Boolean(app.pinned) && app.pinned.query !== app.answer.query;
  $('compare-section').hidden = !show;
  $('unpin').hidden = $('back').hidden = !app.pinned;
  if (!show) return;
  const {run} = app.answer, before = app.pinned.run;
  const rows = [...measures, rate, traffic, ...shares].filter(m => m.of(run) !== undefined || m.of(before) !== undefined);
  const text = (m, r) => m.of(r) === undefined ? '' : m.show(m.of(r));
  const ratio = m => m.of(run) && m.of(before) ? `${(m.of(run) / m.of(before)).toFixed(3)}x` : '';
  fill($('compare'), ['', 'Pinned', 'This state', 'Ratio'], rows.map(m => [m.words, text(m, before), text(m, run), ratio(m)]));
  const a = app.pinned.state, b = app.answer.state, changes = [];
  for (const name of ['hardware', 'network', 'dataflow']) if (a[name] !== b[name]) changes.push(`${name} ${a[name]} to ${b[name]}`);
  for (const key of new Set([...Object.keys(a.set), ...Object.keys(b.set)])) {
    const own = app.keys.get(key)?.text ?? 'the machine\'s value';
    if (a.set[key] !== b.set[key]) changes.push(`${key} ${a.set[key] ?? own} to ${b.set[key] ?? own}`);
  }
  $('compare-text').textContent = changes.join('; ');
}

const boundWords = r => r.bound ? `${r.bound.share < .5 ? 'No resource is half busy; the most needed one is' : 'Bound by'} ${r.bound.resource.toUpperCase().replace('_', ' ')}, ${percent(r.bound.share)} busy. Tile sizes: ${Object.entries(r.tiling ?? {}).map(([k, v]) => `${k}=${v}`).join(' ')}.` : '';

// Each piece of advice is a button that makes the change. The first one's effect was simulated.
function showAdvice(list) {
  $('advice').replaceChildren(...(list ?? []).filter(a => Object.keys(a.settings).length).slice(0, 3).map(a => {
    const pairs = Object.entries(a.settings).map(([k, v]) => `${k}=${v}`).join(', ');
    const tried = a.tried && `${a.tried.speedup.toFixed(2)}x faster${Math.abs(a.tried.area_mm2) >= .005 ? `, ${a.tried.area_mm2 > 0 ? '+' : ''}${a.tried.area_mm2.toFixed(2)} mm2` : ''}`;
    const button = make('button', {type: 'button', className: a.tried ? 'main' : '', title: a.text,
                                   textContent: a.tried ? `Set ${pairs}: ${tried} (simulated)` : `Set ${pairs}: at most ${a.speedup_at_most.toFixed(2)}x`});
    button.onclick = () => {
      remember();
      Object.assign(app.state.set, a.settings);
      showChanges();
      changed();
    };
    return button;
  }));
}

function layers(run) {
  const is = Boolean(run.operations);
  $('layers-section').hidden = !is;
  $('operation').hidden = is;
  if (!is) return;
  const total = run.operations.reduce((sum, o) => sum + o.cycles, 0);
  fill($('layers'), ['Operation', 'Bound by', 'Busy', 'Share', 'Cycles', 'Time', 'Energy', 'Dataflow'],
       run.operations.map(o => [o.operation, o.bound.toUpperCase(), percent(o.share), percent(o.cycles / total), whole(o.cycles), prefixed(o.seconds, 's'), prefixed(o.energy_pj * 1e-12, 'J'), o.dataflow]));
}

// The drawing of `attnvp describe MACHINE --svg`; its colours follow the theme.
function floorplan(text, run) {
  const parsed = new DOMParser().parseFromString(text ?? '', 'image/svg+xml').documentElement;
  if (parsed.nodeName !== 'svg') { $('floorplan').replaceChildren(); return; }
  for (const bad of parsed.querySelectorAll('script, foreignObject, a, image, use')) bad.remove();
  $('floorplan').replaceChildren(document.importNode(parsed, true));
  const parts = Object.entries(run.area_mm2).filter(([name, mm2]) => name !== 'total' && mm2 >= .005 * run.area_mm2.total).sort((a, b) => b[1] - a[1]);
  $('floor-text').textContent = `${run.area_mm2.total.toPrecision(3)} mm2 without DRAM: ${parts.map(([name, mm2]) => `${name === 'spare' ? 'between them' : name} ${percent(mm2 / run.area_mm2.total)}`).join(', ')}.`;
}

function label(answer, words) {
  const {state} = answer;
  return {...answer.run, label: `${words}${state.dataflow} on ${state.hardware}`, hardware: `${words}${state.hardware}`};
}

function show(answer) {
  app.answer = answer;
  const {run} = answer;
  $('results').classList.remove('stale');
  $('cards').classList.remove('stale');
  $('problem').textContent = '';
  cards(run);
  comparison();
  $('mini').textContent = measures.map((m, i) => m.show(m.of(run)) + (i ? '' : ' cycles')).join(' \u00b7 ');
  $('bound').textContent = run.operations ? `Sums over one layer${run.layers > 1 ? `; tokens a second are of all ${run.layers}` : ''}.` : boundWords(run);
  layers(run);
  floorplan(answer.floorplan, run);
  if (!run.operations) {
    if (answer.gantt || answer.is_tuned) showGantt(answer.gantt);
    runs = [label(answer, '')];
    if (app.pinned?.run.utilization && app.pinned.query !== answer.query) runs.push(label(app.pinned, 'pinned: '));
    accounts.run = runs[0];
    clearTimeout(app.charting);
    app.charting = setTimeout(drawCharts, 40);  // numbers and Gantt chart first; a drag draws the others at its pauses
  }
  $('explain').disabled = !answer.is_tuned;
  window.lastShown = {version: app.done, tuned: Boolean(answer.is_tuned), at: performance.now()};
}

function drawCharts() {
  timeSpent();
  roofline();
  window.lastCharts = app.done;
}

function redraw() {
  if (!app.answer || app.answer.run.operations) return;
  drawGantt();
  drawCharts();
}
