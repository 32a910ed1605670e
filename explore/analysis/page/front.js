// A sweep's jobs, their front and what each axis does, from #data: {goals: [{name, words, unit, scale, most}], axes: [{words, text}],
// numbers: [words], effects: [{axis, goal, share, factor, levels: [{text, jobs, mean, least, most}]}], front: [job], jobs:
// [{at: [value of a goal], goals: [text], axes: [text], levels: [place among the axis' levels], numbers: [text], tiling, key, command}]}.
const {goals, axes, numbers, effects, front, jobs, versus} = JSON.parse($('data').textContent);
const onFront = new Set(front);
const state = {job: front[0] ?? 0, area: null, chosen: axes.map(() => new Set()), colours: 0, by: {column: 0, up: !goals[0].most}};
const mostRows = 300;

const value = (job, g) => job.at[g] * goals[g].scale;
const titleOf = g => goals[g].words + (goals[g].unit ? ` (${goals[g].unit})` : '');
const number = v => v === 0 || Math.abs(v) >= 1e-3 && Math.abs(v) < 1e7 ? Number(v.toPrecision(4)).toLocaleString('en-US', {maximumFractionDigits: 8}) : v.toPrecision(4);
const levelsOf = axis => effects.find(e => e.axis === axis).levels;
const all = () => !state.area && state.chosen.every(values => !values.size);
function selected(job) {
  const inside = v => v.every(([x, [low, high]]) => x >= low && x <= high);
  return (!state.area || inside([[value(job, 0), state.area.x], [value(job, 1), state.area.y]])) &&
    state.chosen.every((values, axis) => !values.size || values.has(job.levels[axis]));
}

// Logarithmic where the values are more than a factor of 8 apart.
function scaleOf(g) {
  const values = jobs.map(job => value(job, g)), low = Math.min(...values), high = Math.max(...values);
  const log = low > 0 && high > 8 * low;
  return {type: log ? 'logarithmic' : 'linear', title: {display: true, text: titleOf(g)}, grace: '3%',
          min: log ? low / 1.15 : undefined, max: log ? high * 1.15 : undefined,
          ticks: {maxRotation: 0, callback: v => !log || round125(v) ? number(v) : null}};
}

function drawFront() {
  const axis = state.colours, levels = axes.length ? levelsOf(axis) : [{text: 'jobs'}];
  const level = job => axes.length ? job.levels[axis] : 0;
  const dot = i => ({x: value(jobs[i], 0), y: value(jobs[i], 1), job: i});
  const on = jobs.map(selected);
  const places = jobs.map((_, i) => i);
  const faint = places.filter(i => !on[i]);
  const two = goals.length < 3;  // else the line would not be the front
  const datasets = [
    {label: 'this job', order: 0, data: [dot(state.job)], pointRadius: 10, pointHoverRadius: 10, backgroundColor: 'transparent', borderColor: colour('--ink'), borderWidth: 2.5},
    {label: 'the front', order: 1, type: 'line', showLine: two, stepped: two && (goals[0].most ? 'after' : 'before'), data: front.map(dot), borderColor: colour('--ink'), borderWidth: 1.5,
     backgroundColor: front.map(i => palette(level(jobs[i]))), pointBorderColor: colour('--ink'), pointRadius: front.map(i => on[i] ? 6 : 3), pointHoverRadius: 8},
    ...levels.map((l, n) => ({label: l.text, order: 2, data: places.filter(i => on[i] && level(jobs[i]) === n).map(dot), backgroundColor: palette(n) + 'b0', pointRadius: 3, borderWidth: 0})),
    {label: 'not selected', order: 3, data: faint.map(dot), backgroundColor: colour('--rest') + '90', pointRadius: 2.5, borderWidth: 0},
  ];
  draw('front', {
    type: 'scatter',
    data: {datasets},
    options: {
      scales: {x: scaleOf(0), y: scaleOf(1)},
      interaction: {mode: 'nearest', intersect: true},
      plugins: {
        legend: {labels: {usePointStyle: true, filter: item => item.datasetIndex > 1 && (item.datasetIndex < datasets.length - 1 || faint.length > 0)}, onClick: () => {}},
        tooltip: {filter: (item, i) => i === 0, callbacks: {label: c => {
          const job = jobs[c.raw.job];
          return [...goals.map((g, n) => `${g.words}: ${job.goals[n]}`), ...axes.map(({words}, n) => `${words}: ${job.axes[n]}`)];
        }}},
      },
    },
  }, `${titleOf(1)} over ${titleOf(0)} of ${jobs.length} jobs, ${front.length} of them on the front`);
  const some = on.filter(Boolean).length;
  $('count').textContent = all() ? `${whole(jobs.length)} jobs, ${whole(front.length)} on the front`
    : `${whole(some)} of ${whole(jobs.length)} jobs selected, ${whole(front.filter(i => on[i]).length)} of the front`;
}

