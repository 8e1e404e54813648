/**
 * Alarms without Prometheus: told to ALERT_WEBHOOK_URL once when they begin and once when they are over, by whichever follow-up
 * process comes first (decision 056). What stands is kept in MongoDB, so that neither a restart nor a second process tells it twice.
 */
import { env } from '../../config/env.js';
import { findRedisProblem } from '../redis/server-health.js';
import { isDuplicateKey } from '../database/mongo.js';
import { now, nowMs } from '../shared/clock.js';
import { repeat } from '../shared/repeat.js';
import { createSender } from '../webhooks/deliver/send-request.js';
import { urlGuard } from '../webhooks/deliver/url-guard.js';
import { isStanding, redisDownId, standingAlarms, type StandingAlarm } from '../alarms/alarm.model.js';
import { evaluateAlarms, getKeepMs, type Alarm } from './alarm-rules.js';
import type { Figures } from './figures.js';
import { figuresNow } from './keep-figures.js';
import { formatAlarmEnd, sendText, formatAlarm, type SendAlarmText } from './send-alarm.js';
import { watchMongodb } from './watch-mongodb.js';

const lookEveryMs = 5_000;
/** A process that dies while it tells leaves it to the next. */
const claimMs = 30_000;
const standingMax = 500;
const awayForMs = 30_000;
const againEveryMs = 30_000;

const redisDown: Alarm = {
  id: redisDownId,
  name: redisDownId,
  severity: 'page',
  forMs: awayForMs,
  says: 'Redis takes no writes; purchases are accepted and wait',
};
/** One process may have lost Redis, or MongoDB, alone: it is over when none has said so for three looks. */
const keptLooksMs = 3 * lookEveryMs;

/** What is wrong with ALERT_WEBHOOK_URL, to be asked before anything starts: nobody would ever be told. Null: nothing. */
export function alertUrlProblem(): string | null {
  const url = env.ALERT_WEBHOOK_URL;
  return url === null ? null : (urlGuard.problemOf(url)?.en ?? null);
}

/** Looks every 5 s, and tells, until it is stopped. */
export function notifyAlarms(url: string): { stop(): Promise<void> } {
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  const tell: SendAlarmText = (text) => sendText(sender, url, text);
  // Older figures may be over: nobody knows who has looked since.
  const startedAtMs = nowMs();
  const mongodb = watchMongodb(tell, { forMs: awayForMs, againEveryMs, seenMs: keptLooksMs });
  const telling = repeat({
    name: 'alarms',
    everyMs: lookEveryMs,
    async run() {
      if (await mongodb.answers()) {
        await notifyRound(tell, newerThan(figuresNow(), startedAtMs));
      }
    },
  });
  return {
    async stop() {
      await telling.stop();
      await sender.close();
    },
  };
}

export function newerThan(figures: Figures | null, startedAtMs: number): Figures | null {
  return figures !== null && figures.atMs >= startedAtMs ? figures : null;
}

/** One look by these figures; null: there are none. */
export async function notifyRound(tell: SendAlarmText, figures: Figures | null): Promise<void> {
  const refusal = await findRedisProblem();
  const judgedAtMs = figures?.atMs ?? 0;
  const { firing, isFine } = figures ? evaluateAlarms(figures) : { firing: [], isFine: () => false };
  await Promise.all([
    ...firing.map((alarm) => beginAlarm(alarm, judgedAtMs)),
    ...(refusal === null ? [] : [beginAlarm(redisDown, null)]),
  ]);
  if (refusal !== null) {
    firing.push({ ...redisDown, says: `${redisDown.says}. ${refusal}` });
  }
  const standing = await standingAlarms.find(isStanding).limit(standingMax).toArray();
  const tellOf = async (seen: StandingAlarm): Promise<void> => {
    const { _id, told, since } = seen;
    const alarm = firing.find((each) => each.id === _id);
    if (!alarm && isOver(seen, { isFine, judgedAtMs })) {
      await notifyOnce(seen, null, async () => {
        // One that was refused, or not answered in time, may have been heard all the same.
        const wasTried = told || Boolean(seen.text ?? seen.refusal);
        const refusal = wasTried ? await tell(formatAlarmEnd(_id, since, told ? null : seen.text)) : null;
        if (refusal === null) {
          await endAlarm(seen, judgedAtMs);
        } else {
          await standingAlarms.updateOne({ _id }, { $set: { refusal } });
        }
      });
      return;
    }
    const text = told ? null : buildAlarmMessage(seen, alarm, judgedAtMs);
    if (text !== null) {
      await notifyOnce(seen, text, async () => {
        const refusal = await tell(text);
        const taken = refusal === null ? { told: true, claimedUntil: now() } : {};
        await standingAlarms.updateOne({ _id }, { $set: { ...taken, refusal } });
      });
    }
  };
  // At once: a receiver that hangs costs its time-out once.
  await Promise.all(standing.map(tellOf));
}

