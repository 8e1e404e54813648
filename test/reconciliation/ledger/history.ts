import { expect } from 'chai';
import type { Document } from 'mongodb';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { topup } from '../../support/topup.js';

/** The ids of one document for each kind and state. */
export interface Ids {
  buyerId: string;
  /** The buyer whose only movement is a deposit of 50,000 rupiah. */
  idleId: string;
  sellerId: string;
  success: string;
  failed: string;
  reversed: string;
  /** A purchase under review. */
  review: string;
  /** A PROCESSING purchase. The outcome of its order is unknown. */
  processing: string;
  /** A PENDING purchase without an order. */
  open: string;
  /** A successful purchase whose seller credit is not posted yet. */
  unposted: string;
  /** A paid bill. */
  bill: string;
  /** The quote of the paid bill. */
  quote: string;
  /** An unpaid quote. */
  openQuote: string;
  deposit: string;
  idleDeposit: string;
  pendingDeposit: string;
  posting: string;
  paidOut: string;
  returned: string;
  /** An adjustment that waits for approval. */
  waiting: string;
}

export interface History {
  stack: Stack;
  buyer: ApiClient;
  ids: Ids;
}

const settings = {
  DEPOSIT_MODE: 'confirm',
  SETTLEMENT_NEW_ACCOUNT_REVIEW: 'true',
  UNKNOWN_REVIEW_AFTER: '1000',
};
const price = 500_025;

/**
 * Creates, through the service, a history with every state of every document. All workers are
 * stopped at the end.
 */
export async function makeHistory(): Promise<History> {
  const stack = await startStack({ env: settings });
  const accounts = await stack.seed();
  const clientOf = (username: string) => apiClient(stack.baseUrl, accounts[username]?.api_key ?? '');
  const buyer = clientOf('buyer');
  const worker = await stack.startWorker('all');
  const deposits = await playDeposits(stack, { buyer, idle: clientOf('buyer2') });
  const code = await putOnSale(clientOf('seller'));
  const sold = await playSales(stack, buyer, code);
  const bills = await playBills(stack, buyer);
  const settlements = await playSettlements(stack, clientOf('seller'));
  await operate(stack, ['review', 'reverse', sold.reversed]);
  await postingOf(stack, `${sold.reversed}-reversal`);
  await worker.stop();
  const open = await playOpen(stack, buyer, code);
  const [bought, credit, idle] = await Promise.all([
    find(stack, 'transactions', { _id: sold.success }),
    find(stack, 'sellerCredits', { _id: sold.success }),
    find(stack, 'deposits', { _id: deposits.idleDeposit }),
  ]);
  const ids = {
    ...deposits,
    ...sold,
    ...bills,
    ...settlements,
    ...open,
    buyerId: String(bought['accountId']),
    idleId: String(idle['accountId']),
    sellerId: String(bought['sellerId']),
    posting: String(credit['postingId']),
  };
  return { stack, buyer, ids };
}

async function playDeposits(stack: Stack, { buyer, idle }: { buyer: ApiClient; idle: ApiClient }) {
  const ask = async (client: ApiClient, amount: number) => {
    const refId = uniqueRef();
    await client.post('/api/buyer/deposit', { amount, ref_id: refId });
    return String((await find(stack, 'deposits', { refId }))._id);
  };
  const deposit = await ask(buyer, 20_000_000);
  const idleDeposit = await ask(idle, 50_000);
  await operate(stack, ['deposit', 'confirm', deposit]);
  await operate(stack, ['deposit', 'confirm', idleDeposit]);
  return { deposit, idleDeposit, pendingDeposit: await ask(buyer, 70_000) };
}

async function putOnSale(seller: ApiClient): Promise<string> {
  const code = uniqueRef('P').slice(0, 50);
  const product = { code, name: 'Voucher', category: 'prabayar', subcategory: 'voucher', price };
  expect((await seller.post('/api/seller/products', product)).status).to.equal(201);
  return code;
}

