/** GET /: describes the simulator on one page without external resources. */
import { sandboxScenarios } from '../../config/sandbox-scenarios.js';

const endings: [ending: string, meaning: string][] = [
  ...sandboxScenarios.map(({ ending, about, description }): [string, string] => [
    `…${ending}`,
    `${about}: ${description}`,
  ]),
  ['any other', 'success; one bill'],
];

const paths: [path: string, meaning: string][] = [
  [
    'GET /request',
    'username, sign, code, customer, ref_id: a purchase. A repeated ref_id is its status check.',
  ],
  ['GET /inquiry', 'the same parameters: the bill'],
  ['GET /meter', 'username, sign (suffix customer), customer: the owner of a prepaid meter'],
  ['GET /payment', 'the same parameters, and amount (the total expected): pays the bill'],
  [
    'GET /end',
    'username, sign (suffix ref_id; covers ref_id|result), ref_id, result (success, failed, reversed): ends an order',
  ],
  ['GET /price-list', 'username, sign (suffix pricelist), category, operator'],
  ['GET /balance', 'username, sign (suffix depo)'],
  ['GET /log', 'every execution, oldest first; ?provider=, ?ref_id=, ?since= and ?until= (ISO 8601 UTC)'],
  ['GET /control', 'current behaviour'],
  ['POST /control', '{"latency_ms":50,"fault_rate":0.1,"providers":{"<username>":{"down":true}}}'],
  ['POST /control', '{"price_raise_ms":0}: the supplier kilat raises some costs now, not after five minutes'],
  ['DELETE /control', 'back to normal'],
  ['GET /healthz', 'health check'],
];

export const helpPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Provider simulator</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0 0 2rem; width: 100%; }
td { border-bottom: 1px solid #8884; padding: .35rem .8rem .35rem 0; vertical-align: top; }
td:first-child { font-family: ui-monospace, monospace; white-space: nowrap; width: 12rem; }
</style>
<h1>Provider simulator</h1>
<p>Simulates providers with the reseller-software protocol (GET). Every username is a separate provider. The sign is
md5(username + secret + ref_id), or HMAC-SHA256(secret, username|code|customer|ref_id) in hex.</p>
<h2>Endings of customer numbers</h2>
${table(endings)}
<h2>Paths</h2>
${table(paths)}
<p><a href="log">Executions</a> · <a href="control">Current behaviour</a></p>
</html>
`;

function table(rows: [string, string][]): string {
  const cells = rows.map(
    ([name, meaning]) => `<tr><td>${escapeHtml(name)}</td><td>${escapeHtml(meaning)}</td></tr>`,
  );
  return `<table>${cells.join('')}</table>`;
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
