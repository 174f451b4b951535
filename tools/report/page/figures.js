// Interactive figures: the second half of the page's script, after page.js.

// The reader's choices in legends, stored in the address.
async function keepLegend(view, name, place) {
  const key = 'legend-' + name, stores = Object.keys(view.getState({data: one => /^pick.*_store$/.test(one)}).data ?? {});
  if (!stores.length) { return; }
  if (chosen.has(key)) { await view.data(stores[0], JSON.parse(chosen.get(key))).runAsync(); }
  place.addEventListener('click', () => setTimeout(() => {
    const picked = view.data(stores[0]).map(({unit, fields, values}) => ({unit, fields, values}));
    remember(key, picked.length ? JSON.stringify(picked) : undefined);
  }, 100));
}

// The reader's zoom, stored in the address.
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

// Figures: replaces each drawing by its specification, rendered by Vega panel by panel, so that panels reflow on narrow pages.
// Vega interprets expressions, because the page's policy forbids turning text into code.
const embedding = {actions: false, renderer: 'svg', ast: true, tooltip: {theme: 'light'}};

// For curves; with values at or below zero, a scale that is linear around it.
function useLogAxis(panel, values) {
  if (!panel.name?.startsWith('curves')) { return; }
  const own = values.filter(row => row.panel === panel.title && row.value != null);
  const isLog = own.every(row => row.value > 0 && (row.low == null || row.low > 0));
  for (const layer of panel.layer) {
    const {zero, ...scale} = layer.encoding.y.scale;  // a logarithm has no zero to leave out
    layer.encoding.y.scale = isLog ? {...scale, type: 'log'} : {...scale, zero, type: 'symlog'};
  }
}

// Removes layers without rows: Vega warns about their missing extent. Keeps the layer that defines the parameters.
function withoutEmptyLayers(panel, values) {
  const passes = (row, {filter}) => !filter?.field || (filter.valid ? row[filter.field] != null : (filter.oneOf ?? [filter.equal]).includes(row[filter.field]));
  const own = values.filter(row => row.panel === panel.title);
  const hasRows = ({data, transform = []}) => data ? data.values.length : own.some(row => transform.every(step => passes(row, step)));
  const layer = panel.layer?.filter(one => one.params || hasRows(one));
  return layer ? {...panel, layer} : panel;
}

// Panels as separate specifications. Omits tables, which the page already has; they are for readers of the PNG.
function panelsOf(specification, log) {
  const {concat, columns, spacing, title, params, ...shared} = structuredClone(specification);
  const values = params.map(({bind, ...rest}) => rest);
  return concat.filter(panel => !panel.name?.startsWith('table')).map(panel => {
    if (log) { useLogAxis(panel, shared.data.values); }
    return {...shared, ...withoutEmptyLayers(panel, shared.data.values), params: values, autosize: {type: 'fit-x', contains: 'padding'}};
  });
}

// A legend uses as many lines as it needs at this width.
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

// All rows of the figure's data as CSV. Cells with a comma, a quote or a line end are quoted. Text that a spreadsheet would
// execute as a formula gets a leading ', as in text/csv_field.hpp.
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

// The whole figure, with the reader's choices.
async function wholeView(figure) {
  const {chosen, log} = figure, whole = structuredClone(specificationOf(figure));
  if (log) { for (const panel of whole.concat) { useLogAxis(panel, whole.data.values); } }
  whole.concat = whole.concat.map(panel => withoutEmptyLayers(panel, whole.data.values));
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
