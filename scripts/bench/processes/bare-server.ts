/**
 * Yardstick for purchases: node:http, one driver transaction (a guarded debit, two inserts) and one
 * job, without validation.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Long, MongoError, type ClientSession } from 'mongodb';
import { hashOf, openBareShop, type BareShop } from './bare-shop.js';
import { product } from '../support/bench-product.js';

interface Body {
  code: string;
  customer_number: string;
  ref_id: string;
}

export async function serveBare(args: string[]): Promise<void> {
  const shop = await openBareShop(args, { fresh: true });
  const idOf = new Map(shop.buyers.map(({ id, key }) => [hashOf(key), id]));
  const server = createServer((request, response) => {
    handleRequest(shop, idOf, request).then(
      (text) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
          .end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ ready: true, port: (server.address() as AddressInfo).port }),
  );
  process.on('SIGTERM', () => process.exit(0));
}

async function handleRequest(
  shop: BareShop,
  idOf: Map<string, string>,
  request: IncomingMessage,
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
  const accountId = idOf.get(hashOf((request.headers.authorization ?? '').slice('Bearer '.length))) ?? '';
  const _id = randomUUID();
  await inBareTransaction(shop, (session) => debit(shop, session, { _id, accountId, body }));
  await shop.queue.add('fulfil', { v: 1, transactionId: _id }, { jobId: `fulfil-${_id}` });
  return JSON.stringify({
    status: 'success',
    code: '00',
    data: { transaction_id: _id, ref_id: body.ref_id, status: 'pending', price: product.price },
  });
}

/** Retries transient errors as the driver's documentation recommends. */
export async function inBareTransaction(
  { client }: BareShop,
  work: (session: ClientSession) => Promise<void>,
): Promise<void> {
  for (;;) {
    const session = client.startSession();
    try {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      await work(session);
      await session.commitTransaction();
      return;
    } catch (error) {
      await session.abortTransaction().catch(() => undefined);
      if (!(error instanceof MongoError && error.hasErrorLabel('TransientTransactionError'))) {
        throw error;
      }
    } finally {
      await session.endSession();
    }
  }
}

async function debit(
  { wallets, transactions, journals }: BareShop,
  session: ClientSession,
  { _id, accountId, body }: { _id: string; accountId: string; body: Body },
): Promise<void> {
  const price = Long.fromNumber(product.price);
  const at = new Date();
  const wallet = await wallets.findOneAndUpdate(
    { _id: accountId, balance: { $gte: price } },
    { $inc: { balance: price.negate(), seq: Long.ONE } },
    { session, returnDocument: 'after' },
  );
  if (!wallet) {
    throw new Error('insufficient');
  }
  const transaction = {
    _id,
    accountId,
    refId: body.ref_id,
    surface: 'buyer',
    kind: 'prepaid',
    productCode: body.code,
    productName: product.name,
    subcategory: 'pulsa',
    customerNumber: body.customer_number,
    price,
    status: 'PENDING',
    version: 1,
    serialNumber: null,
    message: null,
    sellerId: null,
    epoch: 0,
    nextActionAt: at,
    createdAt: at,
    updatedAt: at,
    finalAt: null,
    delivered: false,
  };
  await transactions.insertOne(transaction, { session });
  const journal = {
    _id: randomUUID(),
    kind: 'purchase',
    subjectId: _id,
    walletId: accountId,
    walletSeq: wallet.seq,
    balanceAfter: wallet.balance,
    lines: [
      { account: `wallet:${accountId}`, amount: price.negate() },
      { account: 'platform:suspense', amount: price },
    ],
    createdAt: at,
  };
  await journals.insertOne(journal, { session });
}
