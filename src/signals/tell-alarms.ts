/**
 * Alarms without Prometheus: told to ALERT_WEBHOOK_URL once when they begin and once when they are over, by whichever follow-up
 * process comes first (decision 108). What stands is kept in MongoDB, so that neither a restart nor a second process tells it twice.
 */
import { env } from '../../config/env.js';
import { pingMongo } from '../database/mongo.js';
import { whyRedisRefuses } from '../redis/why-redis-refuses.js';
import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { sayOnceAMinute } from '../shared/say-once-a-minute.js';
import { createSender, type Sender } from '../webhooks/send-request.js';
import { urlGuard } from '../webhooks/url-guard.js';
import { standingAlarms, type StandingAlarm } from '../alarms/alarm.model.js';
import { alarmsOf, keptForMs, type Alarm } from './alarms.js';
import { figuresNow } from './keep-figures.js';

const lookEveryMs = 5_000;
/** A process that dies while it tells leaves it to the next. */
const claimMs = 30_000;
const standingMax = 500;
const awayForMs = 30_000;

const redisDown: Alarm = {
  ...{ id: 'TopupRedisDown', name: 'TopupRedisDown', severity: 'page', forMs: awayForMs },
  says: 'Redis takes no writes; purchases are accepted and wait',
};
const mongodbDown: Alarm = {
  ...{ id: 'TopupMongodbDown', name: 'TopupMongodbDown', severity: 'page', forMs: awayForMs },
  says: 'MongoDB does not answer; calls are refused (503/03)',
};

/** Looks every 5 s, and tells, until it is stopped. @throws Error for an address that we do not call: nobody would ever be told. */
export function tellAlarms(url: string): { stop(): Promise<void> } {
  const problem = urlGuard.problemOf(url);
  if (problem !== null) {
    throw new Error(`ALERT_WEBHOOK_URL ${problem.en}`);
  }
  const sender = createSender(urlGuard, { proxyUrl: env.WEBHOOK_PROXY_URL });
  const mongodb = watchMongodb(sender, url);
  const telling = repeat({
    name: 'alarms',
    everyMs: lookEveryMs,
    async run() {
      if (await mongodb.answers()) {
        await round(sender, url);
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

async function round(sender: Sender, url: string): Promise<void> {
  const refusal = await whyRedisRefuses();
  const figures = figuresNow();
  const { firing, isFine } = figures ? alarmsOf(figures) : { firing: [], isFine: () => false };
  if (refusal !== null) {
    firing.push({ ...redisDown, says: `${redisDown.says}. ${refusal}` });
  }
  await Promise.all(firing.map(begin));
  const standing = await standingAlarms.find().limit(standingMax).toArray();
  const tellOf = async (seen: StandingAlarm): Promise<void> => {
    const { _id, told, since } = seen;
    const alarm = firing.find((each) => each.id === _id);
    if (alarm && !told && nowMs() - since.getTime() >= alarm.forMs) {
      await tellOnce(seen, async () => {
        if (await send(sender, url, textOf(alarm))) {
          await standingAlarms.updateOne({ _id }, { $set: { told: true, claimedUntil: now() } });
        }
      });
    } else if (!alarm && (_id === redisDown.id || isFine(_id)) && isOver(seen)) {
      await tellOnce(seen, async () => {
        if (!told || (await send(sender, url, overText(_id, since)))) {
          await standingAlarms.deleteOne({ _id });
        }
      });
    }
  };
  // At once: a receiver that hangs costs its time-out once.
  await Promise.all(standing.map(tellOf));
}

async function begin({ id }: Alarm): Promise<void> {
  const fresh = { since: now(), told: false, claimedUntil: now() };
  // A write in each look, for those alone of which it must be known when they were so last.
  const seen = keptForMs(id) > 0 ? { $set: { seenAt: now() } } : {};
  await standingAlarms.updateOne({ _id: id }, { $setOnInsert: fresh, ...seen }, { upsert: true });
}

function isOver({ _id, seenAt }: StandingAlarm): boolean {
  return nowMs() - (seenAt?.getTime() ?? 0) >= keptForMs(_id);
}

async function tellOnce(seen: StandingAlarm, tell: () => Promise<void>): Promise<void> {
  if (await claimToTell(seen)) {
    await tell();
  }
}

/** @returns false if another process is at it, or has told it, or it is another alarm by now, since it was seen. */
export async function claimToTell({ _id, told, since }: StandingAlarm): Promise<boolean> {
  const claimed = await standingAlarms.updateOne(
    { _id, told, since, claimedUntil: { $lte: now() } },
    { $set: { claimedUntil: new Date(nowMs() + claimMs) } },
  );
  return claimed.modifiedCount === 1;
}

/** Without MongoDB nobody can agree on who tells: each process does, once. */
function watchMongodb(sender: Sender, url: string): { answers(): Promise<boolean> } {
  let awaySince: number | null = null;
  let told = false;
  return {
    async answers() {
      const answers = await pingMongo().then(
        () => true,
        () => false,
      );
      if (answers) {
        if (told && awaySince !== null) {
          await send(sender, url, overText(mongodbDown.id, new Date(awaySince)));
        }
        awaySince = null;
        told = false;
        return true;
      }
      awaySince ??= nowMs();
      if (!told && nowMs() - awaySince >= mongodbDown.forMs) {
        told = await send(sender, url, textOf(mongodbDown));
      }
      return false;
    },
  };
}

function textOf({ id, name, severity, says }: Alarm): string {
  return `[${severity}] ${id}: ${says.replace(/\.$/, '')}. See docs/operations.md#${name.toLowerCase()}`;
}

function overText(id: string, since: Date): string {
  return `[over] ${id}: since ${since.toISOString()}`;
}

/** @returns false where it was not taken: then it is tried again. */
async function send(sender: Sender, url: string, text: string): Promise<boolean> {
  const result = await sender.send({
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  if (result.kind === 'answered' && result.httpStatus >= 200 && result.httpStatus < 300) {
    logger.info('alarm told', { text });
    return true;
  }
  // Never the URL: whoever has it can write there.
  const code = result.kind === 'answered' ? `HTTP_${result.httpStatus}` : result.kind;
  sayOnceAMinute('an alarm could not be told', code, { text });
  return false;
}
