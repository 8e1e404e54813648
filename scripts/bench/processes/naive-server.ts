/**
 * The naive yardstick, built with common libraries: Express, joi, mongoose documents and one
 * transaction per purchase.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import Joi from 'joi';
import mongoose, { Schema } from 'mongoose';
import { hashOf, openBareShop, type BareShop } from './bare-shop.js';
import { product, openingBalance } from '../support/bench-product.js';

const bodySchema = Joi.object<{ code: string; customer_number: string; ref_id: string }>({
  code: Joi.string().max(50).required(),
  customer_number: Joi.string()
    .pattern(/^08\d{8,11}$/)
    .required(),
  ref_id: Joi.string().max(64).required(),
});

const Wallet = mongoose.model(
  'NaiveWallet',
  new Schema({ _id: String, balance: Number, seq: Number }),
  'wallets',
);
const Account = mongoose.model(
  'NaiveAccount',
  new Schema({ _id: String, keyHash: { type: String, index: true } }),
  'accounts',
);
const Product = mongoose.model(
  'NaiveProduct',
  new Schema({ _id: String, name: String, price: Number }),
  'products',
);
const Transaction = mongoose.model(
  'NaiveTransaction',
  new Schema(
    {
      _id: String,
      accountId: String,
      refId: String,
      surface: String,
      kind: String,
      productCode: String,
      productName: String,
      customerNumber: String,
      price: Number,
      status: String,
      serialNumber: String,
    },
    { timestamps: true },
  )
    .index({ accountId: 1, refId: 1 }, { unique: true })
    .index({ accountId: 1, createdAt: -1 }),
  'transactions',
);
const Journal = mongoose.model(
  'NaiveJournal',
  new Schema(
    {
      kind: String,
      subjectId: String,
      walletId: String,
      walletSeq: Number,
      balanceAfter: Number,
      lines: [{ account: String, amount: Number }],
    },
    { timestamps: true },
  ).index({ subjectId: 1, kind: 1 }, { unique: true }),
  'journals',
);

export async function serveNaive(args: string[]): Promise<void> {
  const shop = await openBareShop(args, { fresh: true });
  await mongoose.connect(args[0] ?? '', { maxPoolSize: 100, writeConcern: { w: 'majority' } });
  await Promise.all([Account, Product, Transaction, Journal].map((model) => model.init()));
  await Account.insertMany(shop.buyers.map(({ id, key }) => ({ _id: id, keyHash: hashOf(key) })));
  await Wallet.updateMany({}, { $set: { balance: openingBalance, seq: 0 } });
  await Product.create({ _id: product.code, name: product.name, price: product.price });
  const app = express();
  app.use(express.json());
  app.post('/api/buyer/transaction', (request, response) => buy(shop, request, response));
  const server = createServer(app);
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ ready: true, port: (server.address() as AddressInfo).port }),
  );
  process.on('SIGTERM', () => process.exit(0));
}

async function buy({ queue }: BareShop, request: Request, response: Response): Promise<void> {
  const checked = bodySchema.validate(request.body);
  if (checked.error) {
    response.status(400).json({ status: 'error', message: checked.error.message });

    return;
  }
  const { value } = checked;
  const key = (request.get('authorization') ?? '').slice('Bearer '.length);
  const account = await Account.findOne({ keyHash: hashOf(key) });
  const found = await Product.findById(value.code);
  if (!account || !found) {
    response.status(account ? 404 : 401).json({ status: 'error' });
    return;
  }
  const _id = randomUUID();
  const price = found.price ?? 0;
  await mongoose.connection.transaction(async (session) => {
    const wallet = await Wallet.findOneAndUpdate(
      { _id: account._id, balance: { $gte: price } },
      { $inc: { balance: -price, seq: 1 } },
      { session, returnDocument: 'after' },
    );
    if (!wallet) {
      throw new Error('insufficient');
    }
    const accountId = String(account._id);
    const bought = {
      productCode: value.code,
      productName: found.name ?? '',
      customerNumber: value.customer_number,
      price,
    };
    const head = {
      _id,
      accountId,
      refId: value.ref_id,
      surface: 'buyer',
      kind: 'prepaid',
      status: 'PENDING',
    };
    await Transaction.create([{ ...head, ...bought }], { session });
    const lines = [
      { account: `wallet:${accountId}`, amount: -price },
      { account: 'platform:suspense', amount: price },
    ];
    const after = { walletId: accountId, walletSeq: wallet.seq ?? 0, balanceAfter: wallet.balance ?? 0 };
    await Journal.create([{ kind: 'purchase', subjectId: _id, ...after, lines }], { session });
  });
  await queue.add('fulfil', { transactionId: _id }, { jobId: `fulfil-${_id}` });
  const data = { transaction_id: _id, ref_id: value.ref_id, status: 'pending', price };
  response.json({ status: 'success', code: '00', data });
}
