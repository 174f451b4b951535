'use strict';
// The page is complete without this script: it adds sorting, copying, figures to point at, and folds opened for the printer.

// What a reader has chosen stands in the page's address: it outlives the page's rewriting, and can be sent to somebody.
const chosen = new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');

function remember(key, value) {
  if (value === undefined) { chosen.delete(key); } else { chosen.set(key, value); }
  history.replaceState(history.state, '', '#' + chosen);
}

function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const collator = new Intl.Collator('en', {numeric: true});

// A number where the cell has one; undefined for what is empty or NaN.
function sortKey(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.v !== undefined) {
    const value = Number(cell.dataset.v);
    return Number.isNaN(value) ? undefined : value;
  }
  return cell.textContent.trim() || undefined;
}

// What is missing stays at the end in both directions; numbers come before words.
function compareKeys(a, b, sign) {
  if (a === undefined || b === undefined) {
    return (a === undefined) - (b === undefined);
  }
  if (typeof a !== typeof b) {
    return typeof a === 'number' ? -1 : 1;
  }
  return sign * (typeof a === 'number' ? a - b : collator.compare(a, b));
}

function sortBy(table, head, order) {
  for (const other of table.tHead.rows[0].cells) {
    other.setAttribute('aria-sort', other === head ? order : 'none');
  }
  const body = table.tBodies[0];
  const rows = [];
  for (const row of body.rows) {
    if (row.classList.contains('more')) {  // belongs to the one above
      rows.at(-1).lines.push(row);
    } else {
      rows.push({lines: [row], key: sortKey(row, head.cellIndex)});
    }
  }
  rows.sort((a, b) => compareKeys(a.key, b.key, order === 'ascending' ? 1 : -1));
  body.append(...rows.flatMap(one => one.lines));
}

function makeSortable(table) {
  const opposite = {ascending: 'descending', descending: 'ascending'}, key = 'sort-' + table.dataset.id;
  for (const head of table.tHead.rows[0].cells) {
    const button = create('button', {type: 'button'}, ...head.childNodes);
    button.addEventListener('click', () => {
      const order = opposite[head.getAttribute('aria-sort')] || head.dataset.first;
      sortBy(table, head, order);
      remember(key, head.dataset.key + '.' + order);
    });
    head.append(button);
  }
  const [, column, order] = /^(.*)\.(\w+)$/.exec(chosen.get(key)) ?? [];
  const head = [...table.tHead.rows[0].cells].find(one => one.dataset.key === column);
  if (head && opposite[order]) { sortBy(table, head, order); }
}

// A row stays if it has every word.
function makeFiltered(table) {
  const key = 'filter-' + table.dataset.id, input = create('input', {type: 'search', value: chosen.get(key) ?? ''});
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = true;
    for (const row of table.tBodies[0].rows) {
      if (!row.classList.contains('more')) { shown = words.every(word => row.textContent.toLowerCase().includes(word)); }
      row.hidden = !shown;
    }
  };
  input.addEventListener('input', () => { apply(); remember(key, input.value || undefined); });
  table.parentElement.before(create('div', {className: 'tools'}, control('filter', input)));
  apply();
}

// A table that is wider than the page shows its first columns, and those that its reader chooses.
function makeChoosable(table) {
  const key = 'columns-' + table.dataset.id, heads = [...table.tHead.rows[0].cells], box = table.parentElement;
  const boxes = heads.slice(1).map(head => create('input', {type: 'checkbox', checked: !('more' in head.dataset)}));
  const summary = create('summary');
  const show = () => {
    boxes.forEach((one, i) => {
      for (const row of [table.tHead.rows[0], ...table.tBodies[0].rows]) {
        if (!row.classList.contains('more')) { row.cells[i + 1].hidden = !one.checked; }
      }
    });
    summary.textContent = `Columns: ${boxes.filter(one => one.checked).length + 1} of ${heads.length}`;
  };
  const fit = () => {
    const picked = chosen.get(key)?.split(' ');
    boxes.forEach((one, i) => {
      const {key: name, more} = heads[i + 1].dataset;
      one.checked = picked ? picked.includes(name) : more === undefined;
    });
    show();
    for (let last = boxes.length; !picked && box.clientWidth && table.scrollWidth > box.clientWidth + 1 && last-- > 2;) {
      boxes[last].checked = false;
      show();
    }
    list.hidden = boxes.every(one => one.checked);
  };
  boxes.forEach(one => one.addEventListener('change', () => {
    show();
    remember(key, heads.slice(1).filter((head, i) => boxes[i].checked).map(head => head.dataset.key).join(' '));
  }));
  const list = create('details', {className: 'fold choose'}, summary,
                      create('div', {}, ...boxes.map((one, i) => control(heads[i + 1].textContent, one))));
  box.after(list);
  fit();
  addEventListener('resize', fit);
  for (let fold = table.closest('details'); fold; fold = fold.parentElement.closest('details')) { fold.addEventListener('toggle', fit); }
}

