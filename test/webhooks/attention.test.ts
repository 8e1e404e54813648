import { expect } from 'chai';
import { countAttention, countBacklog } from '../../src/doctor/attention.js';
import { newId } from '../../src/shared/ids.js';
import { deliveries, type Delivery, type DeliveryEvent } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery } from '../../src/webhooks/new-delivery.js';
import { receivers } from '../../src/webhooks/receivers/receiver.model.js';
import { useDatabase } from './support/database.js';

const minuteMs = 60_000;

describe("webhooks on the operator's attention list", () => {
  useDatabase();
  // Counts stop at a thousand, and earlier test files may have left rows. So delete these first.
  before(() => deliveries.deleteMany({ state: { $in: ['due', 'dead'] } }));

  function row(event: DeliveryEvent, over: Partial<Delivery> = {}): Delivery {
    const made = buildDelivery({
      id: newId(),
      accountId: newId(),
      channel: 'webhook',
      url: `https://shop.example/${newId()}`,
      event,
      payload: {},
    });
    return { ...made, ...over };
  }

  it('a delivery behind an open circuit breaker is late only after the breaker closes', async () => {
    const late = row('transaction.success', { nextAttemptAt: new Date(Date.now() - 10 * minuteMs) });
    const before = await countBacklog(minuteMs);
    await deliveries.insertOne(late);
    expect((await countBacklog(minuteMs)).deliveries).to.equal(before.deliveries + 1);
    const openedUntil = (openUntil: Date) =>
      receivers.updateOne(
        { _id: late.receiverId },
        {
          $set: { openUntil },
          $setOnInsert: {
            accountId: late.accountId,
            address: late.url,
            failures: 5,
            timeouts: 5,
            openMs: minuteMs,
            failingSince: null,
            warnedAt: null,
            disabledAt: null,
            disabledBecause: null,
            slowUntil: null,
          },
        },
        { upsert: true },
      );
    await openedUntil(new Date(Date.now() + minuteMs));
    expect((await countBacklog(minuteMs)).deliveries).to.equal(before.deliveries);
    await openedUntil(new Date(Date.now() - 2 * minuteMs));
    expect((await countBacklog(minuteMs)).deliveries).to.equal(before.deliveries + 1);
    await deliveries.deleteOne({ _id: late._id });
  });

  it('a failed test event is not counted as a dead delivery', async () => {
    const before = await countAttention();
    const dead = { state: 'dead' as const, nextAttemptAt: null, settledAt: new Date() };
    await deliveries.insertMany([row('ping', dead), row('transaction.success', dead)]);
    expect((await countAttention()).deadDeliveries).to.equal(before.deadDeliveries + 1);
  });
});
