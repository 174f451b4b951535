'use strict';
// The page is complete without this script: it adds sorting, copying, figures to point at, and folds opened for the printer.

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

function sortBy(table, head) {
  const opposite = {ascending: 'descending', descending: 'ascending'};
  const order = opposite[head.getAttribute('aria-sort')] || head.dataset.first;
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

for (const table of document.querySelectorAll('table.sortable')) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    button.addEventListener('click', () => sortBy(table, head));
    head.append(button);
  }
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

// Paper can not be unfolded.
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')];
  for (const one of folded) { one.open = true; }
});
addEventListener('afterprint', () => {
  for (const one of folded) { one.open = false; }
});

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
      value.legend.columns = Math.max(1, Math.min(value.legend.columns, Math.floor(width / (longest * 6.9 + 40))));
    }
    if (value !== spec.data) { fitLegends(value, width); }
  }
}

async function show(figure) {
  const {place, specification, log} = figure;
  for (const view of figure.views) { view.finalize(); }
  figure.views = [];
  const panels = panelsOf(specification, log);
  place.replaceChildren(...panels.map(() => document.createElement('div')));
  for (let i = 0; i < panels.length; ++i) {
    const {clientWidth} = place.children[i];
    fitLegends(panels[i], clientWidth);
    const names = (panels[i].encoding?.y ?? panels[i].layer[0].encoding.y)?.scale?.domain;
    if (typeof names?.[0] !== 'string') {
      panels[i].height = Math.round(Math.min(Math.max(clientWidth * 0.6, 190), 320));  // rows of names keep theirs
    }
    const besides = typeof names?.[0] === 'string' ? Math.max(...names.map(name => name.length)) * 6.9 + 40 : 0;
    panels[i].width = besides + 180 < clientWidth ? 'container' : 180;  // where names leave no room the panel scrolls
    if (panels[i].width !== 'container') { panels[i].autosize = 'pad'; }
    const {view} = await vegaEmbed(place.children[i], panels[i], embedding);
    figure.views.push(view);
    for (const [name, value] of figure.chosen) { await view.signal(name, value).runAsync(); }
  }
}

function save(name, content) {
  const link = document.createElement('a');
  link.download = name;
  link.href = typeof content === 'string' && content.startsWith('data:') ? content : URL.createObjectURL(new Blob([content]));
  link.click();
  if (link.href.startsWith('blob:')) { setTimeout(() => URL.revokeObjectURL(link.href), 10000); }
}

// All rows of its data; a cell with a comma, a quote or a line's end is quoted.
function csvOf(specification) {
  const rows = specification.data.values;
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))];
  const cell = value => {
    const text = value == null ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows.map(row => columns.map(column => row[column]))].map(row => row.map(cell).join(',')).join('\n') + '\n';
}

// The whole figure, with what the reader has chosen.
async function wholeView({specification, chosen, log}) {
  const whole = structuredClone(specification);
  if (log) { for (const panel of whole.concat) { useLogAxis(panel, whole.data.values); } }
  const {view} = await vegaEmbed(document.createElement('div'), whole, embedding);
  for (const [name, value] of chosen) { view.signal(name, value); }
  return view.runAsync();
}

function control(label, input) {
  const element = document.createElement('label');
  element.append(label, input);
  return element;
}

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
    CSV: () => save(`${name}.csv`, csvOf(specification)),
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
  if (!panelsOf(specification).length) { return; }
  const drawn = element.querySelector('.drawn');
  const place = document.createElement('div');
  place.className = 'live';
  place.setAttribute('role', 'group');
  place.setAttribute('aria-label', drawn.getAttribute('aria-label'));
  place.style.setProperty('--columns', specification.columns);
  const figure = {name: element.dataset.name, specification, place, views: [], chosen: new Map(), log: false};
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

async function enlivenAll() {
  for (const element of document.querySelectorAll('figure.figure')) { await enliven(element); }
  document.documentElement.dataset.figures = 'ready';
}
if (window.vegaEmbed) { enlivenAll(); }