// The clipboard is closed to pages from a plain http address: there the text is selected and copied the old way.
async function copyText(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return document.execCommand('copy');
  }
}

for (const snippet of document.querySelectorAll('.snippet')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    button.textContent = await copyText(snippet.querySelector('code')) ? 'Copied' : 'Not copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  snippet.append(button);
}

// A link to what is folded away unfolds it, and leaves the address alone, in which stands what was chosen.
function reveal(id) {
  const target = document.getElementById(id);
  if (!target) { return; }
  for (const fold of target.querySelectorAll(':scope > details')) { fold.open = true; }
  target.scrollIntoView();
}
for (const link of document.querySelectorAll('nav a')) {
  link.addEventListener('click', event => { event.preventDefault(); reveal(link.hash.slice(1)); });
}
if (location.hash && !location.hash.includes('=')) { reveal(location.hash.slice(1)); }

// Paper can not be unfolded; configurations would fill it.
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open], .code, .choose, .meanings)')];
  for (const one of folded) { one.open = true; }
});
addEventListener('afterprint', () => {
  for (const one of folded) { one.open = false; }
});

// A page that lives: the curves of the trials that its reader picks. Each is kept as the steps between its places, and its values.
const liveElement = document.querySelector('#live');
const live = liveElement && JSON.parse(liveElement.textContent);
let picks = live ? chosen.get('picks')?.split(' ').filter(id => id in live.trials) ?? live.picks : [];

// Each trial has its own series among all that are told apart, but no two picked ones a colour as long as there are others.
function seriesOf(ids) {
  const colours = 7, places = [];
  for (const id of ids) {
    let place = live.trials[id][1];
    for (let i = 0; i < colours && places.some(one => one % colours === place % colours); ++i) { place += 1; }
    places.push(place);
  }
  return places;
}

// The scales of a template name their places; these get the trials' names.
function nameSeries(part, names, places) {
  for (const value of Object.values(part)) {
    if (value === null || typeof value !== 'object') { continue; }
    if (value.field === 'name' && value.scale?.range) {
      const {range} = value.scale;
      value.scale = {domain: names, range: places.map(place => range[place % range.length])};
    } else {
      nameSeries(value, names, places);
    }
  }
}

// Where the time of each picked trial went: a panel for each, made after the one that is there.
function panelForEachPick(whole) {
  const [pattern] = whole.concat, {names, trials} = live.phases, values = [];
  whole.concat = picks.filter(id => id in trials).map((id, i) => {
    const panel = structuredClone(pattern), title = live.trials[id][0], [steps, shares] = trials[id];
    panel.title = panel.transform[0].filter.equal = title;
    if (i) { panel.layer[0].encoding.color.legend = null; }  // as the first one's
    let x = 0;
    const add = (kind, at, x2) => {
      const row = {panel: title, kind, name: title, trials: id, x, x2};
      names.forEach((name, k) => { row[name] = (shares[k]?.[at] ?? 0) / 10; });
      values.push(row);
    };
    steps.forEach((step, at) => { add('stretch', at, x + step); x += step; });
    add('end', steps.length - 1);
    return panel;
  });
  whole.data.values = values;
  return whole;
}

