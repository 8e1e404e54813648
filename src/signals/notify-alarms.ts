/**
 * Alarms without Prometheus. One follow-up process sends a message to ALERT_WEBHOOK_URL when an
 * alarm begins and another when it ends (decision 056). MongoDB stores the active alarms, so that
 * neither a restart nor a second process sends a message twice.
 */
import { env } from '../../config/env.js';
import { findRedisProblem } from '../redis/server-health.js';
import { isDuplicateKey } from '../database/mongo.js';
import { now, nowMs } from '../shared/clock.js';
import { repeat } from '../shared/repeat.js';
import { createSender } from '../webhooks/deliver/send-request.js';
import { urlGuard } from '../webhooks/deliver/url-guard.js';
import { activeAlarmFilter, redisDownId, storedAlarms, type StoredAlarm } from '../alarms/alarm.model.js';
import { evaluateAlarms, getKeepMs, type Alarm } from './alarm-rules.js';
import type { Figures } from './figures.js';
import { getCurrentFigures } from './keep-figures.js';
import { formatAlarmEnd, sendText, formatAlarm, type SendAlarmText } from './send-alarm.js';
import { watchMongodb } from './watch-mongodb.js';

const lookEveryMs = 5_000;
/**
 * Lifetime of a claim in milliseconds, after which another process takes over from a crashed one.
 */
const claimMs = 30_000;
const standingMax = 500;
const outageMinMs = 30_000;
const repeatIntervalMs = 30_000;

const redisDownAlarm: Alarm = {
  id: redisDownId,
  name: redisDownId,
  severity: 'page',
  forMs: outageMinMs,
  message: 'Redis accepts no writes; purchases are accepted and wait',
};
/**
 * A single process may have lost Redis or MongoDB. Such an alarm ends after three checks in which
 * no process reports it.
 */
const keptLooksMs = 3 * lookEveryMs;

/**
 * Returns why ALERT_WEBHOOK_URL cannot be used. Null if it can. Call this at startup, because
 * alarms would be lost later.
 */
export function findAlertUrlProblem(): string | null {
  const url = env.ALERT_WEBHOOK_URL;
  return url === null ? null : (urlGuard.problemOf(url)?.en ?? null);
}

/** Checks every 5 s and sends alarms, until it is stopped. */
export function notifyAlarms(url: string): { stop(): Promise<void> } {
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  const send: SendAlarmText = (text) => sendText(sender, url, text);
  // Figures from before the start are ignored. They may describe alarms that have ended since.
  const startedAtMs = nowMs();
  const mongodb = watchMongodb(send, { forMs: outageMinMs, repeatIntervalMs, seenMs: keptLooksMs });
  const notifier = repeat({
    name: 'alarms',
    everyMs: lookEveryMs,
    async run() {
      if (await mongodb.answers()) {
        await notifyRound(send, keepIfNewer(getCurrentFigures(), startedAtMs));
      }
    },
  });
  return {
    async stop() {
      await notifier.stop();
      await sender.close();
    },
  };
}

export function keepIfNewer(figures: Figures | null, startedAtMs: number): Figures | null {
  return figures !== null && figures.atMs >= startedAtMs ? figures : null;
}

/**
 * Starts, sends and ends alarms according to one set of figures.
 * @param figures Null if there are no figures.
 */
export async function notifyRound(send: SendAlarmText, figures: Figures | null): Promise<void> {
  const refusal = await findRedisProblem();
  const judgedAtMs = figures?.atMs ?? 0;
  const { firing, isFine } = figures ? evaluateAlarms(figures) : { firing: [], isFine: () => false };
  await Promise.all([
    ...firing.map((alarm) => beginAlarm(alarm, judgedAtMs)),
    ...(refusal === null ? [] : [beginAlarm(redisDownAlarm, null)]),
  ]);
  if (refusal !== null) {
    firing.push({ ...redisDownAlarm, message: `${redisDownAlarm.message}. ${refusal}` });
  }
  const standing = await storedAlarms.find(activeAlarmFilter).limit(standingMax).toArray();
  const processAlarm = async (seen: StoredAlarm): Promise<void> => {
    const { _id, told, since } = seen;
    const alarm = firing.find((each) => each.id === _id);
    if (!alarm && isOver(seen, { isFine, judgedAtMs })) {
      await notifyOnce(seen, null, async () => {
        // A message that was refused or timed out may have arrived all the same.
        const wasTried = told || Boolean(seen.text ?? seen.refusal);
        const refusal = wasTried ? await send(formatAlarmEnd(_id, since, told ? null : seen.text)) : null;
        if (refusal === null) {
          await endAlarm(seen, judgedAtMs);
        } else {
          await storedAlarms.updateOne({ _id }, { $set: { refusal } });
        }
      });
      return;
    }
    const text = told ? null : buildAlarmMessage(seen, alarm, judgedAtMs);
    if (text !== null) {
      await notifyOnce(seen, text, async () => {
        const refusal = await send(text);
        const taken = refusal === null ? { told: true, claimedUntil: now() } : {};
        await storedAlarms.updateOne({ _id }, { $set: { ...taken, refusal } });
      });
    }
  };
  // In parallel, so that a receiver that hangs costs one timeout.
  await Promise.all(standing.map(processAlarm));
}

