import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import type { Session } from '../../database/mongo.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { asWritten } from '../../shared/say.js';
import {
  confirmReasons,
  sortByImportance,
  planImport,
  type ImportPlan,
  type ConfirmReason,
  type PlannedChange,
} from './plan-import.js';
import { PriceImportModel, PriceImportRowModel, type PriceImport } from './price-import.model.js';
import { readPriceFile } from './read-price-file.js';
import { isWritten, writeFigures, type FiguresChange, type WriteOutcome } from './write-figures.js';

export interface ImportRequest {
  bytes: Uint8Array;
  /** File name, shown in the list of imports. */
  file: string;
  /**
   * True to confirm changes with a negative margin, and prices that fall by more than half or rise
   * at least fivefold.
   */
  meant?: boolean | undefined;
  /** Fingerprint of the previewed plan. If absent, the current plan is applied. */
  fingerprint?: string | undefined;
}

export interface AppliedImport {
  importId: string;
  plan: ImportPlan;
  changed: number;
  /** Offers that changed after the plan was made. The import did not write them. */
  kept: PlannedChange[];
}

const noChangesMessage = 'No line of the price list changes anything.';

/**
 * Applies the valid lines of a price list to existing offers, effective in every process from the
 * next call. Accepted purchases keep their price. Previous values are stored for `undoImport`. An
 * interrupted import can be undone, too.
 *
 * @throws ValidationError for an unreadable file.
 * @throws ConflictError if nothing changes, if a change needs confirmation and `meant` is not true,
 *   if the plan differs from the fingerprint, or if the import is undone meanwhile.
 */
export async function applyImport(request: ImportRequest, by: ChangedBy): Promise<AppliedImport> {
  const plan = await planImport(await readPriceFile(request.bytes));
  if (plan.changes.length === 0) {
    throw new ConflictError(asWritten(noChangesMessage));
  }
  if (request.fingerprint !== undefined && request.fingerprint !== plan.fingerprint) {
    throw new ConflictError(asWritten('Offers have changed since the preview. Review it again.'));
  }
  if (request.meant !== true) {
    refuseUnconfirmed(plan);
  }
  const importId = newId();
  const details = { file: request.file, planned: plan.changes.length };
  await createImport(importId, { ...details, by });
  const { changed, skipped } = await writePlannedChanges(plan.changes, {
    importId,
    details,
    meant: request.meant === true,
    by,
  });
  if (skipped.length === 0 && changed === 0) {
    // Another import applied the same list concurrently and recorded all the changes.
    await PriceImportModel.deleteOne({ _id: importId, changed: 0 });
    throw new ConflictError(asWritten(noChangesMessage));
  }
  await finishImport(importId);
  return { importId, plan, changed, kept: skipped };
}

/**
 * Writes the changes of a plan to existing offers, and a row for the undo of each.
 * @returns The number of changed offers, and the changes that another actor made impossible.
 */
export async function writePlannedChanges(
  changes: PlannedChange[],
  { importId, details, meant, by }: { importId: string; details: object; meant: boolean; by: ChangedBy },
): Promise<{ changed: number; skipped: PlannedChange[] }> {
  const outcomes = await writeFigures(
    changes.map((each) => ({
      ...each,
      productCode: each.code,
      costAllowed: meant && each.loses ? each.after.cost : null,
    })),
    {
      by,
      importId,
      action: 'offer.import',
      each: 'offer',
      also: (session, some) =>
        saveWrittenRows(session, some.filter(isWritten), { importId, told: details, by }),
    },
  );
  return {
    changed: outcomes.filter(isWritten).length,
    skipped: outcomes.flatMap(({ change, left }) => (left.length === 0 ? [] : change)),
  };
}

/** Marks an import as applied, unless it is being undone. */
export async function finishImport(importId: string): Promise<void> {
  await PriceImportModel.updateOne({ _id: importId, status: 'applying' }, { $set: { status: 'applied' } });
}

const unconfirmedMessages: Record<ConfirmReason, string> = {
  loses: 'Each sale would lose money',
  falls: 'The price would fall by more than half',
  rises: 'The price would rise to five times or more',
};

/** @throws ConflictError if a line is likely to be a mistake. */
export function refuseUnconfirmed({ changes }: ImportPlan): void {
  const warnings = confirmReasons.toReversed().flatMap((why) => {
    const lines = sortByImportance(changes.filter((each) => each[why])).map(({ line }) => line);
    const where = `at ${lines.length} lines (${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''})`;
    return lines.length === 0 ? [] : `${unconfirmedMessages[why]} ${where}.`;
  });
  if (warnings.length > 0) {
    throw new ConflictError(asWritten(`${warnings.join(' ')} Confirm this if it is intended.`));
  }
}

/** Creates the import before the offers are written, so that an interrupted import can be found. */
export async function createImport(
  _id: string,
  { file, planned, by }: { file: string; planned: number; by: ChangedBy },
): Promise<void> {
  const { actor, reason } = by;
  await PriceImportModel.create({
    _id,
    file,
    status: 'applying' as const,
    planned,
    changed: 0,
    actor,
    reason,
    createdAt: now(),
    undone: null,
  });
}

/**
 * Stores the previous values for undoing, and counts the rows. The first batch of written offers
 * also writes the audit entry. So an import without any change has no entry, and an interrupted
 * import with changes has one.
 */
export async function saveWrittenRows(
  session: Session,
  written: WriteOutcome<FiguresChange & Pick<PlannedChange, 'line'>>[],
  { importId, told, by }: { importId: string; told: object; by: ChangedBy },
): Promise<void> {
  await PriceImportRowModel.insertMany(
    written.map(({ change: { line, productCode, sellerId, sku }, was, is }) => ({
      _id: `${importId}:${productCode}:${sellerId}`,
      importId,
      line,
      productCode,
      sellerId,
      ...(sku !== undefined && { sku }),
      before: was,
      after: is,
    })),
    { session },
  );
  const before = await PriceImportModel.findOneAndUpdate(
    { _id: importId, status: 'applying' },
    { $inc: { changed: written.length } },
    { session, returnDocument: 'before' },
  ).lean<PriceImport>();
  if (!before) {
    throw new ConflictError(asWritten(`Import ${importId} is being undone: the rest is not applied.`));
  }
  if (before.changed === 0 && written.length > 0) {
    await recordAudit(session, {
      ...by,
      action: 'price-import.apply',
      subject: { kind: 'price-import', id: importId },
      after: told,
    });
  }
}
