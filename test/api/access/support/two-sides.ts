/**
 * Two buyers and two sellers, each with transactions, bills, reports, settlements and deliveries.
 */
import { getReceiverId } from '../../../../src/webhooks/new-delivery.js';
import { healthyState } from '../../../../src/webhooks/receivers/receiver-health.js';
import type { Receiver } from '../../../../src/webhooks/receivers/receiver.model.js';
import { md5Sign, pathOf } from '../../support/reseller.js';
import { sendCall, type ApiCall } from '../../support/api.js';
import { uniqueRef, type Answer } from '../../../support/api-client.js';
import { eventually } from '../../../support/eventually.js';
import type { SeededAccount, Stack } from '../../../support/stack.js';

export interface Side {
  buyer: SeededAccount;
  seller: SeededAccount;
}

export const bill = { code: 'TELKOM', customer: '530000451267' };
const phone = '081298765432';
const bank_account = { bank_code: '014', account_number: '7788990011', account_name: 'CV Sisi Lain 77' };

/**
 * The identifiers of the other side. Each contains a digit, so that the test can change its digits
 * to get an unknown identifier.
 */
export type Identifiers = Awaited<ReturnType<typeof seedOtherSide>>;
export type IdentifierName = keyof Identifiers;

/** Gives our side money, a sale and a report. Returns the report id. */
export async function seedOwnSide(stack: Stack, { buyer, seller }: Side): Promise<string> {
  await post(stack, buyer, '/api/buyer/deposit', { amount: 500_000_000, ref_id: uniqueRef('own') });
  const product = await sell(stack, seller, { price: 50_000_000 });
  await buy(stack, buyer, { code: product, customer_number: '081211112222', ref_id: uniqueRef('own') });
  await eventually("the seller's balance has the sale", async () => {
    const { body } = await send(stack, { path: '/api/seller/balance', key: seller.api_key });
    return body.data.balance > 0;
  });
  // Use the same bill as the other side. Its name and amount come from the biller and are public.
  await post(stack, buyer, '/api/buyer/inquiry', { code: bill.code, customer_number: bill.customer });
  const report = await post(stack, buyer, '/api/buyer/reports', { type: 'transaction', format: 'csv' });
  return String(report.body.data.report_id);
}

/** Creates data of every kind for the other side. Returns their identifiers. */
export async function seedOtherSide(stack: Stack, { buyer, seller }: Side) {
  const refs = {
    depositRef: uniqueRef('deposit'),
    transactionRef: uniqueRef('buyer'),
    walletRef: uniqueRef('wallet'),
    resellerRef: uniqueRef('reseller'),
    paymentRef: uniqueRef('payment'),
    settlementRef: uniqueRef('settlement'),
  };
  const operator = uniqueRef('Operator');
  await post(stack, buyer, '/api/buyer/deposit', { amount: 7_654_321, ref_id: refs.depositRef });
  const activeProduct = await sell(stack, seller, { price: 1_012_345 });
  const inactiveProduct = await sell(stack, seller, { price: 1_098_765, status: 'inactive', operator });
  const order = { code: activeProduct, customer_number: phone };
  const transaction = await buy(stack, buyer, { ...order, ref_id: refs.transactionRef });
  const wallet = await post(stack, buyer, '/v1/transactions', {
    product_code: activeProduct,
    destination: phone,
    ref_id: refs.walletRef,
  });
  await buyAsReseller(stack, buyer, { code: activeProduct, ref_id: refs.resellerRef });
  const customer = { code: bill.code, customer_number: bill.customer };
  const payment = await post(stack, buyer, '/api/buyer/payment', { ...customer, ref_id: refs.paymentRef });
  await post(stack, buyer, '/api/buyer/inquiry', customer);
  await waitUntilSettled(stack);
  const settlement = await post(stack, seller, '/api/seller/settlement/request', {
    amount: 61_234,
    bank_account,
    ref_id: refs.settlementRef,
  });
  await waitUntilSettled(stack);
  const report = await post(stack, buyer, '/api/buyer/reports', { type: 'transaction' });
  const csvReport = await post(stack, buyer, '/api/buyer/reports', { type: 'deposit', format: 'csv' });
  const sellerReport = await post(stack, seller, '/api/seller/reports', { type: 'sales' });
  const hookOf = (name: string) => ({
    url: `${stack.inbox.url}/hooks/${uniqueRef(name)}`,
    description: name,
  });
  const endpoint = await post(stack, buyer, '/api/buyer/webhooks', hookOf('buyers-2nd'));
  const sellerEndpoint = await post(stack, seller, '/api/seller/webhooks', hookOf('sellers-2nd'));
  await waitUntilSettled(stack);
  await disableReceiver(stack, buyer);
  await waitForRequestLog(stack, buyer);
  return {
    ...refs,
    ...(await findHiddenIdentifiers(stack, { buyer, seller })),
    activeProduct,
    inactiveProduct,
    operator,
    phone,
    customer: bill.customer,
    username: buyer.username,
    sellerName: seller.username,
    transaction,
    walletTransaction: String(wallet.body.data.id),
    payment: String(payment.body.data.transaction_id),
    settlement: String(settlement.body.data.settlement_id),
    report: String(report.body.data.report_id),
    csvReport: String(csvReport.body.data.report_id),
    sellerReport: String(sellerReport.body.data.report_id),
    endpoint: String(endpoint.body.data.id),
    sellerEndpoint: String(sellerEndpoint.body.data.id),
    sellerEndpointUrl: String(sellerEndpoint.body.data.url),
    accountNumber: bank_account.account_number,
    accountName: bank_account.account_name,
  };
}