/** What is to be told of it now, by figures of that time; null: nothing yet. */
function buildAlarmMessage(
  { since, text }: StandingAlarm,
  alarm: Alarm | undefined,
  judgedAtMs: number,
): string | null {
  if (!alarm) {
    // It stands for a while after it was so last, and may not have been taken.
    return text ?? null;
  }
  // By what was seen: figures that stay the same because nobody asks say nothing of the time since.
  const seenUntilMs = alarm.id === redisDown.id ? nowMs() : judgedAtMs;
  return seenUntilMs - since.getTime() >= alarm.forMs ? formatAlarm(alarm) : null;
}

/** @param judgedAtMs When the figures were made that say so; null: this process has seen it itself. */
export async function beginAlarm(
  { id, severity }: Pick<Alarm, 'id' | 'severity'>,
  judgedAtMs: number | null,
): Promise<void> {
  const since = judgedAtMs === null ? now() : new Date(judgedAtMs);
  const fresh = { since, told: false, claimedUntil: now(), refusal: null, text: null };
  // A write in each look, for those alone of which it must be known when they were so last.
  const seen = { severity, ...(keptMs(id) > 0 && { seenAt: now() }) };
  const judged = judgedAtMs === null ? {} : { judgedAtMs };
  try {
    await standingAlarms.updateOne(
      { _id: id, ...isStanding },
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
    // It was over a while ago: what is older than that begins nothing.
    const newer = judgedAtMs === null ? {} : { judgedAtMs: { $lt: judgedAtMs } };
    const anew = { $set: { ...fresh, ...seen, ...judged, endedAt: null } };
    await standingAlarms.updateOne({ _id: id, endedAt: { $ne: null }, ...newer }, anew);
  }
}

/** What was told of it is over, by figures of that time. */
export async function endAlarm({ _id, since }: StandingAlarm, judgedAtMs: number): Promise<void> {
  await standingAlarms.updateOne({ _id, since, ...isStanding }, { $set: { endedAt: now(), judgedAtMs } });
}

/** Figures that are older than those that said it was so know nothing of its end. */
export function isOver(
  { _id, seenAt, judgedAtMs: saidAtMs = 0 }: StandingAlarm,
  { isFine, judgedAtMs }: { isFine: (id: string) => boolean; judgedAtMs: number },
): boolean {
  const isFineNow = _id === redisDown.id || (isFine(_id) && judgedAtMs >= saidAtMs);
  return isFineNow && nowMs() - (seenAt?.getTime() ?? 0) >= keptMs(_id);
}

function keptMs(id: string): number {
  return id === redisDown.id ? keptLooksMs : getKeepMs(id);
}

async function notifyOnce(
  seen: StandingAlarm,
  text: string | null,
  tell: () => Promise<void>,
): Promise<void> {
  if (await claimNotification(seen, text)) {
    await tell();
  }
}

/**
 * @param text What is to be told; null: its end.
 * @returns false if another process is at it, or has told it, or it is another alarm by now, since it was seen.
 */
export async function claimNotification(
  { _id, told, since }: StandingAlarm,
  text: string | null,
): Promise<boolean> {
  const claimed = await standingAlarms.updateOne(
    { _id, told, since, ...isStanding, claimedUntil: { $lte: now() } },
    { $set: { claimedUntil: new Date(nowMs() + claimMs), ...(text !== null && { text }) } },
  );
  return claimed.modifiedCount === 1;
}
