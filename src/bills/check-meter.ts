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
import { buildNoRouteError } from '../providers/require-route.js';
import { say } from '../shared/say.js';
import { newId } from '../shared/ids.js';

/**
 * Queries a provider for the owner of a meter while the client waits. The check is stored only in
 * Redis.
 */
export const checkMeterJob = defineJob<{ checkId: string; accountId: string }>({
  queue: answerInquiryJob.queue,
  name: 'check-meter',
  version: 1,
  data: Joi.object({ checkId: Joi.string(), accountId: Joi.string() }),
  subject: ({ checkId }) => checkId,
  mayBeLost: true,
});

export interface MeterCheck {
  sellerId: string;
  meterNumber: string;
  /** The provider's response. Null until it arrives. */
  found: MeterOutcome | null;
}

/**
 * Expiry in Redis in milliseconds, longer than a client waits. The customer's name is stored
 * nowhere else (decision 044).
 */
const retentionMs = 30_000;

/**
 * Stores a meter check.
 * @throws DependencyError (503/03) while Redis is unavailable, like every function of this store.
 */
export async function putMeterCheck(checkId: string, check: MeterCheck): Promise<void> {
  await requireRedis(() => redis().set(getCheckKey(checkId), JSON.stringify(check), 'PX', retentionMs));
}

/** Returns the meter check, or null if it has expired or was already taken. */
export async function readMeterCheck(checkId: string): Promise<MeterCheck | null> {
  const stored = await requireRedis(() => redis().get(getCheckKey(checkId)));
  return stored === null ? null : (JSON.parse(stored) as MeterCheck);
}

/** Stores the result if a client still waits for it. */
export async function storeMeterOutcome(checkId: string, check: MeterCheck): Promise<void> {
  await requireRedis(() => redis().set(getCheckKey(checkId), JSON.stringify(check), 'PX', retentionMs, 'XX'));
}

/** Returns the result and deletes the check. Null if there was no result in time. */
export async function takeMeterCheck(checkId: string): Promise<MeterOutcome | null> {
  const stored = await requireRedis(() => redis().getdel(getCheckKey(checkId)));
  return stored === null ? null : (JSON.parse(stored) as MeterCheck).found;
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

/** The owner of a meter, as the provider states it. */
export interface Meter {
  customerName: string;
  /** Tariff and power, such as `R1 / 900 VA`. Null if the provider does not state it. */
  power: string | null;
}

/** Maximum time in milliseconds that a client waits for the worker. */
const waitMs = 10_000;

/**
 * Checks the owner of a meter before a token is bought (docs/reference/api/bills.md#meters). It
 * makes no quote and moves no money. A worker queries the provider; the web process only waits.
 *
 * @param accountId The account that requests the check.
 * @param product A token product, whose rule validates the meter number.
 * @throws InvalidCustomerNumberError (422/04) if there is no such meter.
 * @throws NotFoundError (404/02) if no seller of the product can check meters.
 * @throws MaintenanceError or DependencyError (503/03) if no result is available now.
 */
export async function checkMeter(
  accountId: string,
  { product, meterNumber }: { product: Product; meterNumber: string },
): Promise<Meter> {
  requireSellableProduct(product, { productCode: product._id, kind: 'prepaid', customerNumber: meterNumber });
  const checkId = newId();
  await putMeterCheck(checkId, { sellerId: await findMeterSeller(product), meterNumber, found: null });
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

/**
 * Returns the seller to which an order would go, among those whose provider can check meters. The
 * backlog is ignored.
 */
async function findMeterSeller(product: Product): Promise<string> {
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

/**
 * Queries the provider for the owner of a meter and stores the result while a client waits. Safe to
 * run twice, because it buys nothing.
 */
export async function queryMeterOwner(checkId: string): Promise<void> {
  const check = await readMeterCheck(checkId);
  if (!check || check.found) {
    return;
  }
  const seller = await getExistingAccount(check.sellerId);
  const ask = seller.provider && getAdapter(seller.provider.kind).inquireMeter;
  const found = ask ? await ask(buildConnection(seller), check.meterNumber) : null;
  if (found) {
    await storeMeterOutcome(checkId, { ...check, found });
  }
}
