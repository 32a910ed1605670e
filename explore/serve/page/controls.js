// Controls of the state: machine, network, dataflow, and a slider or a choice for each key that matters.
const app = {state: null, catalogue: null, keys: new Map(), version: 0, done: 0, tiling: '', head: null, answer: null, pinned: null, past: []};
const token = new URLSearchParams(location.search).get('token');

// Throws an Error with the server's sentence; an aborted request throws an AbortError.
async function api(path, body, signal) {
  const headers = {Authorization: `Bearer ${token}`};
  if (body) headers['Content-Type'] = 'application/json';
  const response = await fetch(`/api/${path}`, {method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), signal})
    .catch(e => { throw e.name === 'AbortError' ? e : new Error('The server does not answer; is `attnvp serve` running?'); });
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { throw new Error(text.trim() || `the server answers ${response.status}`); }
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const make = (name, properties = {}, children = []) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// Numbers as the keys' texts have them.
const unitSteps = {
  bytes: [[1024 ** 4, 'TiB'], [1024 ** 3, 'GiB'], [1024 ** 2, 'MiB'], [1024, 'KiB'], [1, 'B']],
  Hz: [[1e9, 'GHz'], [1e6, 'MHz'], [1e3, 'kHz'], [1, 'Hz']],
  'B/s': [[1e12, 'TB/s'], [1e9, 'GB/s'], [1e6, 'MB/s'], [1e3, 'KB/s'], [1, 'B/s']],
  s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns'], [1e-12, 'ps']],
  V: [[1, 'V'], [1e-3, 'mV']],
  W: [[1, 'W'], [1e-3, 'mW']],
};
function textOf(key, value) {
  const steps = unitSteps[key.unit];
  if (!steps) return `${key.whole ? value : Number(value.toPrecision(6))}${key.unit ? ` ${key.unit}` : ''}`;
  const exact = ([scale]) => key.whole ? value % scale === 0 : value >= scale * 0.9995;
  const [scale, unit] = value === 0 ? steps[steps.length - 1] : steps.find(exact) ?? steps[steps.length - 1];
  return `${Number((value / scale).toPrecision(6))} ${unit}`;
}

// The number of a text such as "160 GB/s"; NaN if it has none.
function valueOf(key, text) {
  const [, number, unit] = /^([0-9.e+-]+)\s*(\S*)$/.exec(text.trim()) ?? [];
  const scale = unit && unitSteps[key.unit] ? unitSteps[key.unit].find(([, name]) => name === unit)?.[0] : 1;
  return Number(number) * (scale ?? NaN);
}

// Positions of a key's slider around the machine's own value.
function stepsOf(key) {
  const values = new Set([key.value]);
  const add = v => { if (v >= key.minimum && v <= key.maximum) values.add(v); };
  if (key.whole) {
    const base = Math.max(key.value, 1), low = Math.max(key.minimum, 2 ** Math.floor(Math.log2(base) - 5)), high = base * 32;
    for (let v = 2 ** Math.floor(Math.log2(Math.max(low, 1))); v <= high; v *= 2) {
      add(v);
      if (!key.power_of_two && v >= 2 && (key.unit !== 'bytes' || v >= 4096)) add(v * 1.5);
    }
    if (key.minimum === 0) add(0);
  } else if (key.unit === 'V') {
    for (let v = 0.4; v < 1.3; v += 0.05) add(Number(v.toFixed(2)));
  } else {
    const base = key.value || 10 ** -8;
    for (let i = -15; i <= 15; ++i) if (i) add(Number((base * 10 ** (i / 10)).toPrecision(2)));
    if (key.minimum === 0) add(0);
  }
  return [...values].sort((a, b) => a - b);
}

function setKey(path, text, drag = null) {
  remember(drag);
  const own = app.keys.get(path);
  if (text === null || own && own.text === text) delete app.state.set[path];
  else app.state.set[path] = text;
  showChanges();
  changed();
}

