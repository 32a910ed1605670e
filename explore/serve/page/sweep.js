// Sweeps in the background: axes around the state, the front while it fills in, a click that loads a machine.
const sweeps = {name: '', timer: 0, status: null};
const goalWords = {seconds: 'Time', cycles: 'Cycles', 'energy_pj.total': 'Energy', 'power_w.total': 'Power', 'area_mm2.total': 'Area'};
const mostAxes = 3;

function suggested(path) {
  if (path === 'dataflow') return [...$('dataflow').options].map(o => o.value).filter(v => v !== 'auto').slice(0, 6);
  const key = app.keys.get(path);
  if (!key) return [];
  if (key.type !== 'number') return key.names ?? ['false', 'true'];
  const steps = stepsOf(key).filter(v => v > 0), own = steps.indexOf(key.value);
  // Powers of two around the value, or every third step.
  const near = 2 ** Math.round(Math.log2(key.value || 1));
  const doubled = steps.filter(v => Number.isInteger(Math.log2(v)) && v >= near / 4 && v <= near * 4);
  const some = key.whole ? [...new Set([...doubled, key.value || 1])].sort((a, b) => a - b) : steps.filter((_, i) => (i - own) % 3 === 0 && Math.abs(i - own) <= 6);
  return some.map(v => textOf(key, v));
}

function setUpAxes() {
  const paths = ['', 'dataflow', ...[...app.keys.values()].filter(k => k.group !== 'Other keys' && k.type !== 'text').map(k => k.path)];
  const before = [...document.querySelectorAll('.axis select')].map(s => s.value);
  const first = before.length ? before : ['l1.size', 'mac.rows', ''];
  $('axes').replaceChildren(...Array.from({length: mostAxes}, (_, i) => {
    const select = make('select', {ariaLabel: `key of axis ${i + 1}`}, paths.map(p => new Option(p || (i ? 'no further axis' : 'choose a key'), p)));
    const field = make('input', {ariaLabel: `values of axis ${i + 1}, by commas`, spellcheck: false});
    select.onchange = () => { field.value = suggested(select.value).join(', '); field.disabled = !select.value; };
    select.value = paths.includes(first[i]) ? first[i] : '';
    select.onchange();
    return make('div', {className: 'axis'}, [select, field]);
  }));
}

function sweepRequest() {
  const axes = {};
  for (const row of document.querySelectorAll('.axis')) {
    const [select, field] = [row.querySelector('select'), row.querySelector('input')];
    if (select.value) axes[select.value] = field.value.split(',').map(v => v.trim()).filter(Boolean);
  }
  return {name: $('sweep-name').value.trim(), state: {...app.state, tiling: ''}, axes};
}

const goals = () => [$('goal-x').value, $('goal-y').value];

async function follow() {
  clearTimeout(sweeps.timer);
  if (!sweeps.name) return;
  try {
    const status = await api('sweep', {do: 'status', name: sweeps.name, goals: goals()});
    sweeps.status = status;
    drawFront();
    const left = (status.jobs ?? 0) - (status.done ?? 0) - (status.failed ?? 0);
    $('sweep-status').textContent = `${status.name}.db: ${whole(status.done ?? 0)} of ${whole(status.jobs ?? 0)} jobs${status.failed ? `, ${whole(status.failed)} failed` : ''}, ${whole(status.front.length)} on the front; ${status.is_running ? 'running' : left > 0 ? 'paused' : 'done'}. ${status.command}`;
    $('sweep-problem').textContent = status.error || status.failure || '';
    $('sweep-pause').disabled = !status.is_running && left <= 0;
    $('sweep-pause').textContent = status.is_running ? 'Pause' : 'Resume';
    if (status.is_running) sweeps.timer = setTimeout(follow, 500);
  } catch (e) {
    $('sweep-problem').textContent = e.message;
  }
}

async function loadRow(row) {
  const state = {...app.state, set: {...app.state.set}};
  sweeps.status.axes.forEach((key, i) => { if (key in goalWords) return; if (key === 'dataflow') state.dataflow = row.axes[i]; else state.set[key] = row.axes[i]; });
  await load(state);
  $('results').focus({preventScroll: false});
}

