import { limits } from '../../../config/limits.js';
import { getFirstIdAt } from '../../shared/ids.js';
import {
  PriceImportRowModel,
  type PriceImportRow,
  PriceImportModel,
  type OfferField,
  type PriceImport,
} from './price-import.model.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { now, nowMs } from '../../shared/clock.js';
import { ConflictError, NotFoundError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { isWritten, writeFigures, type FiguresChange, type WriteOutcome } from './write-figures.js';

/** Maximum number of rows that one run removes. The next run continues. */
const runMax = 10_000;
const dayMs = 86_400_000;

/** Returns the creation time before which an import can no longer be undone. */
export function getUndoableSince(nowMs: number): Date {
  return new Date(nowMs - limits.priceImportRowsKeptDays * dayMs);
}

/**
 * Removes rows of imports that are too old to be undone. The imports stay in the list, and each
 * change stays in the audit log.
 * @returns The number of removed rows.
 */
export async function removeOldImportRows(nowMs: number): Promise<number> {
  // Wait one day after the last possible start of an undo, so that a running undo keeps its rows.
  const beforeMs = getUndoableSince(nowMs).getTime() - dayMs;
  // Row ids begin with the import id, and import ids begin with their creation time.
  const old = await PriceImportRowModel.find({ _id: { $lt: getFirstIdAt(beforeMs) } }, { _id: 1 })
    .limit(runMax)
    .lean<Pick<PriceImportRow, '_id'>[]>();
  if (old.length === 0) {
    return 0;
  }
  const { deletedCount } = await PriceImportRowModel.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
  return deletedCount;
}

export interface UndoneImport {
  /** Number of offers that this call restored. */
  undone: number;
  /**
   * Offers with fields that changed after the import. These fields were left unchanged. Another
   * call can undo them.
   */
  kept: (Pick<PriceImportRow, 'line' | 'productCode'> & { fields: OfferField[] })[];
}

/**
 * Reverts an import field by field. Fields that changed after the import stay. After an interrupted
 * or partial undo, another call continues. It does not touch restored fields again.
 *
 * @throws NotFoundError if the import does not exist.
 * @throws ConflictError if nothing is left to undo, the import is too old, or another call is
 *   undoing it.
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
  // The status change above stops an import that is still being applied, so no more rows are added.
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
  const skipped = outcomes.flatMap(({ change: { line, productCode }, left }) =>
    left.length === 0 ? [] : { line, productCode, fields: left },
  );
  const undone = outcomes.filter((each) => each.left.length === 0 && isWritten(each)).length;
  await finishUndo({ importId, before, undone, kept: skipped.length }, by);
  return { undone, kept: skipped };
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
          `Import ${importId} is older than ${limits.priceImportRowsKeptDays} days: its previous values are no longer stored.`,
        ),
      )
    : buildAlreadyUndoneError(importId);
}

type ReversedChange = FiguresChange & Pick<PriceImportRow, '_id' | 'line' | 'undoneFields'>;

/** Builds the reverse change of a row, without the fields that are already undone. */
function reverseChange({
  _id,
  line,
  productCode,
  sellerId,
  sku,
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
    ...(sku !== undefined && { sku }),
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
        // Match the row as it was read, so that concurrent calls do not undo it twice.
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
  await runInTransaction(async (session) => {
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
  return new ConflictError(asWritten(`Import ${importId} was already undone.`));
}