async function playSales(stack: Stack, buyer: ApiClient, code: string) {
  const success = await buy(buyer, code, '1230');
  const reversed = await buy(buyer, code, '1230');
  const failed = await buy(buyer, 'S10', '1232');
  const review = await buy(buyer, 'S10', '1233');
  await find(stack, 'transactions', { _id: success, status: 'SUCCESS' });
  await find(stack, 'transactions', { _id: reversed, status: 'SUCCESS' });
  await find(stack, 'transactions', { _id: failed, status: 'FAILED' });
  await find(stack, 'transactions', { _id: review, reviewSince: { $type: 'date' } });
  await postingOf(stack, success);
  await postingOf(stack, reversed);
  return { success, reversed, failed, review };
}

async function playBills(stack: Stack, buyer: ApiClient) {
  const bill = { code: 'PLNPOST', customer_number: '12345671240' };
  expect((await buyer.post('/api/buyer/inquiry', bill)).status).to.equal(200);
  const paid = await buyer.post('/api/buyer/payment', { ...bill, ref_id: uniqueRef() });
  const id = String(paid.body.data.transaction_id);
  const purchase = await find(stack, 'transactions', { _id: id, status: 'SUCCESS' });
  const other = { code: 'PLNPOST', customer_number: '12345681240' };
  expect((await buyer.post('/api/buyer/inquiry', other)).status).to.equal(200);
  const openQuote = await find(stack, 'quotes', { customerNumber: other.customer_number });
  await postingOf(stack, id);
  return { bill: id, quote: String(purchase['quoteId']), openQuote: String(openQuote._id) };
}

async function playSettlements(stack: Stack, seller: ApiClient) {
  const ask = async (accountNumber: string, amount: number) => {
    const bank_account = { bank_code: '014', account_number: accountNumber, account_name: 'PT Pulsa Jaya' };
    const body = { amount, bank_account, ref_id: uniqueRef() };
    const { body: answer } = await seller.post('/api/seller/settlement/request', body);
    return String(answer.data.settlement_id);
  };
  const paidOut = await ask('1234567890', 60_000);
  await operate(stack, ['settlement', 'approve', paidOut]);
  await find(stack, 'settlements', { _id: paidOut, status: 'completed' });
  const returned = await ask('2234567890', 70_000);
  await operate(stack, ['settlement', 'fail', returned]);
  return { paidOut, returned, waiting: await ask('3234567890', 80_000) };
}

/**
 * Creates the open purchases. Only the fulfilment worker runs, and no worker for the last purchase.
 */
async function playOpen(stack: Stack, buyer: ApiClient, code: string) {
  const fulfilment = await stack.startWorker('fulfilment');
  const processing = await buy(buyer, 'S10', '1233');
  const unposted = await buy(buyer, code, '1230');
  await find(stack, 'attempts', { transactionId: processing, status: 'UNKNOWN' });
  await find(stack, 'transactions', { _id: unposted, status: 'SUCCESS' });
  await fulfilment.stop();
  return { processing, unposted, open: await buy(buyer, 'S10', '7890') };
}

export async function buy(buyer: ApiClient, code: string, ending: string): Promise<string> {
  const { status, body } = await buyer.post('/api/buyer/transaction', {
    code,
    customer_number: `08123456${ending}`,
    ref_id: uniqueRef(),
  });
  expect(status, JSON.stringify(body)).to.equal(200);
  return String(body.data.transaction_id);
}

function postingOf(stack: Stack, creditId: string): Promise<Document> {
  return find(stack, 'sellerCredits', { _id: creditId, status: 'posted' });
}

function find(stack: Stack, collection: string, filter: Document): Promise<Document> {
  return eventually(
    `${collection} ${JSON.stringify(filter)}`,
    () => stack.db.collection(collection).findOne(filter),
    60_000,
  );
}

async function operate(stack: Stack, args: string[]): Promise<void> {
  const { code, stderr } = await topup([...args, '--reason', 'As agreed'], stack.env);
  expect(code, stderr).to.equal(0);
}
