import type { RequestHandler } from 'express';
import {
  countAttention,
  countBacklog,
  countMax,
  listDeadDeliveries,
  type Attention,
  type Backlog,
} from '../doctor/attention.js';
import { listCases } from '../purchases/review/resolve-case.js';
import type { ReconciliationCase } from '../purchases/case.model.js';
import { listDeposits } from '../deposits/list-deposits.js';
import type { Deposit } from '../deposits/deposit.model.js';
import type { Delivery } from '../webhooks/delivery.model.js';
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
  return attentionTable('Open cases', ['since', 'kind', 'what', 'when done'], cases, (each) => [
    minute(each.createdAt),
    each.kind,
    html`${each.detail}<br /><code>topup transaction show ${each.transactionId}</code>`,
    html`<code>topup case resolve ${each._id} --reason …</code>`,
  ]);
}

function depositTable(deposits: Deposit[]): Html {
  const heads = ['since', 'ref_id', 'amount', 'once the money is there'];
  return attentionTable('Deposits to confirm', heads, deposits, (each) => [
    minute(each.createdAt),
    each.refId,
    `Rp ${each.amount.toLocaleString('id-ID')}`,
    html`<code>topup deposit confirm ${each._id} --reason …</code>`,
  ]);
}

function deliveryTable(deliveries: Delivery[]): Html {
  return attentionTable('Webhooks given up', ['since', 'event', 'where and why', ''], deliveries, (each) => [
    each.settledAt ? minute(each.settledAt) : '',
    each.event,
    html`${each.url}<br />${each.attempts.at(-1)?.error ?? ''}`,
    each.orderKey === null ? '' : html`<code>topup transaction show ${each.orderKey}</code>`,
  ]);
}

/** A table under a heading, or nothing where nothing needs attention. */
function attentionTable<Row>(
  title: string,
  heads: string[],
  rows: Row[],
  cellsOf: (row: Row) => (Html | string)[],
): Html {
  if (rows.length === 0) {
    return html``;
  }
  const shown = rows.map(
    (row) =>
      html`<tr>
        ${cellsOf(row).map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  );
  return html`<h2>${title}</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            ${heads.map((head) => html`<th>${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown}
        </tbody>
      </table>
    </div>`;
}

/** `2026-11-21 12:35 UTC` */
function minute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
