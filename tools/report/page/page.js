'use strict';
// The page is complete without this script, which adds sorting, copying, interactive figures, and unfolding for print.

// The reader's choices are stored in the page's address: they survive updates of the page and can be shared.
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

// The number of a cell; undefined for empty cells and NaN.
function sortKey(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.v !== undefined) {
    const value = Number(cell.dataset.v);
    return Number.isNaN(value) ? undefined : value;
  }
  return cell.textContent.trim() || undefined;
}

// Missing values stay at the end in both directions; numbers precede words.
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

// A row stays visible if it contains every word.
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

// A table wider than the page shows its first columns and those that the reader chooses.
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

// Pages from a plain http address cannot use the clipboard: select the text and copy it the old way.
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

// Opens the fold that contains a link's target, without changing the address, which stores the choices.
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

// Paper cannot unfold, but configurations would fill it.
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open], .code, .choose, .meanings)')];
  for (const one of folded) { one.open = true; }
});
addEventListener('afterprint', () => {
  for (const one of folded) { one.open = false; }
});

// Live pages: the curves of the picked trials. Each is stored as the steps between its points, and its values.
const liveElement = document.querySelector('#live');
const live = liveElement && JSON.parse(liveElement.textContent);
let picks = live ? chosen.get('picks')?.split(' ').filter(id => id in live.trials) ?? live.picks : [];

// Each trial has its own series. Picked trials only share a colour if there are more trials than colours.
function seriesOf(ids) {
  const colours = 7, places = [];
  for (const id of ids) {
    let place = live.trials[id][1];
    for (let i = 0; i < colours && places.some(one => one % colours === place % colours); ++i) { place += 1; }
    places.push(place);
  }
  return places;
}

// Scales of a template use numbers; replace them by the trials' names.
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

// Time shares of the picked trials: a panel for each, cloned from the template.
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

// A checkbox in each row of a trial with curves.
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

// Reloads the page while its batch runs, unless the reader is interacting or the page is hidden. Polls less often if the page
// has not changed for long.
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
