/** How far the verification under way has come, for whoever watches it: in Redis, and gone soon after its process died. */
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { nowMs } from '../../shared/clock.js';
import type { Progress } from './ledger-report.js';

const publishEveryMs = 1_000;
const keptMs = 120_000;
const progressKey = `${env.QUEUE_PREFIX}:verification`;

export interface VerificationProgress {
  what: 'wallets' | 'subjects';
  done: number;
  /** About. */
  total: number;
}

let publishedMs = -Infinity;

/** Never waited for, and nothing hangs on it. */
export const publishProgress: Progress = (step) => {
  if (Math.abs(nowMs() - publishedMs) >= publishEveryMs) {
    publishedMs = nowMs();
    void redis()
      .set(progressKey, JSON.stringify(step), 'PX', keptMs)
      .catch(() => undefined);
  }
};

export async function endProgress(): Promise<void> {
  publishedMs = -Infinity;
  await redis()
    .del(progressKey)
    .catch(() => undefined);
}

/** Null: none is under way, or it has not told anything yet. @throws Redis's own errors. */
export async function readVerificationProgress(): Promise<VerificationProgress | null> {
  const told = await redis().get(progressKey);
  return told === null ? null : (JSON.parse(told) as VerificationProgress);
}
