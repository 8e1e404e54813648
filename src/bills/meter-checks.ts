/**
 * What a check of a meter asks and finds. A name is kept nowhere: it is in Redis while the client waits, and goes by itself
 * where the client or the worker did (decision 044).
 */
import { env } from '../../config/env.js';
import type { MeterOutcome } from '../providers/adapter.js';
import { redis } from '../redis/connection.js';
import { DependencyError } from '../shared/errors.js';

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