/**
 * Waits until the request log contains every earlier call. The log is written in batches after the
 * responses.
 */
async function waitForRequestLog(stack: Stack, buyer: SeededAccount): Promise<void> {
  const last = uniqueRef('last');
  const headers = { 'x-request-id': last };
  await send(stack, { method: 'POST', path: '/api/buyer/balance', key: buyer.api_key, headers });
  await eventually('the request log has the last call', () =>
    stack.db.collection('requestLog').findOne({ requestId: last }),
  );
}

/**
 * Creates the state after an outage of the receiver: the endpoint is disabled, one delivery is due
 * and one is held.
 */
async function disableReceiver({ db }: Stack, buyer: SeededAccount): Promise<void> {
  const account = await db.collection('accounts').findOne({ username: buyer.username });
  const mine = { accountId: String(account?._id), state: 'delivered' };
  const waits = { state: 'due', nextAttemptAt: new Date(Date.now() + 3_600_000), settledAt: null };
  await db.collection('deliveries').updateOne(mine, { $set: waits });
  await db.collection('deliveries').updateOne(mine, { $set: { state: 'held' } });
  const url = String(account?.['webhookUrl']);
  const receiver: Receiver = {
    ...healthyState,
    _id: getReceiverId(mine.accountId, url),
    accountId: mine.accountId,
    address: url,
    disabledAt: new Date(),
    disabledBecause: 'gone',
    slowUntil: null,
  };
  await db.collection<Receiver>('webhookReceivers').insertOne(receiver);
}

/** Returns identifiers that are stored but that the API never shows. */
async function findHiddenIdentifiers({ db }: Stack, { buyer, seller }: Side) {
  const one = async (collection: string, filter: object): Promise<Record<string, unknown>> => {
    const found = await db.collection(collection).findOne(filter);
    if (!found) {
      throw new Error(`The other side has nothing in ${collection}`);
    }
    return found;
  };
  const account = await one('accounts', { username: buyer.username });
  const sellerAccount = await one('accounts', { username: seller.username });
  const [mine, its] = [{ accountId: account['_id'] }, { accountId: sellerAccount['_id'] }];
  return {
    account: String(account['_id']),
    sellerAccount: String(sellerAccount['_id']),
    webhookUrl: String(account['webhookUrl']),
    sellerWebhookUrl: String(sellerAccount['webhookUrl']),
    key: String((await one('apiKeys', mine))['_id']),
    deposit: String((await one('deposits', mine))['_id']),
    quote: String((await one('quotes', { ...mine, usedBy: null }))['_id']),
    delivery: String((await one('deliveries', { ...mine, state: 'delivered' }))['_id']),
    sellerDelivery: String((await one('deliveries', { ...its, state: 'delivered' }))['_id']),
    serialNumber: String((await one('transactions', { ...mine, status: 'SUCCESS' }))['serialNumber']),
  };
}

/** Waits until no purchase, seller credit, webhook or payout is pending. */
async function waitUntilSettled({ db }: Stack): Promise<void> {
  await eventually('nothing is pending', async () => {
    const underWay = await Promise.all([
      db.collection('transactions').countDocuments({ status: { $in: ['PENDING', 'PROCESSING'] } }),
      db.collection('sellerCredits').countDocuments({ status: 'new' }),
      db.collection('deliveries').countDocuments({ state: 'due' }),
      db.collection('settlements').countDocuments({ status: { $in: ['pending', 'processing'] } }),
    ]);
    return underWay.every((count) => count === 0);
  });
}

async function sell(
  stack: Stack,
  seller: SeededAccount,
  over: { price: number; status?: string; operator?: string },
): Promise<string> {
  const code = uniqueRef('P').slice(0, 50);
  const product = { code, name: `Voucher ${code}`, category: 'prabayar', subcategory: `voucher-${code}` };
  await post(stack, seller, '/api/seller/products', { ...product, ...over });
  return code;
}

async function buy(stack: Stack, buyer: SeededAccount, order: object): Promise<string> {
  const path = '/api/buyer/transaction';
  const answer = await eventually('the product is on sale', async () => {
    const tried = await send(stack, { path, key: buyer.api_key, body: order });
    return tried.status === 200 ? tried : null;
  });
  return String(answer.body.data.transaction_id);
}

async function buyAsReseller(
  stack: Stack,
  { username, api_key: key }: SeededAccount,
  order: { code: string; ref_id: string },
) {
  const sign = md5Sign({ username, key }, order.ref_id);
  const { body } = await send(stack, {
    path: pathOf('request', { username, sign, customer: phone, ...order }),
  });
  if (body.status !== '00') {
    throw new Error(`The reseller request was refused: ${JSON.stringify(body)}`);
  }
}

/**
 * Sends the call.
 * @throws Error unless it succeeds. Incomplete seed data would make the tests meaningless.
 */
async function post(stack: Stack, by: SeededAccount, path: string, body: object): Promise<Answer> {
  const answer = await send(stack, { path, key: by.api_key, body });
  if (![200, 201].includes(answer.status)) {
    throw new Error(`${path} was refused: ${JSON.stringify(answer.body)}`);
  }
  return answer;
}

function send({ baseUrl }: Stack, call: ApiCall): Promise<Answer> {
  return sendCall(baseUrl, call);
}
