/** Stylesheet of the /docs pages. */
export const docsStyle = `
:root { color-scheme: light dark; --ink: #1d2733; --quiet: #52606d; --paper: #fff; --card: #f3f6f8; --line: #d5dce3; --accent: #0a5f5f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --quiet: #a5b2be; --paper: #14191f; --card: #1d252d; --line: #35404b; --accent: #5fd0d0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .75rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
header form { flex: 1 1 12rem; max-width: 20rem; margin-left: auto; }
.columns { max-width: 84rem; margin: 0 auto; }
main { max-width: 52rem; padding: 1rem; margin: 0 auto; }
.sidebar { padding: 1rem; border-top: 1px solid var(--line); font-size: .925rem; }
.sidebar ul, .contents ul { list-style: none; margin: .25rem 0 1rem; padding: 0; }
.sidebar a, .contents a { display: block; padding: .2rem 0; text-decoration: none; }
.sidebar [aria-current] { font-weight: 700; color: var(--ink); }
.contents { padding: .5rem 1rem 0; background: var(--card); border-radius: .35rem; font-size: .925rem; }
.neighbours { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.neighbours a { display: block; } .neighbours span { display: block; }
@media (min-width: 60rem) {
  .to-pages { display: none; }
  .columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  .sidebar { grid-column: 1; grid-row: 1; border-top: 0; border-right: 1px solid var(--line); align-self: start; position: sticky; top: 0; max-height: 100vh; overflow-y: auto; }
  main { grid-column: 2; grid-row: 1; width: 100%; margin: 0; padding: 1rem 2rem; }
}
@media (min-width: 80rem) {
  main { max-width: none; position: relative; }
  main:has(.contents) { padding-right: 17rem; }
  main > * { max-width: 50rem; }
  main > .call { max-width: none; display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 2rem; }
  .example { grid-column: 2; grid-row: 1; } .fields { grid-column: 1; grid-row: 1; }
  .contents { position: absolute; top: 1.5rem; right: 1rem; width: 14rem; }
}
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2rem; } h3 { font-size: 1.05rem; }
a { color: var(--accent); }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--card); padding: .1em .25em; border-radius: .25rem; }
pre { overflow-x: auto; padding: .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .35rem; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
pre.answer:empty { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; overflow-wrap: normal; }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td:last-child { min-width: 12rem; }
.calls { list-style: none; padding: 0; } .calls li { padding: .35rem 0; border-bottom: 1px solid var(--line); } .calls code { display: block; width: fit-content; }
label { display: block; margin: .6rem 0; font-weight: 600; }
input, textarea { display: block; width: 100%; padding: .5rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: .35rem; }
textarea { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
button { padding: .5rem 1.25rem; font: inherit; font-weight: 600; color: var(--paper); background: var(--accent); border: 0; border-radius: .35rem; cursor: pointer; }
summary { cursor: pointer; padding: .35rem 0; }
.quiet { color: var(--quiet); font-size: .9rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/**
 * Browser script: finds index entries that contain every word of the query. Title matches come
 * first.
 */
export const searchScript = `'use strict';
const shownMax = 40;
const field = document.querySelector('form[role=search] input');
const results = document.getElementById('search-results');
if (results) {
  const count = document.getElementById('search-count');
  field.value = new URLSearchParams(location.search).get('q') || '';
  count.textContent = '';
  fetch('/docs/search-index.json')
    .then((answer) => answer.json())
    .then((entries) => {
      const show = () => showResults(findEntries(entries, field.value), count);
      field.addEventListener('input', show);
      show();
    })
    .catch((error) => {
      count.textContent = 'The search index could not be loaded: ' + error.message;
    });
}

function findEntries(entries, query) {
  const words = query.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  const hasAll = (text) => words.every((word) => text.toLowerCase().includes(word));
  if (words.length === 0) {
    return [];
  }
  const byTitle = entries.filter(({ title, where }) => hasAll(title + ' ' + where));
  const byText = entries.filter((each) => !byTitle.includes(each) && hasAll(each.title + ' ' + each.where + ' ' + each.text));
  return [...byTitle, ...byText];
}

function showResults(found, count) {
  count.textContent = found.length === 0 ? 'No results.' : found.length + ' found' + (found.length > shownMax ? ', the first ' + shownMax + ' are shown.' : '.');
  results.replaceChildren(...found.slice(0, shownMax).map(({ address, title, where, text }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = address;
    link.textContent = title;
    const place = document.createElement('span');
    const start = document.createElement('div');
    place.className = start.className = 'quiet';
    place.textContent = ' ' + where;
    start.textContent = text.slice(0, 160);
    item.append(link, place, start);
    return item;
  }));
}
`;

/**
 * Browser script: sends the form of a call and shows the response. The browser keeps the key until
 * the tab is closed.
 */
export const tryItScript = `'use strict';
// 'npm start' prints an address with the demo key in the fragment, which is not sent. A link must not set a live key.
const given = /^#key=([bs]k_test_[A-Za-z0-9_]+)$/.exec(location.hash);
if (given) {
  sessionStorage.setItem('topup-key', given[1]);
  history.replaceState(null, '', location.pathname);
}
for (const form of document.querySelectorAll('form.try-it')) {
  const { key, body } = form.elements;
  if (key) {
    key.value = sessionStorage.getItem('topup-key') || '';
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const shown = form.querySelector('.answer');
    shown.textContent = '…';
    try {
      await sign(form);
    } catch (error) {
      shown.textContent = error.message;
      return;
    }
    const inputs = [...form.querySelectorAll('[data-in]')];
    const query = new URLSearchParams();
    let path = form.dataset.path;
    for (const { name, value, dataset } of inputs) {
      if (dataset.in === 'path') {
        path = path.replace('{' + name + '}', encodeURIComponent(value));
      } else if (value !== '') {
        query.set(name, value);
      }
    }
    const headers = {};
    if (key && key.value !== '') {
      sessionStorage.setItem('topup-key', key.value);
      if (form.dataset.signed === undefined) {
        headers.authorization = 'Bearer ' + key.value;
      }
    }
    if (body) {
      headers['content-type'] = 'application/json';
    }
    const text = query.toString();
    try {
      const answer = await fetch(path + (text === '' ? '' : '?' + text), {
        method: form.dataset.method,
        headers,
        ...(body && { body: body.value }),
      });
      const came = await answer.text();
      shown.textContent = 'HTTP ' + answer.status + '\\n' + pretty(came);
    } catch (error) {
      shown.textContent = 'No response: ' + error.message;
    }
  });
}

// A call of the reseller surface has a sign instead of the key. Without a key, the entered sign is sent.
async function sign(form) {
  const { key, sign: field } = form.elements;
  if (form.dataset.signed === undefined || key.value === '') {
    return;
  }
  if (!crypto.subtle) {
    throw new Error('Not sent: the browser cannot compute the sign on a page loaded over plain HTTP from another machine. Open the page over HTTPS, or clear the key and enter your own sign.');
  }
  const text = form.dataset.signed.replace(/\\{(\\w+)\\}/g, (_, name) => form.elements[name].value);
  const bytes = (value) => new TextEncoder().encode(value);
  const hmac = await crypto.subtle.importKey('raw', bytes(key.value), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const made = new Uint8Array(await crypto.subtle.sign('HMAC', hmac, bytes(text)));
  field.value = [...made].map((each) => each.toString(16).padStart(2, '0')).join('');
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
`;
