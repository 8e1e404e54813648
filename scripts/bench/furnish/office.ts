/**
 * Rows from operators' work: cases, audit entries, imports, markups, adjustments, failing jobs,
 * alarms and plot figures.
 */
import { standingAlarms } from '../../../src/alarms/alarm.model.js';
import { adjustments, toStored } from '../../../src/adjustments/adjustment.model.js';
import { int64 } from '../../../src/database/typed-collection.js';
import { failingJobs } from '../../../src/jobs/failing-job.model.js';
import { getMarkupId, MarkupModel, type MarkupSubject } from '../../../src/products/markup.model.js';
import { PriceImportModel } from '../../../src/providers/imports/price-import.model.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { getBucketName } from '../../../src/samples/latency-buckets.js';
import { sampleId, samples, type Slot } from '../../../src/samples/sample.model.js';
import { recordAt } from './cash.js';
import type { People } from './people.js';
import type { Sale } from './make-sale.js';
import type { Desk } from './write-sale.js';

const hourMs = 3_600_000;
const slotsOfHour = 12;

export interface Span {
  fromMs: number;
  untilMs: number;
}

/**
 * Writes a fixed, plausible number of rows of each kind, independent of the number of purchases.
 */
export async function furnishOffice(
  desk: Desk,
  people: People,
  span: Span,
): Promise<{ failingJobId: string }> {
  changeThings(desk, people, span);
  importPrices(desk, span);
  await markUp(people);
  askForAdjustments(desk, people, span);
  const failingJobId = failJobs(desk, people, span);
  raiseAlarms(desk, span);
  plot(desk, people, span);
  await desk.writer.drain();
  return { failingJobId };
}

const entriesWritten = 100_000;

/** Writes audit entries for changes to accounts and offers. */
function changeThings(desk: Desk, { buyers, goods }: People, { fromMs, untilMs }: Span): void {
  const { chance } = desk;
  for (let made = 0; made < entriesWritten; made += 1) {
    const atMs = fromMs + Math.floor((made * (untilMs - fromMs)) / entriesWritten);
    const actor = `operator:op-${1 + chance.below(12)}`;
    const { product, offers } = chance.of(goods);
    const { sellerId, price } = chance.of(offers);
    recordAt(
      desk,
      atMs,
      made % 2 === 0
        ? {
            actor,
            action: 'account.update',
            subject: { kind: 'account', id: chance.of(buyers).id },
            before: { rateLimit: 60 },
            after: { rateLimit: 120 },
          }
        : {
            actor,
            action: 'offer.update',
            subject: { kind: 'product', id: product._id },
            before: { sellerId, price: price - 50 },
            after: { sellerId, price },
          },
    );
  }
}

const importsMade = 3_000;

function importPrices({ writer, chance }: Desk, { fromMs, untilMs }: Span): void {
  for (let made = 0; made < importsMade; made += 1) {
    const atMs = fromMs + Math.floor((made * (untilMs - fromMs)) / importsMade);
    writer.add(PriceImportModel.collection.collectionName, {
      _id: chance.idAt(atMs),
      file: `harga-${made}.csv`,
      status: 'applied',
      planned: 500,
      changed: 480,
      actor: 'operator:bench',
      reason: 'a new list',
      createdAt: new Date(atMs),
      undone: null,
    });
  }
}

const markedUpBuyers = 5_000;

/** Adds one markup for all buyers and one for each of the first buyers. */
async function markUp({ buyers }: People): Promise<void> {
  const subjects: MarkupSubject[] = [
    { accountId: null, scope: 'all', of: null },
    ...buyers
      .slice(0, markedUpBuyers)
      .map(({ id }) => ({ accountId: id, scope: 'subcategory' as const, of: 'pulsa' })),
  ];
  const at = new Date();
  await writeAndInvalidate([MarkupModel], null, async (markups) => {
    await markups.collection.insertMany(
      subjects.map((subject) => ({
        _id: getMarkupId(subject),
        ...subject,
        percentHundredths: null,
        rupiah: int64(100),
        createdAt: at,
        updatedAt: at,
      })) as never[],
    );
  });
}