function showJob(i) {
  state.job = i;
  const job = jobs[i];
  fill($('job-table'), ['', ''], [...axes.map(({words}, n) => [words, job.axes[n]]), ...goals.map((g, n) => [g.words, job.goals[n]]),
                                  ...numbers.map((words, n) => [words, job.numbers[n]])]);
  $('tiling').textContent = job.tiling && `Tiling: ${job.tiling}`;
  $('which').textContent = onFront.has(i) ? 'on the front' : '';
  $('command').textContent = job.command;
  location.replace('#' + job.key);
  charts.front.data.datasets[0].data = [{x: value(job, 0), y: value(job, 1), job: i}];
  charts.front.update('none');
  for (const row of $('jobs').tBodies[0].rows) row.toggleAttribute('aria-current', Number(row.dataset.job) === i);
}

function drawTable() {
  const {column, up} = state.by;
  const rank = job => column < goals.length ? value(job, column) : job.levels[column - goals.length];
  const list = ($('all-jobs').checked ? jobs.map((_, i) => i) : front).filter(i => selected(jobs[i]));
  list.sort((a, b) => (rank(jobs[a]) - rank(jobs[b])) * (up ? 1 : -1) || a - b);
  const part = list.slice(0, mostRows);
  fill($('jobs'), [...goals.map(g => g.words), ...axes.map(a => a.words)], part.map(i => [...jobs[i].goals, ...jobs[i].axes]));
  $('rows-shown').textContent = part.length < list.length ? `the first ${whole(part.length)} of ${whole(list.length)}` : `${whole(list.length)} jobs`;
  [...$('jobs').tHead.rows[0].cells].forEach((cell, n) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = cell.textContent + (n === column ? (up ? ' \u2191' : ' \u2193') : '');
    button.onclick = () => { state.by = {column: n, up: n === column ? !up : true}; drawTable(); };
    cell.setAttribute('aria-sort', n !== column ? 'none' : up ? 'ascending' : 'descending');
    cell.replaceChildren(button);
  });
  [...$('jobs').tBodies[0].rows].forEach((row, n) => {
    row.dataset.job = part[n];
    row.tabIndex = 0;
    row.toggleAttribute('aria-current', part[n] === state.job);
    row.onclick = () => showJob(part[n]);
    row.onkeydown = e => { if (e.key === 'Enter') showJob(part[n]); };
  });
}

// Of the selected jobs, by level: {jobs, mean, least, most}; the mean is geometric where all values are above 0, as C++'s is.
function selectedLevels(axis, g, levels) {
  const values = levels.map(() => []);
  for (const job of jobs) if (selected(job)) values[job.levels[axis]].push(value(job, g));
  const geometric = jobs.every(job => job.at[g] > 0);
  const mean = list => {
    const sum = list.reduce((s, v) => s + (geometric ? Math.log(v) : v), 0) / list.length;
    return geometric ? Math.exp(sum) : sum;
  };
  return values.map(list => list.length ? {jobs: list.length, mean: mean(list), least: Math.min(...list), most: Math.max(...list)} : null);
}

function drawEffects() {
  effects.forEach((e, n) => {
    const labels = e.levels.map(l => l.text), scale = goals[e.goal].scale;
    const means = (label, points, ink) => ({type: 'line', label, showLine: !axes[e.axis].text, order: 0, data: points, borderColor: ink, backgroundColor: ink, borderWidth: 2, pointRadius: 4});
    const ranges = (label, spans, ink, width) => ({type: 'bar', label, order: 1, data: spans, backgroundColor: ink, grouped: false, barThickness: width, minBarLength: 2});
    const some = all() ? null : selectedLevels(e.axis, e.goal, e.levels);
    const datasets = [means('mean', e.levels.map(l => l.mean * scale), colour('--c0')), ranges('range', e.levels.map(l => [l.least * scale, l.most * scale]), colour('--c0') + '50', 14)];
    if (some) {
      datasets.unshift(means('mean of the selected', some.map(l => l && l.mean), colour('--c1')), ranges('range of the selected', some.map(l => l && [l.least, l.most]), colour('--c1') + 'a0', 6));
    }
    const chosen = i => state.chosen[e.axis].has(i);
    draw(`effect-${n}`, {
      type: 'bar',
      data: {labels, datasets},
      options: {
        onClick: (event, found) => { if (found.length) toggle(e.axis, found[0].index); },
        interaction: {mode: 'index', intersect: false},
        scales: {x: {grid: {display: false}, ticks: {autoSkip: false, color: labels.map((_, i) => chosen(i) ? colour('--c1') : colour('--ink')), font: {size: 11}}},
                 y: {...scaleOf(e.goal), ticks: {...scaleOf(e.goal).ticks, font: {size: 11}}}},
        plugins: {legend: {display: false},
                  tooltip: {callbacks: {label: c => `${c.dataset.label}: ${[].concat(c.raw).map(number).join(' to ')}`}}},
      },
    }, `${titleOf(e.goal)} by ${axes[e.axis].words}: the axis explains ${percent(e.share)}`);
  });
  for (const button of document.querySelectorAll('[data-level]')) {
    const [axis, level] = button.dataset.level.split(' ').map(Number);
    button.setAttribute('aria-pressed', state.chosen[axis].has(level));
  }
}

