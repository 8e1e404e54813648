/** How far the verification under way has come, for whoever watches it: in Redis, and gone soon after its process died. */
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { nowMs } from '../../shared/clock.js';
import type { Progress } from './ledger-report.js';

const tellEveryMs = 1_000;
const keptMs = 120_000;
const key = `${env.QUEUE_PREFIX}:verification`;

export interface VerificationProgress {
  what: 'wallets' | 'subjects';
  done: number;
  /** About. */
  total: number;
}

let toldMs = -Infinity;

/** Never waited for, and nothing hangs on it. */
export const tellProgress: Progress = (step) => {
  if (Math.abs(nowMs() - toldMs) >= tellEveryMs) {
    toldMs = nowMs();
    void redis()
      .set(key, JSON.stringify(step), 'PX', keptMs)
      .catch(() => undefined);
  }
};

export async function endProgress(): Promise<void> {
  toldMs = -Infinity;
  await redis()
    .del(key)
    .catch(() => undefined);
}

/** Null: none is under way, or it has not told anything yet. @throws Redis's own errors. */
export async function verificationProgress(): Promise<VerificationProgress | null> {
  const told = await redis().get(key);
  return told === null ? null : (JSON.parse(told) as VerificationProgress);
}