const adjustmentsAsked = 200;

function askForAdjustments({ writer, chance }: Desk, { buyers }: People, { untilMs }: Span): void {
  for (let made = 0; made < adjustmentsAsked; made += 1) {
    const atMs = untilMs - (made + 1) * hourMs;
    writer.add(
      adjustments.collectionName,
      toStored({
        _id: chance.idAt(atMs),
        accountId: chance.of(buyers).id,
        amount: 50_000,
        reason: 'goodwill',
        status: 'pending',
        requestedBy: 'operator:bench',
        decidedBy: null,
        balanceAfter: null,
        createdAt: new Date(atMs),
        decidedAt: null,
      }),
    );
  }
}

const jobsFailing = 300;

function failJobs({ writer, chance }: Desk, { buyers }: People, { untilMs }: Span): string {
  let _id = '';
  for (let made = 0; made < jobsFailing; made += 1) {
    const at = new Date(untilMs - made * 60_000);
    const reportId = chance.idAt(at.getTime());
    _id = `reports:${reportId}`;
    writer.add(failingJobs.collectionName, {
      _id,
      queue: 'reports',
      job: 'reports',
      subject: reportId,
      payload: { reportId, accountId: chance.of(buyers).id, version: 2 },
      rounds: 6,
      reason: 'ENOSPC: no space left on device',
      failures: [{ at, reason: 'ENOSPC' }],
      firstAt: at,
      lastAt: at,
      needsPersonSince: at,
    });
  }
  return _id;
}

function raiseAlarms({ writer }: Desk, { untilMs }: Span): void {
  for (let made = 0; made < 40; made += 1) {
    const at = new Date(untilMs - made * 600_000);
    writer.add(standingAlarms.collectionName, {
      _id: `TopupProviderSlow seller-${made}`,
      since: at,
      seenAt: at,
      told: true,
      claimedUntil: at,
      endedAt: null,
    });
  }
}

const plottedDays = 40;

function plot({ writer, chance }: Desk, { sellers }: People, { untilMs }: Span): void {
  const subjects = [...sellers.map(({ id }) => `provider:${id}`), 'receivers', 'purchases'];
  const lastMs = Math.floor(untilMs / hourMs) * hourMs;
  for (let back = 0; back < plottedDays * 24; back += 1) {
    const fromMs = lastMs - back * hourMs;
    for (const subject of subjects) {
      const slots: Record<string, Slot> = {};
      for (let slot = 0; slot < slotsOfHour; slot += 1) {
        slots[slot] = slotOf(subject, { count: 10 + chance.below(90), slot, failed: chance.below(5) });
      }
      writer.add(samples.collectionName, {
        _id: sampleId(subject, fromMs),
        from: new Date(fromMs),
        slots,
        events: [],
      });
    }
  }
}

function slotOf(subject: string, { count, slot, failed }: Record<'count' | 'slot' | 'failed', number>): Slot {
  const took = { [getBucketName(420)]: count - 5, [getBucketName(2_100)]: 5 };
  switch (subject) {
    case 'receivers':
      return { delivered: count, failed };
    case 'purchases':
      return took;
    default:
      return { orders: count, sold: count - 2, failed: 2, ...took, float: 50_000_000 - slot * 10_000 };
  }
}

/** Opens a case for half of the purchases under review. */
export function openCase({ writer, chance }: Desk, { purchase, endMs }: Sale): void {
  writer.add(CaseModel.collection.collectionName, {
    _id: chance.idAt(endMs),
    transactionId: purchase._id,
    kind: 'contradicting-answer',
    detail: 'First reported as a failure, now as a success',
    createdAt: new Date(endMs),
    resolvedAt: null,
  });
}