function specificationOf({specification, picks: kind}) {
  if (!kind) { return specification; }
  if (kind === 'panels') { return panelForEachPick(structuredClone(specification)); }
  const whole = structuredClone(specification), values = [];
  for (const {title: panel} of whole.concat) {
    for (const id of picks) {
      let x = 0;
      const [steps, ys] = live.panels[panel][id] ?? [[], []];
      steps.forEach((step, i) => {
        x += step;
        values.push({panel, kind: 'mean', name: live.trials[id][0], trials: id, x, value: ys[i], n: '1 trial', interval: ''});
      });
    }
  }
  whole.concat = whole.concat.filter(panel => values.some(value => value.panel === panel.title));
  whole.data.values = values;
  nameSeries(whole.concat, picks.map(id => live.trials[id][0]), seriesOf(picks));
  return whole;
}

// A box in each row of a trial with curves.
function makePickable(table) {
  const column = [...table.tHead.rows[0].cells].findIndex(head => head.dataset.key === 'id');
  for (const row of table.tBodies[0].rows) {
    const id = row.cells[column].textContent.trim();
    if (!(id in live.trials)) { continue; }
    const box = create('input', {type: 'checkbox', checked: picks.includes(id), ariaLabel: `Curves of ${live.trials[id][0]}`});
    box.addEventListener('change', () => {
      picks = picks.filter(one => one !== id);
      if (box.checked) { picks.push(id); }
      remember('picks', picks.join(' '));
      for (const figure of figures) { if (figure.picks) { show(figure); } }
    });
    row.cells[0].prepend(box, ' ');
  }
}

let drawing = 0;  // figures

// While what it speaks of runs, the page is loaded anew: not under a reader's hands, nor where nobody sees it. What has not been
// written for long is looked at the more seldom.
function keepReloading() {
  const every = 1000 * Number(liveElement.dataset.every), calm = 5000;
  let touched = 0, loaded = Date.now();
  const written = Date.parse(document.lastModified) || loaded;
  for (const kind of ['pointerdown', 'keydown', 'wheel']) { addEventListener(kind, () => { touched = Date.now(); }, {passive: true}); }
  setInterval(() => {
    const now = Date.now(), age = now - written;
    if (document.documentElement.dataset.figures !== 'ready' || drawing) { loaded = now; }  // a slow machine comes to its end, too
    if (age > 20 * every) { document.documentElement.dataset.stale = 'yes'; }
    if (document.visibilityState !== 'visible' || now - touched < calm || now - loaded < Math.max(every, age / 10)) { return; }
    const open = [...document.querySelectorAll('details[open] > summary')].map(one => one.textContent);
    history.replaceState({open, top: scrollY, height: document.body.scrollHeight}, '');
    location.reload();
  }, 500);
}

function takeUpWhereItWas() {
  const {open = [], top = 0, height = 0} = history.state ?? {};
  for (const summary of document.querySelectorAll('details > summary')) {
    if (open.includes(summary.textContent)) { summary.parentElement.open = true; }
  }
  document.body.style.minHeight = height + 'px';  // until its figures are there
  if (top) { scrollTo(0, top); }
}

for (const table of document.querySelectorAll('table.sortable')) {
  if (live && table.dataset.id === 'trials') { makePickable(table); }
  makeSortable(table);
  makeChoosable(table);
  const {length} = table.tBodies[0].rows;
  if (length > 15 || table.dataset.id === 'trials') { makeFiltered(table); }
  table.parentElement.classList.toggle('long', length > 25);
}
if (live) {
  takeUpWhereItWas();
  keepReloading();
}

// What a reader has asked a legend for, in the address.
async function keepLegend(view, name, place) {
  const key = 'legend-' + name, stores = Object.keys(view.getState({data: one => /^pick.*_store$/.test(one)}).data ?? {});
  if (!stores.length) { return; }
  if (chosen.has(key)) { await view.data(stores[0], JSON.parse(chosen.get(key))).runAsync(); }
  place.addEventListener('click', () => setTimeout(() => {
    const picked = view.data(stores[0]).map(({unit, fields, values}) => ({unit, fields, values}));
    remember(key, picked.length ? JSON.stringify(picked) : undefined);
  }, 100));
}

