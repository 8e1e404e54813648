import Joi from 'joi';
import { defineJob } from '../jobs/define-job.js';
import { answerInquiryJob } from './inquire-bill.js';
import { env } from '../../config/env.js';
import type { MeterOutcome } from '../providers/adapter.js';
import { redis } from '../redis/connection.js';
import {
  DependencyError,
  InvalidCustomerNumberError,
  MaintenanceError,
  NotFoundError,
} from '../shared/errors.js';
import { getExistingAccount } from '../accounts/find-account.js';
import { addAndWait } from '../jobs/add-job.js';
import { requireSellableProduct } from '../products/customer-number.js';
import type { Product } from '../products/product.model.js';
import { chooseRoute } from '../providers/choose-route.js';
import { getAdapter, buildConnection } from '../providers/get-adapter.js';
import { getRoutingSellers } from '../providers/routing-cache.js';
import { buildNoRouteError } from '../providers/route-or-refuse.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';

/** Asks a provider whose meter it is, while the client waits. Its subject is stored in Redis only. */
export const checkMeterJob = defineJob<{ checkId: string; accountId: string }>({
  queue: answerInquiryJob.queue,
  name: 'check-meter',
  version: 1,
  data: Joi.object({ checkId: Joi.string(), accountId: Joi.string() }),
  subject: ({ checkId }) => checkId,
  mayBeLost: true,
});

/**
 * What a check of a meter asks and finds. A name is kept nowhere: it is in Redis while the client waits, and goes by itself
 * where the client or the worker did (decision 044).
 */

export interface MeterCheck {
  sellerId: string;
  meterNumber: string;
  /** Null: nobody has answered yet. */
  found: MeterOutcome | null;
}

/** Longer than a client waits. */
const keptMs = 30_000;

/** @throws DependencyError (503/03) while Redis is away, as all here. */
export async function putMeterCheck(checkId: string, check: MeterCheck): Promise<void> {
  await requireRedis(() => redis().set(getCheckKey(checkId), JSON.stringify(check), 'PX', keptMs));
}

/** Null: it is over. */
export async function readMeterCheck(checkId: string): Promise<MeterCheck | null> {
  const kept = await requireRedis(() => redis().get(getCheckKey(checkId)));
  return kept === null ? null : (JSON.parse(kept) as MeterCheck);
}

/** Only of one that somebody still waits for. */
export async function answerMeterCheck(checkId: string, check: MeterCheck): Promise<void> {
  await requireRedis(() => redis().set(getCheckKey(checkId), JSON.stringify(check), 'PX', keptMs, 'XX'));
}

/** What was found, which is then nowhere any more. Null: nobody has answered in time. */
export async function takeMeterCheck(checkId: string): Promise<MeterOutcome | null> {
  const kept = await requireRedis(() => redis().getdel(getCheckKey(checkId)));
  return kept === null ? null : (JSON.parse(kept) as MeterCheck).found;
}

async function requireRedis<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (error) {
    throw new DependencyError(error);
  }
}

function getCheckKey(checkId: string): string {
  return `${env.QUEUE_PREFIX}:meter:${checkId}`;
}

/** Whose meter it is, in the words of the provider. */
export interface Meter {
  customerName: string;
  /** Tariff and power, such as `R1 / 900 VA`; null where the provider does not tell it. */
  power: string | null;
}

/** The worker asks the provider; the client waits no longer than this. */
const waitMs = 10_000;

/**
 * The name check before a token is bought (docs/reference/api/bills.md#meters). No quote, no money; the provider is asked by a worker,
 * and the web tier only waits for it.
 * @param accountId Who asks. `product`: that of a token; `meterNumber` is for it, and is checked here.
 * @throws InvalidCustomerNumberError (422/04) there is no such meter; NotFoundError (404/02) nobody who sells the product
 *   can tell; MaintenanceError or DependencyError (503/03) nobody can tell now.
 */
export async function checkMeter(
  accountId: string,
  { product, meterNumber }: { product: Product; meterNumber: string },
): Promise<Meter> {
  requireSellableProduct(product, { productCode: product._id, kind: 'prepaid', customerNumber: meterNumber });
  const checkId = newId();
  await putMeterCheck(checkId, { sellerId: await findSellerToAsk(product), meterNumber, found: null });
  await addAndWait(checkMeterJob, { checkId, accountId }, { timeoutMs: waitMs });
  const found = await takeMeterCheck(checkId);
  switch (found?.outcome) {
    case 'meter':
      return { customerName: found.name, power: found.power };
    case 'wrong-number':
      throw new InvalidCustomerNumberError(say('meterNumberWrong', { said: found.message }));
    case 'unavailable':
    case undefined:
      throw new MaintenanceError(say('meterNotTold'), 60, 'biller_unavailable');
  }
}

/** The one whom an order would go to, of those whose provider can tell. How many orders wait for it does not matter. */
async function findSellerToAsk(product: Product): Promise<string> {
  const sellers = [...(await getRoutingSellers()).values()];
  const unable = sellers.filter(({ provider }) => !provider || !getAdapter(provider.kind).inquireMeter);
  const choice = await chooseRoute({
    productCode: product._id,
    priceMax: Infinity,
    excludeSellerIds: unable.map(({ _id }) => _id),
    turnAt: null,
  });
  if (!('reason' in choice)) {
    return choice.sellerId;
  }
  if (choice.reason === 'no-offer') {
    throw new NotFoundError(say('meterCheckNotOffered', { product: product._id }), {
      reason: 'meter_check_not_offered',
    });
  }
  throw buildNoRouteError(product, choice);
}

/** The job: asks the provider and writes down what it says, while somebody waits. Safe to run twice: it buys nothing. */
export async function askForMeter(checkId: string): Promise<void> {
  const check = await readMeterCheck(checkId);
  if (!check || check.found) {
    return;
  }
  const seller = await getExistingAccount(check.sellerId);
  const ask = seller.provider && getAdapter(seller.provider.kind).inquireMeter;
  const found = ask ? await ask(buildConnection(seller), check.meterNumber) : null;
  if (found) {
    await answerMeterCheck(checkId, { ...check, found });
  }
}
