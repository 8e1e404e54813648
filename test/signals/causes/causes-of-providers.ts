/**
 * Causes of provider alarms: providers that refuse connections, hang, have an expired certificate
 * or are limited to a low rate.
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expiredCertificate } from '../../providers/expired-certificate.js';
import {
  addProduct,
  addSeller,
  waitUntilFinal,
  pointSeller,
  purchase,
} from '../../providers/provider-stack.js';
import { announceChange } from '../../support/announce-change.js';
import { eventually } from '../../support/eventually.js';
import { topup } from '../../support/topup.js';
import { ago, hourMs, type Cause, type Causes, type Scene } from './scene.js';

/** Number of orders. A circuit opens after twenty consecutive failures. */
const orders = 30;
const hangingSeller = 'hangs';
const risenCode = 'RISEN10';

export function causesOfProviders({ stack, buyer, rows, idOf }: Scene): Causes {
  let certified: Server | undefined;
  let aged: { id: string; createdAt: Date }[] = [];
  const secret = stack.simulator.secret;
  const simulated = (username: string) => ({ kind: 'simulator', baseUrl: null, username, secret }) as const;

  async function buyAt(sellerId: string, count: number): Promise<string[]> {
    const code = await addProduct(stack, [{ sellerId, price: 10_000 }]);
    return Promise.all(
      Array.from({ length: count }, (_, at) => purchase(buyer, code, `0812345670${10 + at}`)),
    );
  }
  /** Connects the seller to the simulator again, and closes its circuit through probes. */
  async function sellAgain(username: string): Promise<void> {
    await pointSeller(stack, username, simulated(username));
    await probe(await idOf(username));
  }
  /**
   * Buys until the circuit is closed. That takes three successful probes in a row, at most one a
   * second.
   */
  async function probe(sellerId: string): Promise<void> {
    await eventually('six probes succeed', () => buyAt(sellerId, 6).catch(() => null), 60_000);
  }
  const circuit = (how: string, username: string, baseUrl: () => Promise<string>): Cause => ({
    alarm: 'TopupProviderCircuitOpen',
    how,
    async begin() {
      const provider = { kind: 'h2h', baseUrl: await baseUrl(), username, secret: 'secret' } as const;
      await buyAt((await pointSeller(stack, username, provider)).id, orders);
    },
    end: () => sellAgain(username),
  });

  const ofAge = (alarm: string, how: string, index: 0 | 1, hours: number): Cause => ({
    alarm,
    how,
    begin: () => setAge(index, ago(hours * hourMs)),
    async end() {
      await waitUntilFinal(stack, aged[index]?.id ?? '', 60_000);
      await setAge(index, aged[index]?.createdAt ?? new Date());
    },
  });

  const causes: Cause[] = [
    {
      alarm: 'TopupProviderCircuitOpen',
      how: 'a provider that hangs',
      async begin() {
        await addSeller(stack, hangingSeller);
        const { id } = await pointSeller(stack, hangingSeller, simulated(hangingSeller));
        await stack.simulator.control({ providers: { [hangingSeller]: { latency_ms: 600_000 } } });
        aged = await Promise.all(
          (await buyAt(id, orders)).slice(0, 2).map(async (each) => {
            await eventually('the order is sent', () => rows('attempts').findOne({ transactionId: each }));
            const bought = await rows('transactions').findOne({ _id: each });
            return { id: each, createdAt: bought?.['createdAt'] as Date };
          }),
        );
      },
      async end() {
        await stack.simulator.control({ providers: { [hangingSeller]: null } });
        // In the sandbox, a purchase with an unknown outcome soon goes to review.
        for (const { _id } of await rows('transactions')
          .find({ reviewSince: { $type: 'date' } })
          .toArray()) {
          await topup(['review', 'resolve', _id, '--as', 'ask', '--reason', 'it answers again'], stack.env);
        }
        await probe(await idOf(hangingSeller));
      },
    },
    ofAge('TopupPurchasesOld', 'one of its orders, made two days older *', 0, 48),
    ofAge('TopupPurchasesHang', 'another, made two hours older *', 1, 2),
    circuit('a provider that refuses connections', 'seller3', () => Promise.resolve('http://127.0.0.1:1')),
    circuit('a provider whose certificate has expired', 'expired', async () => {
      await addSeller(stack, 'expired');
      certified = createServer(expiredCertificate, (_request, response) => response.end());
      await new Promise<void>((resolve) => certified?.listen(0, '127.0.0.1', resolve));
      return `https://localhost:${(certified.address() as AddressInfo).port}`;
    }),
    {
      alarm: 'TopupProviderFloatEnds',
      how: 'a float that fell to Rp 50.000 in ten minutes *',
      async begin() {
        // Insert samples from ten and five minutes ago.
        const subject = `provider:${await idOf('seller')}`;
        for (const [minutes, float] of [
          [10, 1_000_000],
          [5, 999_000],
        ] as const) {
          const at = ago(minutes * 60_000);
          const hour = at.toISOString().slice(0, 13);
          await rows('samples').updateOne(
            { _id: `${subject} ${hour}` },
            { $set: { [`slots.${Math.floor(at.getUTCMinutes() / 5)}.float`]: float } },
            { upsert: true },
          );
        }
        await stack.simulator.control({ providers: { seller: { balance: 50_000 } } });
      },
      // Restore the seller's balance at its provider.
      end: () => stack.simulator.control({ providers: { seller: null } }),
    },
    {
      alarm: 'TopupOffersBelowCost',
      how: 'an offer of seller3 whose cost rises above its price',
      async begin() {
        const sellerId = await idOf('seller3');
        await addProduct(stack, [{ sellerId, price: 10_000 }], risenCode);
        await setCost(10_700);
      },
      end: () => setCost(9_900),
    },
    {
      alarm: 'TopupProviderListShrank',
      how: 'an empty price list, as it is stored when it is read *',
      begin: () => setDoubt({ rows: 0, listed: 0, since: new Date(), reads: 1 }),
      end: () => setDoubt(null),
    },
    {
      alarm: 'TopupProviderWaits',
      how: 'five orders at a rate limit of one per 100 s',
      async begin() {
        await setRate({ $set: { 'provider.callsPerSecond': 0.01 } });
        await buyAt(await idOf('seller2'), 6);
      },
      end: () => setRate({ $unset: { 'provider.callsPerSecond': 1 } }),
    },
  ];

  async function setCost(cost: number): Promise<void> {
    await rows('offers').updateOne({ productCode: risenCode }, { $set: { cost } });
    await announceChange(stack);
  }
  function setAge(index: 0 | 1, createdAt: Date): Promise<unknown> {
    return rows('transactions').updateOne({ _id: aged[index]?.id ?? '' }, { $set: { createdAt } });
  }
  async function setDoubt(doubt: object | null): Promise<void> {
    await rows('providerStates').updateOne(
      { _id: await idOf('seller') },
      { $set: { priceList: { rows: 10, doubt } } },
      { upsert: true },
    );
    await announceChange(stack);
  }
  async function setRate(change: object): Promise<void> {
    await rows('accounts').updateOne({ username: 'seller2' }, change);
    await announceChange(stack);
  }

  return { causes, stop: () => Promise.resolve(certified?.close()) };
}
