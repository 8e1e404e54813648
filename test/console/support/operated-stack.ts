/**
 * A stack with a purchase in every state that operators handle, and with operators who can log in.
 */
import { randomUUID } from 'node:crypto';
import type { Account } from '../../../src/accounts/account.model.js';
import type { FailingJob } from '../../../src/jobs/failing-job.model.js';
import type { Operator } from '../../../src/operators/operator.model.js';
import { hashNewPassword } from '../../../src/operators/password.js';
import type { OperatorRole } from '../../../src/operators/rights.js';
import type { ReconciliationCase } from '../../../src/purchases/case.model.js';
import { generateReportJob } from '../../../src/reports/report-queue.js';
import { newId } from '../../../src/shared/ids.js';
import type { Receiver } from '../../../src/webhooks/receivers/receiver.model.js';
import { listUrlTargets } from '../../../src/webhooks/replay/replay-deliveries.js';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { topup } from '../../support/topup.js';
import { startStack, type SeededAccount, type Stack } from '../../support/stack.js';

export const password = 'correct horse battery staple';

export interface OperatedStack {
  stack: Stack;
  accounts: Record<string, SeededAccount>;
  buyer: ApiClient;
  /** Creates an operator with this role. Returns the username. */
  addOperator(role: OperatorRole): Promise<string>;
  /** Creates a successful purchase. */
  buySuccessfully(): Promise<string>;
  /**
   * Creates a purchase whose provider gave no definite result in time, so that it is under review.
   */
  buyUnderReview(): Promise<string>;
  /** Requests a deposit that stays pending. */
  askForDeposit(amount: number): Promise<{ id: string; refId: string }>;
  /** Requests a settlement for `seller`. Returns its id. */
  askForSettlement(asked: { amount: number; accountNumber: string }): Promise<string>;
  /** Disables the account's webhook URL, as happens after days of failures. */
  disableReceiverOf(username: string): Promise<void>;
  /** Opens a case about a transaction that does not exist. */
  addOpenCase(detail: string): Promise<string>;
  /** Stores a job that failed repeatedly and is no longer retried. Returns its id. */
  addUnreadableJob(): Promise<string>;
  purchaseOf(id: string): Promise<StoredPurchase | null>;
}

export interface StoredPurchase {
  _id: string;
  accountId: string;
  refId: string;
  status: string;
  price: number;
  sellerId: string | null;
  serialNumber: string | null;
  customerNumber: string;
  reviewSince: Date | null;
  createdAt: Date;
}

/**
 * Starts the stack.
 * @param env Additional settings for all its processes.
 */
export async function startOperatedStack(env: NodeJS.ProcessEnv = {}): Promise<OperatedStack> {
  const stack = await startStack({
    workers: ['fulfilment', 'follow-up', 'webhooks', 'sellers', 'settlements'],
    env: {
      TRUST_PROXY: '1',
      UNKNOWN_REVIEW_AFTER: '1000',
      DEPOSIT_MODE: 'confirm',
      PAYOUT_MODE: 'manual',
      ...env,
    },
  });
  const accounts = await stack.seed();
  const buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
  const seller = apiClient(stack.baseUrl, accounts['seller']?.api_key ?? '');
  await stack.simulator.control({ pending_ms: 600_000 });
  const purchases = stack.db.collection<StoredPurchase>('transactions');
  const purchaseOf = (id: string) => purchases.findOne({ _id: id });
  const depositsOf = stack.db.collection<{ _id: string; refId: string }>('deposits');
  let bought = 0;

  async function askForDeposit(amount: number): Promise<{ id: string; refId: string }> {
    const refId = uniqueRef('deposit');
    await buyer.post('/api/buyer/deposit', { amount, ref_id: refId });
    return { id: (await depositsOf.findOne({ refId }))?._id ?? '', refId };
  }
  const first = await askForDeposit(50_000_000);
  await topup(['deposit', 'confirm', first.id, '--reason', 'to buy with'], stack.env);
  await topup(['adjust', 'seller', '900000', '--reason', 'to withdraw'], stack.env);

  async function buy(ending: string): Promise<string> {
    const answer = await buyer.post('/v1/transactions', {
      product_code: 'S10',
      destination: `0812${String((bought += 1)).padStart(4, '0')}${ending}`,
      ref_id: uniqueRef('console'),
    });
    return answer.body.data.id as string;
  }
  return {
    stack,
    accounts,
    buyer,
    purchaseOf,
    askForDeposit,
    async askForSettlement({ amount, accountNumber }) {
      const answer = await seller.post('/api/seller/settlement/request', {
        amount,
        bank_account: { bank_code: '014', account_number: accountNumber, account_name: 'PT Pulsa Jaya' },
      });
      return answer.body.data.settlement_id as string;
    },
    async addOperator(role) {
      const username = `${role}-${randomUUID().slice(0, 8)}`;
      const at = new Date();
      await stack.db.collection<Operator>('operators').insertOne({
        _id: newId(),
        username,
        role,
        passwordHash: await hashNewPassword(password),
        passwordChangedAt: at,
        sessionEpoch: 0,
        createdAt: at,
      });
      return username;
    },
    async buySuccessfully() {
      const id = await buy('1230');
      await eventually('it is sold', async () => (await purchaseOf(id))?.status === 'SUCCESS', 30_000);
      return id;
    },
    async buyUnderReview() {
      const id = await buy('1233');
      await eventually('the review is open', async () => (await purchaseOf(id))?.reviewSince, 30_000);
      return id;
    },
    async addUnreadableJob() {
      const subject = newId();
      const at = new Date();
      const { name, queue, version } = generateReportJob;
      const failing: FailingJob = {
        _id: `${name}:${subject}`,
        queue: queue.name,
        job: name,
        subject,
        rounds: 6,
        payload: { v: version, reportId: subject, accountId: newId() },
        reason: 'Error: made up',
        failures: [{ at, reason: 'Error: made up' }],
        firstAt: at,
        lastAt: at,
        needsPersonSince: at,
      };
      await stack.db.collection<FailingJob>('failingJobs').insertOne(failing);
      return failing._id;
    },
    async disableReceiverOf(username) {
      const account = await stack.db.collection<Account>('accounts').findOne({ username });
      const target = account && listUrlTargets(account)[0]?.target;
      if (!account || !target) {
        throw new Error(`${username} has no URL`);
      }
      const at = new Date();
      const disabled: Omit<Receiver, '_id'> = {
        accountId: account._id,
        address: new URL(target.url).origin,
        failures: 40,
        timeouts: 0,
        failingSince: at,
        warnedAt: at,
        disabledAt: at,
        disabledBecause: 'failing',
        openUntil: null,
        openMs: 0,
        slowUntil: null,
      };
      await stack.db
        .collection<Receiver>('webhookReceivers')
        .updateOne({ _id: target.receiverId }, { $set: disabled }, { upsert: true });
    },
    async addOpenCase(detail) {
      const id = newId();
      await stack.db.collection<ReconciliationCase>('cases').insertOne({
        _id: id,
        transactionId: newId(),
        kind: 'reversal',
        detail,
        createdAt: new Date(),
        resolvedAt: null,
      });
      return id;
    },
  };
}
