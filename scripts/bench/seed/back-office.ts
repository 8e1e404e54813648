/**
 * Rows from operators' work: cases, audit entries, imports, markups, adjustments, failing jobs,
 * alarms and plot figures.
 */
import { storedAlarms } from '../../../src/alarms/alarm.model.js';
import { adjustments, toStored } from '../../../src/adjustments/adjustment.model.js';
import { toInt64 } from '../../../src/database/typed-collection.js';
import { failingJobs } from '../../../src/jobs/failing-job.model.js';
import { getMarkupId, MarkupModel, type MarkupSubject } from '../../../src/products/markup.model.js';
import { PriceImportModel } from '../../../src/providers/imports/price-import.model.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { getBucketName } from '../../../src/samples/latency-buckets.js';
import { getSampleId, samples, type Slot } from '../../../src/samples/sample.model.js';
import { addAuditEntry } from './deposits-and-settlements.js';
import type { People } from './people.js';
import type { Sale } from './make-sale.js';
import type { SeedContext } from './write-sale.js';

const hourMs = 3_600_000;
const slotsPerHour = 12;

export interface Span {
  fromMs: number;
  untilMs: number;
}

/**
 * Writes a fixed, plausible number of rows of each kind, independent of the number of purchases.
 */
export async function seedBackOffice(
  desk: SeedContext,
  people: People,
  span: Span,
): Promise<{ failingJobId: string }> {
  addAuditEntries(desk, people, span);
  addPriceImports(desk, span);
  await addMarkups(people);
  addAdjustments(desk, people, span);
  const failingJobId = addFailingJobs(desk, people, span);
  addAlarms(desk, span);
  addSamples(desk, people, span);
  await desk.writer.drain();
  return { failingJobId };
}

const auditEntryCount = 100_000;

/** Writes audit entries for changes to accounts and offers. */
function addAuditEntries(desk: SeedContext, { buyers, goods }: People, { fromMs, untilMs }: Span): void {
  const { chance } = desk;
  for (let made = 0; made < auditEntryCount; made += 1) {
    const atMs = fromMs + Math.floor((made * (untilMs - fromMs)) / auditEntryCount);
    const actor = `operator:op-${1 + chance.below(12)}`;
    const { product, offers } = chance.of(goods);
    const { sellerId, price } = chance.of(offers);
    addAuditEntry(
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

const priceImportCount = 3_000;

function addPriceImports({ writer, chance }: SeedContext, { fromMs, untilMs }: Span): void {
  for (let made = 0; made < priceImportCount; made += 1) {
    const atMs = fromMs + Math.floor((made * (untilMs - fromMs)) / priceImportCount);
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

const markupBuyerCount = 5_000;

/** Adds one markup for all buyers and one for each of the first buyers. */
async function addMarkups({ buyers }: People): Promise<void> {
  const subjects: MarkupSubject[] = [
    { accountId: null, scope: 'all', of: null },
    ...buyers
      .slice(0, markupBuyerCount)
      .map(({ id }) => ({ accountId: id, scope: 'subcategory' as const, of: 'pulsa' })),
  ];
  const at = new Date();
  await writeAndInvalidate([MarkupModel], null, async (markups) => {
    await markups.collection.insertMany(
      subjects.map((subject) => ({
        _id: getMarkupId(subject),
        ...subject,
        percentHundredths: null,
        rupiah: toInt64(100),
        createdAt: at,
        updatedAt: at,
      })) as never[],
    );
  });
}

const adjustmentCount = 200;

function addAdjustments({ writer, chance }: SeedContext, { buyers }: People, { untilMs }: Span): void {
  for (let made = 0; made < adjustmentCount; made += 1) {
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

const failingJobCount = 300;

function addFailingJobs({ writer, chance }: SeedContext, { buyers }: People, { untilMs }: Span): string {
  let _id = '';
  for (let made = 0; made < failingJobCount; made += 1) {
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

function addAlarms({ writer }: SeedContext, { untilMs }: Span): void {
  for (let made = 0; made < 40; made += 1) {
    const at = new Date(untilMs - made * 600_000);
    writer.add(storedAlarms.collectionName, {
      _id: `TopupProviderSlow seller-${made}`,
      since: at,
      seenAt: at,
      told: true,
      claimedUntil: at,
      endedAt: null,
    });
  }
}

const sampledDays = 40;

function addSamples({ writer, chance }: SeedContext, { sellers }: People, { untilMs }: Span): void {
  const subjects = [...sellers.map(({ id }) => `provider:${id}`), 'receivers', 'purchases'];
  const lastMs = Math.floor(untilMs / hourMs) * hourMs;
  for (let back = 0; back < sampledDays * 24; back += 1) {
    const fromMs = lastMs - back * hourMs;
    for (const subject of subjects) {
      const slots: Record<string, Slot> = {};
      for (let slot = 0; slot < slotsPerHour; slot += 1) {
        slots[slot] = slotOf(subject, { count: 10 + chance.below(90), slot, failed: chance.below(5) });
      }
      writer.add(samples.collectionName, {
        _id: getSampleId(subject, fromMs),
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
export function openCase({ writer, chance }: SeedContext, { purchase, endMs }: Sale): void {
  writer.add(CaseModel.collection.collectionName, {
    _id: chance.idAt(endMs),
    transactionId: purchase._id,
    kind: 'contradicting-answer',
    detail: 'First reported as a failure, now as a success',
    createdAt: new Date(endMs),
    resolvedAt: null,
  });
}