function drawFront() {
  const {rows, front, axes} = sweeps.status, [gx, gy] = goals();
  $('front-figure').hidden = !rows.length;
  if (!rows.length) return;
  const on = new Set(front), dot = i => ({x: rows[i][gx], y: rows[i][gy], row: i});
  const log = g => { const v = rows.map(r => r[g]), low = Math.min(...v); return low > 0 && Math.max(...v) > 8 * low; };
  const text = {seconds: v => prefixed(v, 's'), cycles: v => whole(Math.round(v)), 'energy_pj.total': v => prefixed(v * 1e-12, 'J'), 'power_w.total': v => prefixed(v, 'W'), 'area_mm2.total': v => `${Number(v.toPrecision(3))} mm2`};
  const scale = g => ({type: log(g) ? 'logarithmic' : 'linear', title: {display: true, text: goalWords[g]}, grace: '5%',
                       ticks: {maxRotation: 0, callback: v => !log(g) || round125(v) ? text[g](v) : null}});
  draw('front', {
    type: 'scatter',
    data: {datasets: [
      {label: 'the front', type: 'line', showLine: true, stepped: 'before', order: 0, data: front.map(dot), borderColor: colour('--c1'), backgroundColor: colour('--c1'), pointRadius: 6, borderWidth: 1.5},
      {label: 'other jobs', order: 1, data: rows.map((_, i) => i).filter(i => !on.has(i)).map(dot), backgroundColor: `${colour('--c0')}90`, pointRadius: 4, borderWidth: 0},
    ]},
    options: {
      scales: {x: scale(gx), y: scale(gy)},
      onClick: (event, found) => { if (found.length) loadRow(rows[found[0].element.$context.raw.row]); },
      interaction: {mode: 'nearest', intersect: true},
      plugins: {tooltip: {callbacks: {label: c => axes.map((key, i) => `${key} ${rows[c.raw.row].axes[i]}`)}}},
    },
  }, `${goalWords[gy]} over ${goalWords[gx]} of ${rows.length} jobs, ${front.length} on the front`);
  fill($('front-table'), ['', ...axes, ...Object.values(goalWords)], front.map(i => ['', ...axes.map((_, n) => rows[i].axes[n]), ...Object.keys(goalWords).map(g => text[g](rows[i][g]))]));
  [...$('front-table').tBodies[0].rows].forEach((line, n) => {
    const button = make('button', {type: 'button', textContent: 'Load', ariaLabel: `load ${axes.map((key, i) => `${key} ${rows[front[n]].axes[i]}`).join(', ')}`});
    button.onclick = () => loadRow(rows[front[n]]);
    line.cells[0].replaceChildren(button);
  });
}

async function known() {
  const names = await api('sweeps');
  $('sweep-known').replaceChildren(new Option(names.length ? 'choose' : 'none', ''), ...names.map(n => new Option(n)));
  $('sweep-known').value = names.includes(sweeps.name) ? sweeps.name : '';
  $('sweep-name').value = Array.from({length: names.length + 2}, (_, i) => `sweep-${i + 1}`).find(n => !names.includes(n));
}

function setUpSweep() {
  for (const [id, value] of [['goal-x', 'seconds'], ['goal-y', 'area_mm2.total']]) {
    $(id).replaceChildren(...Object.entries(goalWords).map(([name, words]) => new Option(words, name)));
    $(id).value = value;
    $(id).onchange = follow;
  }
  $('sweep-start').onclick = async () => {
    try {
      $('sweep-problem').textContent = '';
      sweeps.name = (await api('sweep', {do: 'start', ...sweepRequest()})).name;
      await known();
      follow();
    } catch (e) { $('sweep-problem').textContent = e.message; }
  };
  $('sweep-pause').onclick = async () => {
    try {
      await api('sweep', {do: sweeps.status?.is_running ? 'pause' : 'resume', name: sweeps.name});
      sweeps.timer = setTimeout(follow, 200);
    } catch (e) { $('sweep-problem').textContent = e.message; }
  };
  $('sweep-known').onchange = e => { sweeps.name = e.target.value; follow(); };
  known().catch(e => { $('sweep-problem').textContent = e.message; });
}
