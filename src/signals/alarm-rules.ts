/**
 * The alerts of ops/prometheus/rules.yml that use figures of the whole service, for installations
 * without Prometheus. Names, limits and times are the same.
 */
import { nowMs } from '../shared/clock.js';
import { lookUp } from '../shared/collections.js';
import type { Figure, FigureName, Figures } from './figures.js';

export interface AlarmRule {
  /** Name of the alert. */
  name: string;
  severity: 'page' | 'ticket';
  /** How long the condition must be true before the alarm is sent. */
  forMs: number;
  /** How long the condition must be false before the alarm ends. Default: it ends at once. */
  keepMs?: number;
  from: FigureName;
  /** Restricts the rule to figures with one of these label values. */
  where?: { label: string; among: readonly string[] };
  isSo: (value: number, each: Figure, all: Figures) => boolean;
  describe: (value: number) => string;
}

const minuteMs = 60_000;

export const alarmRules: readonly AlarmRule[] = [
  {
    name: 'TopupProcessSilent',
    severity: 'page',
    forMs: minuteMs / 2,
    from: 'topup_processes',
    where: { label: 'state', among: ['silent'] },
    isSo: (value) => value > 0,
    describe: () => 'a process has sent no heartbeat for 20 s',
  },
  {
    name: 'TopupWebMissing',
    severity: 'page',
    forMs: minuteMs,
    from: 'topup_web_processes',
    isSo: (value) => value === 0,
    describe: () => 'no web process is running: purchases are impossible',
  },
  {
    name: 'TopupProcessNotReady',
    severity: 'page',
    forMs: minuteMs,
    from: 'topup_processes_not_ready',
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'process reports that it is' : 'processes report that they are'} not ready`,
  },
  {
    name: 'TopupEventLoopLag',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_processes_lag_seconds',
    isSo: (value) => value > 0.5,
    describe: (value) => `its event loop is blocked repeatedly, for up to ${value} s`,
  },
  {
    name: 'TopupConnectionsUsedUp',
    severity: 'ticket',
    forMs: 2 * minuteMs,
    from: 'topup_processes_connections_refused',
    isSo: (value) => value > 10,
    describe: (value) => `it found no free connection to MongoDB ${value} times in the last 5 minutes`,
  },
  {
    name: 'TopupPostingsFailed',
    severity: 'page',
    forMs: 0,
    from: 'topup_processes_postings_failed',
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'posting' : 'postings'} could not be written in the last 10 minutes, through no fault of MongoDB`,
  },
  {
    name: 'TopupWebhooksUnsent',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_processes_webhooks_unsent',
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'webhook' : 'webhooks'} could not be sent in the last 5 minutes, through no fault of their receivers`,
  },
  {
    name: 'TopupRedisClockStepped',
    severity: 'ticket',
    forMs: 0,
    from: 'topup_redis_clock_step_seconds',
    isSo: (value) => value !== 0,
    describe: (value) =>
      `the clock of Redis was set ${value < 0 ? 'back' : 'forward'} by ${Math.round(Math.abs(value))} s`,
  },
  {
    name: 'TopupRedisMemory',
    severity: 'page',
    forMs: 5 * minuteMs,
    from: 'topup_redis_memory_bytes',
    isSo: (value, _each, all) => value > 0.8 * findMaxMemory(all),
    describe: (value) => `Redis uses ${Math.round(value / 1_048_576)} MB, over 80 % of its maxmemory`,
  },
  {
    name: 'TopupQueueNotTaken',
    severity: 'page',
    forMs: minuteMs,
    from: 'topup_queue_jobs',
    where: { label: 'state', among: ['waiting'] },
    isSo: (value, { labels }, all) =>
      value > 0 && getFigureValue(all, 'topup_queue_workers', 'queue', labels['queue']) === 0,
    describe: (value) =>
      value === 1
        ? '1 job is waiting, and no worker takes it'
        : `${value} jobs are waiting, and no worker takes them`,
  },
  {
    name: 'TopupQueuePaused',
    severity: 'ticket',
    forMs: 10 * minuteMs,
    from: 'topup_queue_paused',
    isSo: (value) => value === 1,
    describe: () => 'it is paused',
  },
  {
    name: 'TopupQueueLong',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_queue_jobs',
    where: { label: 'state', among: ['waiting'] },
    isSo: (value) => value > 1_000,
    describe: (value) => `${value} jobs are waiting`,
  },
  {
    name: 'TopupQueueStuck',
    severity: 'page',
    forMs: 2 * minuteMs,
    from: 'topup_queue_stuck',
    isSo: (value) => value === 1,
    describe: () => 'its workers are connected but take no job, although one has been due for a minute',
  },
  {
    // A run that hangs is ended at its time limit, and the job is retried after a pause.
    name: 'TopupJobHangs',
    severity: 'page',
    forMs: 0,
    keepMs: 5 * minuteMs,
    from: 'topup_queue_hanging_seconds',
    isSo: (value) => value > 0,
    describe: (value) => `a job has been running for ${Math.round(value)} s`,
  },
  {
    name: 'TopupWorkLate',
    severity: 'page',
    forMs: 2 * minuteMs,
    from: 'topup_late_work',
    isSo: (value) => value > 0,
    describe: (value) => `${value} ${value === 1 ? 'is' : 'are'} over a minute late`,
  },
  {
    name: 'TopupPurchasesHang',
    severity: 'ticket',
    forMs: 10 * minuteMs,
    from: 'topup_open_purchases',
    // TopupPurchasesOld covers older purchases.
    where: { label: 'age', among: ['1d'] },
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'purchase has' : 'purchases have'} been open for over an hour`,
  },
  {
    name: 'TopupPurchasesOld',
    severity: 'ticket',
    forMs: 10 * minuteMs,
    from: 'topup_open_purchases',
    where: { label: 'age', among: ['older'] },
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'purchase has' : 'purchases have'} been open for over a day`,
  },
  {
    name: 'TopupProviderCircuitOpen',
    severity: 'ticket',
    forMs: minuteMs,
    from: 'topup_provider_circuit_state',
    // Half-open counts too, because a probe every few seconds does not end an outage.
    isSo: (value) => value > 0,
    describe: () => 'it gets no orders except probes',
  },
  {
    name: 'TopupProviderWaits',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_provider_wait_seconds',
    isSo: (value) => value > 300,
    describe: (value) => `a new order would wait for ${Math.round(value)} s`,
  },
  {
    name: 'TopupProviderFloatEnds',
    severity: 'ticket',
    forMs: 10 * minuteMs,
    from: 'topup_provider_float_ends_seconds',
    isSo: (value) => value < 28_800,
    describe: (value) =>
      `our float there runs out in ${(value / 3_600).toFixed(1)} hours, at the pace of the day`,
  },
  {
    name: 'TopupOffersBelowCost',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_provider_offers_below_cost',
    isSo: (value) => value > 0,
    describe: (value) =>
      `${value} ${value === 1 ? 'offer is' : 'offers are'} not sold, because the cost there is above the price`,
  },
  {
    name: 'TopupProviderListShrank',
    severity: 'ticket',
    forMs: 0,
    from: 'topup_provider_price_list_doubted',
    isSo: (value) => value > 0,
    describe: () =>
      'its price list is empty or has less than half of its rows; the last list is kept for an hour',
  },
  {
    name: 'TopupDecisionsWait',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_attention',
    where: { label: 'kind', among: ['openCases', 'reviews', 'failingJobs'] },
    isSo: (value) => value > 0,
    describe: (value) => `${value} ${value === 1 ? 'waits' : 'wait'} for an operator`,
  },
  {
    name: 'TopupPaymentsWait',
    severity: 'ticket',
    forMs: 60 * minuteMs,
    from: 'topup_attention',
    where: { label: 'kind', among: ['pendingDeposits', 'settlements', 'adjustments'] },
    isSo: (value) => value > 0,
    describe: (value) => `${value} ${value === 1 ? 'waits' : 'wait'} for an operator`,
  },
  {
    name: 'TopupGivenUp',
    severity: 'ticket',
    forMs: 15 * minuteMs,
    from: 'topup_attention',
    where: { label: 'kind', among: ['deadDeliveries', 'disabledWebhooks', 'failedReports'] },
    isSo: (value) => value > 0,
    describe: (value) => `${value} in the last 7 days`,
  },
  {
    name: 'TopupLedgerNotClosed',
    severity: 'page',
    forMs: 10 * minuteMs,
    from: 'topup_ledger_close_timestamp_seconds',
    isSo: (value) => nowMs() / 1_000 - value > 93_600,
    describe: () => 'no day has been closed for 26 hours',
  },
  {
    name: 'TopupLedgerRed',
    severity: 'page',
    forMs: 0,
    from: 'topup_ledger_verification_failures',
    isSo: (value) => value > 0,
    describe: (value) => `the ledger verification found ${value} ${value === 1 ? 'error' : 'errors'}`,
  },
  {
    name: 'TopupLedgerNotVerified',
    severity: 'ticket',
    forMs: 10 * minuteMs,
    from: 'topup_ledger_verification_timestamp_seconds',
    isSo: (value) => nowMs() / 1_000 - value > 129_600,
    describe: () => 'the ledger has not been verified for 36 hours',
  },
  {
    name: 'TopupProviderRecordDiffers',
    severity: 'ticket',
    forMs: 0,
    from: 'topup_reconciliation_differences',
    isSo: (value) => value > 0,
    describe: (value) =>
      `its record has ${value} ${value === 1 ? 'difference' : 'differences'} from ours that no operator has accepted`,
  },
  {
    name: 'TopupProviderNotReconciled',
    severity: 'ticket',
    forMs: 180 * minuteMs,
    from: 'topup_reconciliation_timestamp_seconds',
    isSo: (value) => nowMs() / 1_000 - value > 129_600,
    describe: () => 'its record has not been compared with ours for 36 hours',
  },
  {
    name: 'TopupClockLate',
    severity: 'ticket',
    forMs: 5 * minuteMs,
    from: 'topup_clock_done_timestamp_seconds',
    isSo: (value) => nowMs() / 1_000 - value > 3_600,
    describe: () => 'this scheduled job has not run for an hour',
  },
];

/** An alarm whose condition is true now. */
export interface Alarm {
  /** The alarm's name and its subject. */
  id: string;
  name: string;
  severity: 'page' | 'ticket';
  forMs: number;
  message: string;
}

/** Returns how long, in milliseconds, an alarm's condition must be false before the alarm ends. */
export function getKeepMs(id: string): number {
  return alarmRules.find(({ name }) => name === getAlarmName(id))?.keepMs ?? 0;
}

/**
 * Evaluates the rules. If the figure of an alarm is missing, the alarm is neither firing nor fine.
 *
 * A figure may no longer have a label value, for example after a process stopped or a seller lost
 * its provider. The alarm for that value is then fine.
 */
export function evaluateAlarms(all: Figures): { firing: Alarm[]; isFine: (id: string) => boolean } {
  const firing: Alarm[] = [];
  const known = new Set<string>();
  for (const { name, severity, forMs, from, where, isSo, describe } of alarmRules) {
    for (const each of all.found.filter((one) => one.name === from)) {
      known.add(name);
      if (where && !where.among.includes(lookUp(each.labels, where.label) ?? '')) {
        continue;
      }
      const about = Object.values(each.labels).join(' ');
      const id = about === '' ? name : `${name} ${about}`;
      if (isSo(each.value, each, all)) {
        const provider = findUsername(all, about);
        const who = provider === null ? '' : `${provider}: `;
        firing.push({ id, name, severity, forMs, message: `${who}${describe(each.value)}` });
      }
    }
  }
  const isFine = (id: string) => known.has(getAlarmName(id)) && !firing.some((each) => each.id === id);
  return { firing, isFine };
}

/**
 * Returns the username of the provider whose id or queue the labels contain. Null if there is none.
 */
function findUsername(all: Figures, about: string): string | null {
  const info = all.found.find(({ name, labels }) => {
    const id = lookUp(labels, 'provider');
    return name === 'topup_provider_info' && id !== undefined && about.includes(id);
  });
  return (info && lookUp(info.labels, 'username')) ?? null;
}

function getAlarmName(id: string): string {
  return id.split(' ', 1)[0] ?? '';
}

function getFigureValue(
  all: Figures,
  name: FigureName,
  label: string,
  text: string | undefined,
): number | undefined {
  return all.found.find((each) => each.name === name && lookUp(each.labels, label) === text)?.value;
}

/** Returns Redis's `maxmemory` in bytes. Infinity if there is no limit. */
function findMaxMemory(all: Figures): number {
  const found = all.found.find((each) => each.name === 'topup_redis_memory_max_bytes');
  return found && found.value > 0 ? found.value : Infinity;
}
