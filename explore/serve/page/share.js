// Every state as an address, as YAML and as a command; export of report page, CSV, PNG and waveforms.
function save(name, data, type) {
  const link = make('a', {href: URL.createObjectURL(data instanceof Blob ? data : new Blob([data], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $('share-status').textContent = `${name} is saved`;
}

// Follows the state; texts come from the server, so that all forms agree.
async function showShared() {
  const version = app.version;
  const forms = await api('state', {state: app.state});
  if (version !== app.version) return;
  history.replaceState(null, '', `${location.pathname}${location.search}#${forms.query}`);
  $('address').textContent = `${location.origin}${location.pathname}#${forms.query}`;
  $('command').textContent = forms.command;
  if (document.activeElement !== $('yaml')) $('yaml').value = forms.yaml;
}

const exported = () => [app.state, ...(app.pinned && app.pinned.query !== app.answer?.query ? [app.pinned.state] : [])];

async function busily(work) {
  $('share-status').textContent = 'working';
  try {
    $('share-status').textContent = '';
    await work();
  } catch (e) { $('share-status').textContent = e.message; }
}

// All charts below each other, on the page's ground.
async function savePng() {
  const sheets = ['gantt', 'time', 'roofline'].map($).filter(c => c.width && !c.closest('[hidden]'));
  const svg = $('floorplan').querySelector('svg');
  const pictures = [...sheets];
  if (svg) {
    const image = new Image();
    const copy = svg.cloneNode(true);
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    await image.decode().then(() => pictures.push(image)).catch(() => {});
  }
  const gap = 24, width = Math.max(...pictures.map(p => p.width)) + 2 * gap, head = 60;
  const canvas = make('canvas', {width, height: head + pictures.reduce((sum, p) => sum + p.height + gap, gap)});
  const ctx = canvas.getContext('2d');
  ctx.fillStyle = colour('--ground');
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = colour('--ink');
  ctx.font = '20px sans-serif';
  ctx.fillText(`${$('command').textContent}: ${whole(app.answer.run.cycles)} cycles`, gap, 36, width - 2 * gap);
  let y = head;
  for (const p of pictures) {
    ctx.drawImage(p, gap, y, p.width, p.height);
    y += p.height + gap;
  }
  save('attnvp.png', await new Promise(done => canvas.toBlob(done, 'image/png')));
}

function setUpShare() {
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText($(button.dataset.copy).textContent);
        $('share-status').textContent = 'copied';
      } catch {
        getSelection().selectAllChildren($(button.dataset.copy));
        $('share-status').textContent = 'selected; copy it with Ctrl-C';
      }
    };
  }
  $('yaml-load').onclick = () => busily(async () => load((await api('state', {yaml: $('yaml').value})).state));
  $('yaml-save').onclick = () => save('attnvp-state.yaml', $('yaml').value, 'application/yaml');
  $('save-report').onclick = () => busily(async () => save('attnvp-report.html', (await api('simulate', {do: 'report', states: exported()})).text, 'text/html'));
  $('save-csv').onclick = () => busily(async () => save('attnvp.csv', (await api('simulate', {do: 'csv', states: exported()})).text, 'text/csv'));
  $('save-png').onclick = () => busily(savePng);
  $('wave').onclick = () => busily(async () => {
    const {files, gtkwave, surfer} = await api('simulate', {do: 'waveform', state: app.state, name: $('wave-name').value.trim()});
    $('wave-commands').hidden = false;
    $('wave-commands').textContent = `${gtkwave}\n${surfer}`;
    $('share-status').textContent = `written to the folder of the server: ${files.join(', ')}`;
  });
}
