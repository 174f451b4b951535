'use strict';
// The page is complete without this script: it adds sorting, copying, and folds opened for the printer.

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
