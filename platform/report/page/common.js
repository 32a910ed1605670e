'use strict';
// What all pages share: numbers as people read them, colours of the theme, tables, charts. Every chart has its numbers
// beside it as a table.
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
const palette = i => colour(`--c${i % 9}`);
// As people count: core2 before core10.
const naturally = new Intl.Collator('en', {numeric: true}).compare;

// A module's name among others': of a machine of one cluster without that.
const local = (name, names) => names.some(n => n.startsWith('cluster1.')) ? name : name.replace(/^cluster0\./, '');

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

// A chart of bars: one group per category, one series per entry of `series`: {label, values, colour}.
function bars(id, label, categories, series, options) {
  const {stacked = false, log = false, show, tick = show, top, horizontal = false, title} = options;
  const value = {stacked, max: top, title: {display: true, text: title}, type: log ? 'logarithmic' : 'linear', ticks: {maxRotation: 0, callback: v => log && !decade(v) ? null : tick(v)}};
  const category = {stacked, grid: {display: false}, ticks: horizontal ? {autoSkip: false} : {}};
  draw(id, {
    type: 'bar',
    data: {labels: categories, datasets: series.map((s, i) => ({label: s.label, data: s.values, backgroundColor: s.colour || palette(i), maxBarThickness: 48}))},
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

// Draws everything, and again when the reader's theme changes.
function start(drawAll) {
  const draw = () => {
    Chart.defaults.color = colour('--ink');
    Chart.defaults.borderColor = colour('--line');
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 13;
    drawAll();
  };
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.scale.ticks.autoSkipPadding = 12;
  draw();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

// Drags over a chart: `moved` while the button is down, `done` with the rectangle in the canvas' pixels, null for a click.
function dragging(id, moved, done) {
  const box = $(id).parentElement, least = 4;
  let from = null;
  const at = e => {
    const {left, top, right, bottom} = charts[id].chartArea, place = $(id).getBoundingClientRect();
    return {x: Math.min(Math.max(e.clientX - place.left, left), right), y: Math.min(Math.max(e.clientY - place.top, top), bottom)};
  };
  const area = e => {
    const to = at(e);
    return {left: Math.min(from.x, to.x), right: Math.max(from.x, to.x), top: Math.min(from.y, to.y), bottom: Math.max(from.y, to.y)};
  };
  box.onpointerdown = e => { if (e.button === 0 && e.target === $(id)) from = at(e); };
  box.onpointermove = e => { if (from) moved(area(e)); };
  window.addEventListener('pointerup', e => {
    if (!from) return;
    const rectangle = area(e), place = from;
    from = null;
    done(rectangle.right - rectangle.left > least ? rectangle : null, place);
  });
  window.addEventListener('pointercancel', () => {
    if (from) done(null, null);
    from = null;
  });
}

// What is being dragged over, on top of a chart.
function shade(chart, {left, right, top, bottom}) {
  chart.draw();
  chart.ctx.save();
  chart.ctx.globalAlpha = 0.25;
  chart.ctx.fillStyle = colour('--link');
  chart.ctx.fillRect(left, top, right - left, bottom - top);
  chart.ctx.restore();
}
