import { withoutUrlSecrets } from '../shared/mask.js';
import {
  countAttention,
  countBacklog,
  countShown,
  listDeadDeliveries,
  listFailingJobs,
  type Attention,
  type Backlog,
} from '../doctor/attention.js';
import { listReviews, type Review } from '../purchases/review/list-reviews.js';
import { listCases } from '../purchases/review/resolve-case.js';
import type { ReconciliationCase } from '../purchases/case.model.js';
import type { FailingJob } from '../jobs/failing-job.model.js';
import { listDeposits } from '../deposits/list-deposits.js';
import type { Deposit } from '../deposits/deposit.model.js';
import type { Delivery } from '../webhooks/delivery.model.js';
import type { ConsoleRoute } from './console-route.js';
import { html, type Html } from './html.js';
import { sendPage } from './page.js';
import { sessionOf } from './session.js';

const rowsShown = 20;
/** Work that nobody has done for so long is shown as late. */
const lateMs = 60_000;

/** `/admin`: what needs a person, and where to look. It changes nothing; the commands to do so are named. */
export const showStart: ConsoleRoute['handle'] = async (_request, response) => {
  const { operator, csrf } = sessionOf(response);
  const [attention, backlog, cases, reviews, deposits, dead, failing] = await Promise.all([
    countAttention(),
    countBacklog(lateMs),
    listCases({ open: true, limit: rowsShown }),
    listReviews({ limit: rowsShown }),
    listDeposits({ status: 'pending', limit: rowsShown }),
    listDeadDeliveries(rowsShown),
    listFailingJobs(rowsShown),
  ]);
  sendPage(response, {
    title: 'Start',
    session: { operator, csrf },
    body: html`<main>
      <h1>What needs attention</h1>
      ${tiles(attention, backlog)} ${caseTable(cases)} ${reviewTable(reviews)} ${depositTable(deposits)}
      ${deliveryTable(dead)} ${jobTable(failing)}
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
    ${tile(attention.disabledWebhooks, 'webhook URLs disabled (7 days)', 'topup account show')}
    ${tile(attention.pendingDeposits, 'deposits to confirm', 'topup deposit list')}
    ${tile(attention.settlements, 'settlements to decide', 'topup settlement list')}
    ${tile(attention.adjustments, 'adjustments to approve', 'topup adjust list')}
    ${tile(attention.failedReports, 'reports given up (7 days)', 'topup doctor')}
    ${tile(attention.failingJobs, 'jobs that fail again and again', 'topup job list')}
    ${tile(late, 'pieces of work over a minute late', 'topup doctor')}
  </div>`;
}

function tile(count: number, what: string, command: string): Html {
  return html`<div class="card tile ${count > 0 ? 'alarm' : ''}">
    <b>${countShown(count)}</b>${what}<br /><code>${command}</code>
  </div>`;
}

function caseTable(cases: ReconciliationCase[]): Html {
  return attentionTable('Open cases', ['since', 'kind', 'what', 'when done'], cases, (each) => [
    minute(each.createdAt),
    each.kind,
    html`${each.detail}<br /><code>${lookInto(each)}</code>`,
    html`<code>topup case resolve ${each._id} --reason …</code>`,
  ]);
}

function lookInto({ transactionId }: ReconciliationCase): string {
  return transactionId === null
    ? 'topup payments list --status case'
    : `topup transaction show ${transactionId}`;
}

function reviewTable(reviews: Review[]): Html {
  const heads = ['since', 'product', 'why', 'by the provider’s own record'];
  return attentionTable('Purchases to decide', heads, reviews, ({ purchase, decisions }) => [
    purchase.reviewSince ? minute(purchase.reviewSince) : '',
    purchase.productCode,
    html`${purchase.reviewReason ?? ''}<br /><code>topup transaction show ${purchase._id}</code>`,
    html`${decisions.map(
      (each) => html`<code>topup review resolve ${purchase._id} --as ${each} --reason …</code><br />`,
    )}`,
  ]);
}

function depositTable(deposits: Deposit[]): Html {
  const heads = ['since', 'ref_id', 'amount', 'once the money is there, or is known not to come'];
  return attentionTable('Deposits to confirm', heads, deposits, (each) => [
    minute(each.createdAt),
    each.refId,
    `Rp ${each.amount.toLocaleString('id-ID')}`,
    html`<code>topup deposit confirm ${each._id} --reason …</code><br /><code
        >topup deposit reject ${each._id} --reason …</code
      >`,
  ]);
}

function deliveryTable(deliveries: Delivery[]): Html {
  return attentionTable('Webhooks given up', ['since', 'event', 'where and why', ''], deliveries, (each) => [
    each.settledAt ? minute(each.settledAt) : '',
    each.event,
    html`${withoutUrlSecrets(each.url)}<br />${each.attempts.at(-1)?.error ?? ''}`,
    each.orderKey === null ? '' : html`<code>topup transaction show ${each.orderKey}</code>`,
  ]);
}

function jobTable(failing: FailingJob[]): Html {
  const heads = ['since', 'job', 'why', 'once it is mended'];
  return attentionTable('Jobs that fail again and again', heads, failing, (each) => [
    each.needsPersonSince ? minute(each.needsPersonSince) : '',
    each._id,
    each.reason,
    html`<code>topup job retry ${each._id} --reason …</code>`,
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