/**
 * Returns the message to send now, according to the figures of `judgedAtMs`. Null if none is due.
 */
function buildAlarmMessage(
  { since, text }: StoredAlarm,
  alarm: Alarm | undefined,
  judgedAtMs: number,
): string | null {
  if (!alarm) {
    // The condition is false, but the alarm is still active, and its message may not have been
    // accepted.
    return text ?? null;
  }
  // Only time covered by figures counts. Outdated figures say nothing about the time after them.
  const seenUntilMs = alarm.id === redisDownAlarm.id ? nowMs() : judgedAtMs;
  return seenUntilMs - since.getTime() >= alarm.forMs ? formatAlarm(alarm) : null;
}

/**
 * Starts an alarm, or confirms an active one.
 * @param judgedAtMs Time of the figures that show the alarm. Null if this process detected it
 * itself.
 */
export async function beginAlarm(
  { id, severity }: Pick<Alarm, 'id' | 'severity'>,
  judgedAtMs: number | null,
): Promise<void> {
  const since = judgedAtMs === null ? now() : new Date(judgedAtMs);
  const fresh = { since, told: false, claimedUntil: now(), refusal: null, text: null };
  // `seenAt` is written only for alarms that need it, because it costs a write in each check.
  const seen = { severity, ...(getAlarmKeepMs(id) > 0 && { seenAt: now() }) };
  const judged = judgedAtMs === null ? {} : { judgedAtMs };
  try {
    await storedAlarms.updateOne(
      { _id: id, ...activeAlarmFilter },
      {
        $setOnInsert: fresh,
        $set: seen,
        ...(judgedAtMs !== null && { $max: judged }),
      },
      { upsert: true },
    );
  } catch (error) {
    if (!isDuplicateKey(error)) {
      throw error;
    }
    // The alarm has ended before. Only newer figures may start it again.
    const newer = judgedAtMs === null ? {} : { judgedAtMs: { $lt: judgedAtMs } };
    const restartUpdate = { $set: { ...fresh, ...seen, ...judged, endedAt: null } };
    await storedAlarms.updateOne({ _id: id, endedAt: { $ne: null }, ...newer }, restartUpdate);
  }
}

/** Ends an alarm, according to the figures of `judgedAtMs`. */
export async function endAlarm({ _id, since }: StoredAlarm, judgedAtMs: number): Promise<void> {
  await storedAlarms.updateOne(
    { _id, since, ...activeAlarmFilter },
    { $set: { endedAt: now(), judgedAtMs } },
  );
}

/** True if the alarm has ended. Figures older than those that reported the alarm cannot end it. */
export function isOver(
  { _id, seenAt, judgedAtMs: lastJudgedAtMs = 0 }: StoredAlarm,
  { isFine, judgedAtMs }: { isFine: (id: string) => boolean; judgedAtMs: number },
): boolean {
  const isFineNow = _id === redisDownAlarm.id || (isFine(_id) && judgedAtMs >= lastJudgedAtMs);
  return isFineNow && nowMs() - (seenAt?.getTime() ?? 0) >= getAlarmKeepMs(_id);
}

function getAlarmKeepMs(id: string): number {
  return id === redisDownAlarm.id ? keptLooksMs : getKeepMs(id);
}

async function notifyOnce(seen: StoredAlarm, text: string | null, send: () => Promise<void>): Promise<void> {
  if (await claimNotification(seen, text)) {
    await send();
  }
}

/**
 * Claims the right to send a notification.
 * @param text Message to send. Null for the end of the alarm.
 * @returns False if another process is sending the notification or has sent it, or if the alarm has
 * ended and started again since it was read.
 */
export async function claimNotification(
  { _id, told, since }: StoredAlarm,
  text: string | null,
): Promise<boolean> {
  const claimed = await storedAlarms.updateOne(
    { _id, told, since, ...activeAlarmFilter, claimedUntil: { $lte: now() } },
    { $set: { claimedUntil: new Date(nowMs() + claimMs), ...(text !== null && { text }) } },
  );
  return claimed.modifiedCount === 1;
}
