import type { RequestHandler } from 'express';
import {
  countAttention,
  countBacklog,
  countMax,
  listDeadDeliveries,
  type Attention,
  type Backlog,
} from '../../operations/attention.js';
import { listCases } from '../../transactions/resolve-case.js';
import type { ReconciliationCase } from '../../transactions/case.model.js';
import { listDeposits } from '../../wallets/list-deposits.js';
import type { Deposit } from '../../wallets/deposit.model.js';
import type { Delivery } from '../../webhooks/delivery.model.js';
import { html, type Html } from './html.js';
import { sendPage } from './page.js';
import { sessionOf } from './session.js';

const rowsShown = 20;
/** Work that nobody has done for so long is shown as late. */
const lateMs = 60_000;

/** `/admin`: what needs a person, and where to look. It changes nothing; the commands to do so are named. */
export const showStart: RequestHandler = async (_request, response) => {
  const { operator, csrf } = sessionOf(response);
  const [attention, backlog, cases, deposits, dead] = await Promise.all([
    countAttention(),
    countBacklog(lateMs),
    listCases({ open: true, limit: rowsShown }),
    listDeposits({ status: 'pending', limit: rowsShown }),
    listDeadDeliveries(rowsShown),
  ]);
  sendPage(response, {
    title: 'Start',
    session: { operator, csrf },
    body: html`<main>
      <h1>What needs attention</h1>
      ${tiles(attention, backlog)} ${caseTable(cases)} ${depositTable(deposits)} ${deliveryTable(dead)}
      <h2>Where to look</h2>
      <ul>
        <li><a href="/admin/queues">Queues</a>: work that waits, runs, or failed</li>
        <li><a href="/readyz">Readiness</a>: do MongoDB and Redis answer</li>
        <li><code>npm run topup -- doctor</code>: checks of the whole system, with what to do</li>
        <li><code>npm run topup -- ledger verify</code>: does every rupiah add up</li>
      </ul>
    </main>`,
  });
};

function tiles(attention: Attention, backlog: Backlog): Html {
  const late = backlog.purchases + backlog.deliveries + backlog.postings;
  return html`<div class="tiles">
    ${tile(attention.openCases, 'open cases', 'topup case list')}
    ${tile(attention.reviews, 'purchases to decide', 'topup review list')}
    ${tile(attention.deadDeliveries, 'webhooks given up (7 days)', 'see below')}
    ${tile(attention.pendingDeposits, 'deposits to confirm', 'topup deposit list')}
    ${tile(attention.settlements, 'settlements to decide', 'topup settlement list')}
    ${tile(late, 'pieces of work over a minute late', 'topup doctor')}
  </div>`;
}

function tile(count: number, what: string, command: string): Html {
  const shown = count >= countMax ? `${countMax}+` : String(count);
  return html`<div class="card tile ${count > 0 ? 'alarm' : ''}">
    <b>${shown}</b>${what}<br /><code>${command}</code>
  </div>`;
}

function caseTable(cases: ReconciliationCase[]): Html {
  if (cases.length === 0) {
    return html``;
  }
  const rows = cases.map(
    (each) =>
      html`<tr>
        <td class="time">${minute(each.createdAt)}</td>
        <td>${each.kind}</td>
        <td>${each.detail}<br /><code>topup transaction show ${each.transactionId}</code></td>
        <td><code>topup case resolve ${each._id} --reason …</code></td>
      </tr>`,
  );
  return html`<h2>Open cases</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>since</th>
            <th>kind</th>
            <th>what</th>
            <th>when done</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function depositTable(deposits: Deposit[]): Html {
  if (deposits.length === 0) {
    return html``;
  }
  const rows = deposits.map(
    (each) =>
      html`<tr>
        <td class="time">${minute(each.createdAt)}</td>
        <td>${each.refId}</td>
        <td class="number">Rp ${each.amount.toLocaleString('id-ID')}</td>
        <td><code>topup deposit confirm ${each._id} --reason …</code></td>
      </tr>`,
  );
  return html`<h2>Deposits to confirm</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>since</th>
            <th>ref_id</th>
            <th class="number">amount</th>
            <th>once the money is there</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function deliveryTable(deliveries: Delivery[]): Html {
  const rows = deliveries.map(
    (each) =>
      html`<tr>
        <td class="time">${each.settledAt ? minute(each.settledAt) : ''}</td>
        <td>${each.event}</td>
        <td>${each.url}<br />${each.attempts.at(-1)?.error ?? ''}</td>
        <td>
          ${each.orderKey === null ? html`` : html`<code>topup transaction show ${each.orderKey}</code>`}
        </td>
      </tr>`,
  );
  return rows.length === 0
    ? html``
    : html`<h2>Webhooks given up</h2>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>since</th>
                <th>event</th>
                <th>where and why</th>
                <th></th>
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
        </div>`;
}

/** `2026-11-21 12:35 UTC` */
function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