function toggle(axis, level) {
  const values = state.chosen[axis];
  if (!values.delete(level)) values.add(level);
  drawAll();
}

function setUpEffects() {
  $('axes-section').hidden = !effects.length;
  for (const axis of new Set(effects.map(e => e.axis))) {
    const group = document.createElement('div');
    const head = document.createElement('h3');
    head.textContent = axes[axis].words;
    const chips = document.createElement('div');
    chips.className = 'controls';
    levelsOf(axis).forEach((level, i) => {
      const chip = document.createElement('button');
      chip.type = 'button';
      chip.textContent = level.text;
      chip.dataset.level = `${axis} ${i}`;
      chip.onclick = () => toggle(axis, i);
      chips.append(chip);
    });
    const pair = document.createElement('div');
    pair.className = 'panels';
    effects.forEach((e, n) => {
      if (e.axis !== axis) return;
      const figure = document.createElement('figure'), caption = document.createElement('figcaption');
      caption.textContent = `explains ${percent(e.share)} of ${goals[e.goal].words[0].toLowerCase()}${goals[e.goal].words.slice(1)}`;
      figure.innerHTML = `<div class="chart"><canvas id="effect-${n}" role="img"></canvas></div>`;
      figure.prepend(caption);
      pair.append(figure);
    });
    group.append(head, chips, pair);
    $('axes').append(group);
  }
  fill($('effects'), ['Axis', 'Of', 'Explains', 'Worst / best', 'Least at', 'Most at'], effects.map(e => {
    const by = [...e.levels].sort((a, b) => a.mean - b.mean);
    return [axes[e.axis].words, goals[e.goal].words, percent(e.share), e.factor ? `${e.factor.toFixed(2)}x` : '', by[0].text, by[by.length - 1].text];
  }));
}

function drawAll() {
  drawFront();
  drawTable();
  drawEffects();
}

function setUp() {
  $('subject').textContent = `${goals.map((_, g) => `${titleOf(g)}, ${goals[g].most ? 'most' : 'least'} is best`).join('; ')}.`;
  $('versus-section').hidden = !versus;
  $('versus').textContent = versus;
  axes.forEach(({words}, n) => $('colours').add(new Option(words, n)));
  const kind = axes.findIndex(a => a.words === 'Dataflow');
  state.colours = $('colours').value = Math.max(kind, 0);
  $('colours').onchange = e => { state.colours = Number(e.target.value); drawFront(); };
  const clear = () => {
    state.area = null;
    state.chosen.forEach(values => values.clear());
    drawAll();
  };
  $('clear').onclick = clear;
  $('all-jobs').onchange = drawTable;
  $('copy').onclick = () => navigator.clipboard.writeText($('command').textContent);
  $('front-box').onkeydown = e => {
    const steps = {ArrowRight: 1, ArrowLeft: -1};
    if (e.key === 'Escape') clear();
    if (!(e.key in steps) || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const at = front.indexOf(state.job);
    showJob(front[Math.min(Math.max(at + steps[e.key], 0), front.length - 1)]);
  };
  dragging('front', area => shade(charts.front, area), (area, place) => {
    const {x, y} = charts.front.scales;
    if (area) {
      state.area = {x: [x.getValueForPixel(area.left), x.getValueForPixel(area.right)], y: [y.getValueForPixel(area.bottom), y.getValueForPixel(area.top)]};
      drawAll();
    } else if (place) {
      const far = (job, i) => Math.hypot(x.getPixelForValue(value(job, 0)) - place.x, y.getPixelForValue(value(job, 1)) - place.y) - (onFront.has(i) ? 3 : 0);
      showJob(jobs.reduce((best, job, i) => far(job, i) < far(jobs[best], best) ? i : best, 0));
    }
  });
  setUpEffects();
  const wanted = jobs.findIndex(job => '#' + job.key === location.hash);
  if (wanted >= 0) state.job = wanted;
}

setUp();
start(drawAll);
showJob(state.job);
