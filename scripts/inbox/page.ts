/** GET / of the inbox: the deliveries, newest first, in one page without external resources. */

const style = `
:root { color-scheme: light dark; --line: #8883; --soft: #8881; --good: #1a9c5b; --bad: #d33a3a; --dim: #888; }
* { box-sizing: border-box; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 0 1rem 3rem; }
header { position: sticky; top: 0; background: Canvas; display: flex; flex-wrap: wrap; gap: .75rem; align-items: center;
  padding: 1rem 0 .75rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1.15rem; margin: 0 auto 0 0; }
h1 small { font-weight: 400; color: var(--dim); margin-left: .5rem; }
input, button { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: .4rem;
  padding: .3rem .7rem; }
input { width: 16rem; }
button { cursor: pointer; }
details { border-bottom: 1px solid var(--line); }
summary { display: grid; grid-template-columns: 4.5rem 6.5rem 11rem 1fr 1fr 3.5rem; gap: .75rem; padding: .5rem .25rem;
  cursor: pointer; list-style: none; align-items: center; }
summary:hover { background: var(--soft); }
summary > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.mark { border-radius: 1rem; padding: 0 .6rem; font-size: .8rem; border: 1px solid currentColor; justify-self: start; }
.good { color: var(--good); } .bad { color: var(--bad); } .dim { color: var(--dim); }
code, pre { font: 12.5px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: .4rem; padding: .75rem; margin: .25rem 0 .75rem; overflow: auto; max-height: 24rem; }
.empty { color: var(--dim); padding: 3rem 0; text-align: center; }
.new { animation: arrive 1.5s; }
@keyframes arrive { from { background: #1a9c5b33; } }
@media (max-width: 48rem) { summary { grid-template-columns: 4.5rem 6.5rem 1fr; } .wide { display: none; } input { width: 100%; } }
`;

const script = `
const list = document.querySelector('main');
const count = document.querySelector('small');
const filter = document.querySelector('input');
const marks = { true: ['verified', 'good'], false: ['not verified', 'bad'], null: ['no secret', 'dim'] };
let messages = [];
let tag = '';
const rows = new Map();

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function bodyOf(message) {
  try { return JSON.parse(message.raw); } catch { return null; }
}

function rowOf(message) {
  const body = bodyOf(message) || {};
  const data = body.data || body;
  const [text, look] = marks[message.verified];
  const row = element('details', 'new', '');
  const summary = element('summary', '', '');
  const answered = message.answered === 200 ? 'dim' : 'bad';
  summary.append(
    element('span', 'dim', new Date(message.at).toTimeString().slice(0, 8)),
    element('span', 'mark ' + look, text),
    element('strong', '', message.headers['x-event'] || body.event || data.status || ''),
    element('code', 'wide', data.ref_id || ''),
    element('span', 'wide dim', message.path),
    element('span', 'wide ' + answered, message.answered),
  );
  row.append(summary);
  row.addEventListener('toggle', () => {
    if (row.childElementCount > 1) { return; }
    const pretty = bodyOf(message) === null ? message.raw : JSON.stringify(bodyOf(message), null, 2);
    const headers = Object.entries(message.headers).map(([name, value]) => name + ': ' + value).join('\\n');
    row.append(element('pre', '', pretty), element('pre', 'dim', headers));
    if (message.verification) { row.append(element('pre', '', JSON.stringify(message.verification))); }
  });
  return row;
}

function show() {
  const wanted = filter.value.trim().toLowerCase();
  const fits = (message) => (message.path + message.raw).toLowerCase().includes(wanted);
  const shown = messages.filter(fits).reverse();
  const known = new Set(messages.map((message) => message.id));
  for (const id of [...rows.keys()]) { if (!known.has(id)) { rows.delete(id); } }
  list.replaceChildren(...shown.map((message) => {
    if (!rows.has(message.id)) { rows.set(message.id, rowOf(message)); }
    return rows.get(message.id);
  }));
  if (shown.length === 0) {
    list.append(element('p', 'empty', messages.length === 0 ? 'Nothing yet. Deliveries go to /hooks/<anything>.' : 'Nothing matches.'));
  }
  const good = messages.filter((message) => message.verified === true).length;
  count.textContent = messages.length + ' shown, ' + good + ' verified';
}

async function refresh() {
  try {
    const response = await fetch('messages?limit=300', { headers: tag === '' ? {} : { 'if-none-match': tag }, cache: 'no-store' });
    if (response.status === 200) {
      const next = response.headers.get('etag');
      if (tag.split('-')[0] !== next.split('-')[0]) { rows.clear(); }
      tag = next;
      messages = await response.json();
      show();
    }
  } catch {
    count.textContent = 'the inbox does not respond';
    tag = '';
  }
  setTimeout(refresh, 1000);
}

filter.addEventListener('input', show);
document.querySelector('button').addEventListener('click', () => fetch('messages', { method: 'DELETE' }));
refresh();
`;

export const inboxPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Inbox</title>
<style>${style}</style>
<header>
<h1>Inbox<small></small></h1>
<input type="search" placeholder="Find ref_id, path, status…" aria-label="Find">
<button type="button">Clear</button>
</header>
<main></main>
<script>${script}</script>
</html>
`;
