import { limits } from '../../../config/limits.js';
import { firstIdAt } from '../../shared/ids.js';
import {
  PriceImportRowModel,
  type PriceImportRow,
  PriceImportModel,
  type OfferField,
  type PriceImport,
} from './price-import.model.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { inTransaction, type Session } from '../../database/mongo.js';
import { now, nowMs } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { isWritten, writeFigures, type FiguresChange, type WriteOutcome } from './write-figures.js';

/** The most that one run removes; the next run goes on. */
const runMax = 10_000;
const dayMs = 86_400_000;

/** Imports of before can be undone no more. */
export function getUndoableSince(nowMs: number): Date {
  return new Date(nowMs - limits.priceImportRowsKeptDays * dayMs);
}

/**
 * Removes what imports have changed of each offer, when they are so old that nobody takes them back any more. The imports stay in
 * their list, and each change in the audit log. @returns how many.
 */
export async function removeOldImportRows(nowMs: number): Promise<number> {
  // A day later than an undo may begin: none that is under way loses its rows.
  const beforeMs = getUndoableSince(nowMs).getTime() - dayMs;
  // Ids begin with that of their import, and that with the time of its making.
  const old = await PriceImportRowModel.find({ _id: { $lt: firstIdAt(beforeMs) } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<PriceImportRow, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  const { deletedCount } = await PriceImportRowModel.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
  return deletedCount;
}

export interface UndoneImport {
  /** Offers that are again what they were, by this call. */
  undone: number;
  /** Offers of which somebody has changed something since: that stays, and can be undone again. */
  kept: (Pick<PriceImportRow, 'line' | 'productCode'> & { fields: OfferField[] })[];
}

/**
 * Takes back what an import has written, field by field: what it did not touch may have become anything, and what somebody has
 * changed since stays. It can be asked for again where it was broken off or had to leave something: what was taken back by then
 * stays as it is, whatever somebody has made of it meanwhile.
 * @throws NotFoundError. @throws ConflictError for one of which nothing is left, that is too old, or that another call takes back at the same time.
 */
export async function undoImport(importId: string, by: ChangedBy): Promise<UndoneImport> {
  const before = await PriceImportModel.findOneAndUpdate(
    {
      _id: importId,
      createdAt: { $gte: getUndoableSince(nowMs()) },
      $or: [{ status: { $ne: 'undone' } }, { 'undone.kept': { $gt: 0 } }],
    },
    { $set: { status: 'undoing' } },
    { returnDocument: 'before' },
  ).lean<PriceImport>();
  if (!before) {
    throw await buildRefusal(importId);
  }
  // What is still being applied ends with it: the rows are all that there will be.
  const rows = await PriceImportRowModel.find({ importId, undoneAt: null })
    .sort({ line: 1 })
    .lean<PriceImportRow[]>();
  const outcomes = await writeFigures(rows.map(reverseChange), {
    by,
    importId,
    action: 'offer.import-undo',
    each: 'field',
    also: (session, some) => saveUndone(session, some, importId),
  });
  const kept = outcomes.flatMap(({ change: { line, productCode }, left }) =>
    left.length === 0 ? [] : { line, productCode, fields: left },
  );
  const undone = outcomes.filter((each) => each.left.length === 0 && isWritten(each)).length;
  await finishUndo({ importId, before, undone, kept: kept.length }, by);
  return { undone, kept };
}

async function buildRefusal(importId: string): Promise<Error> {
  const found = await PriceImportModel.findById(importId).lean<PriceImport>();
  if (!found) {
    return new NotFoundError(asWritten(`There is no import ${importId}.`), {
      atCommandLine: 'See them all: topup product imports',
    });
  }
  return found.createdAt < getUndoableSince(nowMs())
    ? new ConflictError(
        asWritten(
          `Import ${importId} is older than ${limits.priceImportRowsKeptDays} days: what was before it is kept no more.`,
        ),
      )
    : buildAlreadyUndoneError(importId);
}

type ReversedChange = FiguresChange & Pick<PriceImportRow, '_id' | 'line' | 'undoneFields'>;

/** The write of a row the other way round, but for what of it is done. */
function reverseChange({
  _id,
  line,
  productCode,
  sellerId,
  before,
  after,
  undoneFields = [],
}: PriceImportRow): ReversedChange {
  const done = Object.fromEntries(undoneFields.map((field) => [field, before[field]]));
  return {
    _id,
    line,
    productCode,
    sellerId,
    undoneFields,
    before: { ...after, ...done },
    after: before,
  };
}

async function saveUndone(
  session: Session,
  outcomes: WriteOutcome<ReversedChange>[],
  importId: string,
): Promise<void> {
  const some = outcomes.filter(({ done, left }) => done.length > 0 || left.length === 0);
  if (some.length === 0) {
    return;
  }
  const { matchedCount } = await PriceImportRowModel.bulkWrite(
    some.map(({ change: { _id, undoneFields = [] }, done, left }) => ({
      updateOne: {
        // As it was read: what another call has taken back since is not taken back twice.
        filter: {
          _id,
          undoneAt: null,
          ...(undoneFields.length === 0 ? { undoneFields: null } : { undoneFields: { $eq: undoneFields } }),
        },
        update: {
          $set: left.length === 0 ? { undoneAt: now() } : { undoneFields: [...undoneFields, ...done] },
        },
      },
    })),
    { session },
  );
  if (matchedCount < some.length) {
    throw new ConflictError(asWritten(`Import ${importId} is being undone by another call.`));
  }
}

async function finishUndo(
  { importId, before, undone, kept }: { importId: string; before: PriceImport; undone: number; kept: number },
  by: ChangedBy,
): Promise<void> {
  await inTransaction(async (session) => {
    const { modifiedCount } = await PriceImportModel.updateOne(
      { _id: importId, status: 'undoing' },
      { $set: { status: 'undone', undone: { at: now(), actor: by.actor, reason: by.reason, kept } } },
      { session },
    );
    if (modifiedCount === 0) {
      throw buildAlreadyUndoneError(importId);
    }
    await recordAudit(session, {
      ...by,
      action: 'price-import.undo',
      subject: { kind: 'price-import', id: importId },
      before: { status: before.status },
      after: { status: 'undone', undone, kept },
    });
  });
}

function buildAlreadyUndoneError(importId: string): ConflictError {
  return new ConflictError(asWritten(`Import ${importId} was undone.`));
}