// Where a reader has zoomed to, in the address.
async function keepZoom(view, name, place) {
  const key = 'zoom-' + name, signals = Object.keys(view.getState({signals: one => /^zoom.*_(x|value)$/.test(one)}).signals);
  const kept = chosen.get(key)?.split(' ').map(Number) ?? [];
  if (signals.length && kept.length === 2 * signals.length) {
    signals.forEach((signal, i) => view.signal(signal, kept.slice(2 * i, 2 * i + 2)));
    await view.runAsync();
  }
  const keep = () => setTimeout(() => {
    const domains = signals.map(signal => view.signal(signal));
    remember(key, domains.every(Array.isArray) ? domains.flat().map(value => Number(value.toPrecision(6))).join(' ') : undefined);
  }, 100);
  for (const kind of signals.length ? ['pointerup', 'wheel', 'dblclick'] : []) { place.addEventListener(kind, keep); }
}

// Figures: each drawing is replaced by its specification, shown by Vega, panel by panel, so that they flow on a narrow page.
// Vega interprets expressions here: the page's policy lets nothing turn text into code.
const embedding = {actions: false, renderer: 'svg', ast: true, tooltip: {theme: 'light'}};

// Of curves; with values at or below zero, one that is linear around it.
function useLogAxis(panel, values) {
  if (!panel.name?.startsWith('curves')) { return; }
  const own = values.filter(row => row.panel === panel.title && row.value != null);
  const type = own.every(row => row.value > 0) ? 'log' : 'symlog';
  for (const layer of panel.layer) { layer.encoding.y.scale = {...layer.encoding.y.scale, type}; }
}

// Panels as specifications of their own. A table is in the page already; it is for those who have the PNG only.
function panelsOf(specification, log) {
  const {concat, columns, spacing, title, params, ...shared} = structuredClone(specification);
  const values = params.map(({bind, ...rest}) => rest);
  return concat.filter(panel => !panel.name?.startsWith('table')).map(panel => {
    if (log) { useLogAxis(panel, shared.data.values); }
    return {...shared, ...panel, params: values, autosize: {type: 'fit-x', contains: 'padding'}};
  });
}

// A legend takes as many lines as it needs at that width.
function fitLegends(spec, width) {
  for (const value of Object.values(spec)) {
    if (value === null || typeof value !== 'object') { continue; }
    if (value.legend?.columns) {
      const longest = Math.max(...value.scale.domain.map(name => name.length));
      value.legend.columns = Math.max(1, Math.min(value.legend.columns, Math.floor((width - 50) / (longest * 6.9 + 46))));
    }
    if (value !== spec.data) { fitLegends(value, width); }
  }
}

async function show(figure) {
  const {place, log} = figure;
  const specification = specificationOf(figure);
  for (const view of figure.views) { view.finalize(); }
  figure.views = [];
  const panels = panelsOf(specification, log);
  place.replaceChildren(...panels.map(() => document.createElement('div')));
  if (!panels.length) { place.textContent = 'Tick trials in the table to see their curves.'; }
  for (let i = 0; i < panels.length; ++i) {
    const {clientWidth} = place.children[i];
    fitLegends(panels[i], clientWidth);
    const names = (panels[i].encoding?.y ?? panels[i].layer[0].encoding.y)?.scale?.domain;
    if (typeof names?.[0] !== 'string') {
      panels[i].height = Math.round(Math.min(Math.max(clientWidth * 0.55, 190), 300));  // rows of names keep theirs
    }
    const besides = typeof names?.[0] === 'string' ? Math.max(...names.map(name => name.length)) * 6.9 + 40 : 0;
    const least = Number(/^least(\d+)/.exec(panels[i].name)?.[1] ?? 180);
    panels[i].width = besides + least < clientWidth ? 'container' : least;  // where names leave no room the panel scrolls
    if (panels[i].width !== 'container') { panels[i].autosize = 'pad'; }
    const {view} = await vegaEmbed(place.children[i], panels[i], embedding);
    figure.views.push(view);
    place.children[i].querySelector('svg').setAttribute('aria-hidden', 'true');  // the figure's words stand at the place
    for (const [name, value] of figure.chosen) { await view.signal(name, value).runAsync(); }
    await keepZoom(view, figure.name + '.' + i, place.children[i]);
    await keepLegend(view, figure.name + '.' + i, place.children[i]);
  }
}

function save(name, content) {
  const link = document.createElement('a');
  link.download = name;
  link.href = typeof content === 'string' && content.startsWith('data:') ? content : URL.createObjectURL(new Blob([content]));
  link.click();
  if (link.href.startsWith('blob:')) { setTimeout(() => URL.revokeObjectURL(link.href), 10000); }
}

