/**
 * For cache-outage.long.test.ts: raises a price on a message and dies between the write and its
 * invalidation.
 */
import { connectMongo } from '../../src/database/mongo.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { connectRedis } from '../../src/redis/connection.js';

const code = process.env['PRODUCT_CODE'] ?? '';
await Promise.all([connectMongo(), connectRedis()]);
await writeAndInvalidate([OfferModel], [code], async (offers) => {
  const messageReceived = new Promise((resolve) => process.once('message', resolve));
  process.send?.('begun');
  await messageReceived;
  await offers.updateMany({ productCode: code }, { $set: { price: 20_000 } });
  process.kill(process.pid, 'SIGKILL');
});
