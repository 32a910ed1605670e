// The page's main loop. A change is simulated at once with the previous tile sizes. While one simulation runs, only the
// latest state waits. When the changes pause, the job is tuned, and then its advice is tried.
const pause = 150;  // ms
const patience = 700;  // ms, until a simulation of an earlier state is given up

const sameState = (a, b) => JSON.stringify(a) === JSON.stringify(b);
// For undo. The moves of one drag are one step.
function remember(drag = null) {
  const last = app.past[app.past.length - 1];
  if (last && (sameState(last.state, app.state) || drag && last.drag === drag)) return;
  app.past.push({state: structuredClone(app.state), drag});
  if (app.past.length > 100) app.past.shift();
  $('undo').disabled = false;
}

function say(text, kind = '') {
  $('status').textContent = text;
  $('status').className = kind;
}

function fail(e) {
  if (e.name === 'AbortError') return;
  $('problem').textContent = e.message;
  $('cards').classList.add('stale');
  say('not simulated');
}

const simulate = (what, more, signal) => api('simulate', {do: what, state: app.state, ...(app.head === null ? {} : {head: app.head}), ...more}, signal);

function changed() {
  ++app.version;
  app.slow?.abort();
  clearTimeout(app.refining);
  showAdvice([]);
  setTimeout(() => { if (app.simulated !== app.version) app.quick?.abort(); }, patience);
  pump();
}

async function pump() {
  if (app.busy) return;
  app.busy = true;
  try {
    while (app.done !== app.version) {
      const version = app.version;
      say('simulating');
      app.quick = new AbortController();
      app.simulated = version;
      try {
        const answer = await simulate('quick', {previous: app.tiling}, app.quick.signal);
        app.done = version;
        app.slowly = Boolean(answer.is_slow);  // not simulated without tuning
        if (app.slowly) { $('cards').classList.add('stale'); continue; }
        app.tiling = answer.tiling;
        show(answer);
      } catch (e) {
        app.done = version;
        if (version === app.version) fail(e);
      }
    }
  } finally {
    app.busy = false;
    app.quick = null;
  }
  showShared().catch(fail);
  if ($('status').textContent === 'not simulated') return;
  clearTimeout(app.refining);
  const final = app.answer?.is_tuned && !app.slowly;
  say(final ? 'final: tile sizes are tuned' : 'tuning the tile sizes', final ? 'final' : 'refining');
  app.refining = setTimeout(() => refine(app.version), pause);
}

async function refine(version) {
  const control = app.slow = new AbortController();
  try {
    if (app.slowly || !app.answer?.is_tuned || !app.answer.gantt) {
      const answer = await simulate('tuned', {}, control.signal);
      if (version !== app.version) return;
      app.tiling = answer.tiling;
      show(answer);
    }
    say('final: tile sizes are tuned', 'final');
    const {advice} = await simulate('advice', {}, control.signal);
    if (version !== app.version) return;
    showAdvice(advice);
    window.lastAdvice = version;
  } catch (e) {
    if (version === app.version) fail(e);
  }
}

// Loads a whole state, as from an address, YAML, a sweep or the pin.
async function load(state) {
  remember();
  const other = !app.keys.size || state.hardware !== app.state.hardware;
  app.state = {hardware: state.hardware, network: state.network, dataflow: state.dataflow, ...(state.tiling ? {tiling: state.tiling} : {}), set: {...state.set}};
  showJob();
  try {
    if (other) await loadMachine();
    showChanges();
    changed();
  } catch (e) { fail(e); }
}

function setUpStates() {
  $('pin').onclick = () => { app.pinned = app.answer; if (app.answer) show(app.answer); };
  $('unpin').onclick = () => { app.pinned = null; show(app.answer); };
  $('back').onclick = () => load(app.pinned.state);
  $('undo').onclick = () => {
    const before = app.past.pop();
    $('undo').disabled = !app.past.length;
    if (!before) return;
    const kept = app.past.slice();
    load(before.state).then(() => { app.past = kept; $('undo').disabled = !kept.length; });
  };
}

async function begin() {
  try {
    app.catalogue = await api('catalogue');
    const query = location.hash.slice(1);
    let {state} = await api('state', query ? {query} : {state: {}}).catch(e => { $('problem').textContent = e.message; return api('state', {state: {}}); });
    app.state = state;
    setUpControls();
    setUpGantt();
    setUpSweep();
    setUpShare();
    setUpStates();
    start(redraw);
    app.past = [];
    await load(state);
    app.past = [];
    $('undo').disabled = true;
    window.addEventListener('hashchange', async () => {
      const text = location.hash.slice(1);
      try { await load((await api('state', {query: text})).state); } catch (e) { fail(e); }
    });
  } catch (e) { fail(e); }
}
begin();