function control(key) {
  const id = `key-${key.path}`;
  const reset = make('button', {type: 'button', textContent: '\u21BA', title: 'back to the machine\'s value', ariaLabel: `${key.path}: back to the machine's value`});
  const box = make('div', {className: 'key'}, [make('label', {htmlFor: id, textContent: key.path, title: key.meaning})]);
  let show;
  if (key.type === 'number') {
    const steps = stepsOf(key);
    const slider = make('input', {type: 'range', id, min: 0, max: steps.length - 1, step: 1, title: key.meaning});
    const field = make('input', {type: 'text', ariaLabel: `${key.path}, as text`, spellcheck: false});
    let drag = {};  // a new one after each drag
    slider.onchange = () => { drag = {}; };
    slider.oninput = () => {
      field.value = textOf(key, steps[slider.value]);
      slider.ariaValueText = field.value;
      setKey(key.path, field.value, drag);
    };
    field.onchange = () => { setKey(key.path, field.value.trim() || null); show(); };
    box.append(slider, field);
    show = () => {
      const text = app.state.set[key.path] ?? key.text;
      const value = text === key.text ? key.value : valueOf(key, text);
      if (!Number.isNaN(value)) slider.value = steps.reduce((best, v, i) => Math.abs(v - value) < Math.abs(steps[best] - value) ? i : best, 0);
      field.value = slider.ariaValueText = text;
    };
  } else {
    const names = key.type === 'flag' ? ['false', 'true'] : key.names ?? [key.text];
    const select = make('select', {id, title: key.meaning}, names.map(name => new Option(name)));
    select.onchange = () => setKey(key.path, select.value);
    if (key.type === 'text') {
      const field = make('input', {type: 'text', id, spellcheck: false});
      field.onchange = () => setKey(key.path, field.value.trim() || null);
      box.append(field);
      show = () => { field.value = app.state.set[key.path] ?? key.text; };
    } else {
      box.append(select);
      show = () => { select.value = app.state.set[key.path] ?? key.text; };
    }
  }
  reset.onclick = () => { setKey(key.path, null); show(); };
  box.append(reset);
  key.show = () => {
    show();
    const is = key.path in app.state.set;
    box.classList.toggle('changed', is);
    reset.disabled = !is;
  };
  return box;
}

function showChanges() {
  for (const key of app.keys.values()) if (key.show) key.show();
  const pairs = Object.entries(app.state.set).map(([k, v]) => `${k}=${v}`);
  $('changes').textContent = pairs.length ? `Changed: ${pairs.join(', ')}` : '';
  $('reset').disabled = !pairs.length;
}

// Keys and values of the machine itself, without the page's changes.
async function loadMachine() {
  const machine = await api('machine', {state: {hardware: app.state.hardware}});
  app.keys = new Map([...machine.keys, ...machine.others].map(key => [key.path, key]));
  const groups = new Map();
  for (const key of machine.keys) {
    if (!groups.has(key.group)) groups.set(key.group, make('fieldset', {}, [make('legend', {textContent: key.group})]));
    groups.get(key.group).append(control(key));
  }
  $('controls').replaceChildren(...groups.values());
  $('other-key').replaceChildren(...machine.others.map(key => new Option(key.path)));
  $('other-key').onchange();
  setUpAxes();
  showChanges();
}

// A key of the network's text: "bert-base,type=int8".
function networkKey(name, value) {
  const [base, ...words] = app.state.network.split(',');
  const kept = words.filter(word => word.split('=')[0].trim() !== name);
  return [base, ...kept, ...(value ? [`${name}=${value}`] : [])].join(',');
}
const networkValue = name => app.state.network.split(',').map(word => word.split('=')).find(([key]) => key.trim() === name)?.[1] ?? '';

function showJob() {
  const {state, catalogue} = app;
  const choose = (id, value) => {
    if (![...$(id).options].some(o => o.value === value)) $(id).add(new Option(value));
    $(id).value = value;
  };
  choose('hardware', state.hardware);
  choose('dataflow', state.dataflow);
  $('network').value = state.network;
  for (const id of ['type', 'phase', 'scope']) choose(id, networkValue(id));
  const about = (list, name) => list.find(e => e.name === name)?.description ?? '';
  $('about').textContent = [about(catalogue.hardware, state.hardware), about(catalogue.networks, state.network.split(',')[0]),
                            about(catalogue.dataflows, state.dataflow.split(':')[0])].filter(Boolean).join('. ');
}

function setUpControls() {
  const {catalogue} = app;
  $('hardware').replaceChildren(...[...catalogue.hardware.map(e => e.name), ...catalogue.local].map(name => new Option(name)));
  $('networks').replaceChildren(...catalogue.networks.map(e => new Option(e.description, e.name)));
  $('dataflow').replaceChildren(...[...catalogue.dataflows.map(e => e.name), 'auto'].map(name => new Option(name)));
  $('type').replaceChildren(new Option('as the network', ''), ...catalogue.types.map(name => new Option(name)));
  $('hardware').onchange = async e => { await load({...app.state, hardware: e.target.value, set: {}}); };
  $('dataflow').onchange = e => { remember(); app.state.dataflow = e.target.value; app.tiling = ''; showJob(); changed(); };
  const network = text => { remember(); app.state.network = text; app.head = null; showJob(); changed(); };
  $('network').onchange = e => network(e.target.value.trim());
  for (const id of ['type', 'phase', 'scope']) $(id).onchange = e => network(networkKey(id, e.target.value));
  $('reset').onclick = () => { remember(); app.state.set = {}; showChanges(); changed(); };
  $('other-key').onchange = () => {
    const key = app.keys.get($('other-key').value);
    if (!key) return;
    $('other-value').value = app.state.set[key.path] ?? key.text;
    $('other-meaning').textContent = key.meaning + (key.names ? `: ${key.names.join(', ')}` : '');
  };
  $('other-set').onclick = () => setKey($('other-key').value, $('other-value').value.trim() || null);
  $('other-value').onkeydown = e => { if (e.key === 'Enter') $('other-set').onclick(); };
}