// All rows of its data; a cell with a comma, a quote or a line's end is quoted. A text that a spreadsheet would execute as a formula
// gets a ' in front, as in text/csv_field.hpp.
function csvOf(specification) {
  const rows = specification.data.values;
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))];
  const cell = value => {
    const plain = value == null ? '' : String(value);
    const formula = typeof value !== 'number' && /^'*[=+\-@]/.test(plain) && !isFinite(plain);
    const text = formula ? `'${plain}` : plain;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows.map(row => columns.map(column => row[column]))].map(row => row.map(cell).join(',')).join('\n') + '\n';
}

// The whole figure, with what the reader has chosen.
async function wholeView(figure) {
  const {chosen, log} = figure, whole = structuredClone(specificationOf(figure));
  if (log) { for (const panel of whole.concat) { useLogAxis(panel, whole.data.values); } }
  const {view} = await vegaEmbed(document.createElement('div'), whole, embedding);
  for (const [name, value] of chosen) { view.signal(name, value); }
  return view.runAsync();
}

function control(label, input) { return create('label', {}, label, input); }

function toolsOf(figure) {
  const {name, specification} = figure;
  const tools = document.createElement('div');
  tools.className = 'tools';
  const hint = document.createElement('span');
  hint.className = 'hint';
  const curves = specification.concat.some(panel => panel.name?.startsWith('curves'));
  hint.textContent = curves ? 'Drag to move, shift and wheel to zoom, double click to go back; click the legend to pick.' : '';
  tools.append(hint);
  for (const {name: parameter, value, bind} of specification.params) {
    const select = document.createElement('select');
    bind.options.forEach((option, i) => select.add(new Option(bind.labels[i], option, option === value, option === value)));
    select.addEventListener('change', () => {
      figure.chosen.set(parameter, Number(select.value));
      for (const view of figure.views) { view.signal(parameter, Number(select.value)).runAsync(); }
    });
    tools.append(control(bind.name, select));
  }
  if (curves) {
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.addEventListener('change', () => { figure.log = box.checked; show(figure); });
    tools.append(control('log axis', box));
  }
  const saving = {
    SVG: async () => save(`${name}.svg`, await (await wholeView(figure)).toSVG()),
    PNG: async () => save(`${name}.png`, await (await wholeView(figure)).toImageURL('png', 2)),
    CSV: () => save(`${name}.csv`, csvOf(specificationOf(figure))),
  };
  for (const [form, act] of Object.entries(saving)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = form;
    button.setAttribute('aria-label', `Save ${name} as ${form}`);
    button.addEventListener('click', act);
    tools.append(button);
  }
  return tools;
}

async function enliven(element) {
  const specification = JSON.parse(element.querySelector('script').textContent);
  if (!panelsOf(specification).length) { return; }  // a table alone
  const drawn = element.querySelector('.drawn');
  const place = document.createElement('div');
  place.className = 'live';
  place.setAttribute('role', 'img');
  place.setAttribute('aria-label', drawn.getAttribute('aria-label'));
  place.style.setProperty('--columns', specification.columns);
  const figure = {name: element.dataset.name, specification, place, views: [], chosen: new Map(), log: false, picks: element.dataset.picks};
  figures.push(figure);
  drawn.before(place);
  try {
    await show(figure);
    place.before(toolsOf(figure));
    element.dataset.live = 'yes';
  } catch (error) {  // the drawing stays
    place.remove();
    element.dataset.live = `no: ${error.message}`;
  }
}

const figures = [];

async function enlivenAll() {
  const elements = [...document.querySelectorAll('figure.figure')];
  if (live) {  // drawn anew every few seconds, on a machine that has other work: what nobody sees is not
    const seen = new IntersectionObserver(entries => {
      for (const {target} of entries.filter(one => one.isIntersecting)) {
        seen.unobserve(target);
        ++drawing;
        enliven(target).finally(() => --drawing);
      }
    }, {rootMargin: '300px'});
    for (const element of elements.splice(1)) { seen.observe(element); }
  }
  for (const element of elements) { await enliven(element); }
  document.body.style.minHeight = '';
  document.documentElement.dataset.figures = 'ready';
}
if (window.vegaEmbed) { enlivenAll(); } else { document.documentElement.dataset.figures = 'ready'; }
