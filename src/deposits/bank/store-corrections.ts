import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { isDuplicateKey, runInTransaction, type Session } from '../../database/mongo.js';
import { CaseModel } from '../../purchases/case.model.js';
import { now } from '../../shared/clock.js';
import { splitIntoChunks } from '../../shared/collections.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { BankLineModel, type BankLine } from './bank-line.model.js';
import type { KnownCorrection, TakenBack } from './find-taken-back.js';
import { insertNewLines } from './insert-new-lines.js';
import type { StatementPlan } from './plan-statement.js';

const batchSize = 25;

/**
 * Stores the corrections of a statement and marks the payments that they take back. A payment that was
 * credited already opens a case, because only an operator takes money from a wallet. The payments are
 * stored before. Safe to run twice.
 * @returns The number of new corrections and pairs.
 */
export async function storeCorrections(
  { lines, taken: { pairs, unpaired } }: StatementPlan,
  file: string,
  by: ChangedBy,
): Promise<number> {
  const credited = findCredited(lines);
  let changed = 0;
  for (const some of splitIntoChunks(pairs, batchSize)) {
    for (const isNew of await Promise.all(
      some.map((each) => storePair(each, credited.get(each.payment.key) ?? null, { file, by })),
    )) {
      changed += isNew ? 1 : 0;
    }
  }
  const alone = unpaired.flatMap(({ day, ...rest }) => (day === null ? [] : [{ ...rest, day }]));
  return changed + (await insertNewLines(alone.map((each) => buildCorrection(each, file))));
}

/** Returns the deposits that taken-back payments name, and that were credited without a line. */
function findCredited(lines: StatementPlan['lines']): Map<string, string> {
  return new Map(
    lines.flatMap(({ key, match, deposits }) => {
      const credited = deposits.find(({ status }) => status === 'completed');
      return match === 'taken-back' && credited ? [[key, credited._id]] : [];
    }),
  );
}

interface Change {
  file: string;
  by: ChangedBy;
}

async function storePair(pair: TakenBack, creditedId: string | null, change: Change): Promise<boolean> {
  try {
    const caseDetail = await runInTransaction((session) =>
      writePair(pair, creditedId, { ...change, session }),
    );
    if (typeof caseDetail === 'string') {
      logger.error('a case needs the operator', { detail: caseDetail });
    }
    return caseDetail !== false;
  } catch (error) {
    // A concurrent call has stored the correction.
    if (isDuplicateKey(error)) {
      return false;
    }
    throw error;
  }
}

/** @returns False if one of the lines has a counterpart. Else the text of the case, or null. */
async function writePair(
  { correction, payment }: TakenBack,
  creditedId: string | null,
  { file, by, session }: Change & { session: Session },
): Promise<string | null | false> {
  const line = await findByKey(payment.key, session);
  const known = await findByKey(correction.key, session);
  if (!line || typeof line.counterpartId === 'string' || typeof known?.counterpartId === 'string') {
    return false;
  }
  const counterpartId = line._id;
  if (known) {
    await BankLineModel.updateOne({ _id: known._id }, { $set: { counterpartId } }, { session });
  } else {
    await BankLineModel.create([{ ...buildCorrection(correction, file), counterpartId }], { session });
  }
  const stored = await findByKey(correction.key, session);
  const status = line.status === 'open' ? 'taken-back' : line.status;
  const decided = line.decided ?? { at: now(), actor: by.actor, reason: by.reason };
  await BankLineModel.updateOne(
    { _id: line._id },
    { $set: { status, decided, counterpartId: stored?._id ?? null } },
    { session },
  );
  await recordAudit(session, {
    ...by,
    action: 'bank-line.take-back',
    subject: { kind: 'bank-line', id: line._id },
    before: { status: line.status },
    after: { status, counterpartId: stored?._id ?? null, day: line.day, amount: line.amount },
  });
  const depositId = line.depositId ?? creditedId;
  return depositId === null ? null : openCase({ ...line, depositId }, stored?._id ?? '', session);
}

function findByKey(key: string, session: Session): Promise<BankLine | null> {
  return BankLineModel.findOne({ key }).session(session).lean<BankLine>();
}

async function openCase(
  { _id, day, amount, depositId }: BankLine,
  correctionId: string,
  session: Session,
): Promise<string> {
  const detail = `The bank took back a payment of ${amount} of ${day}, which had credited deposit ${depositId}: bank line ${_id}, correction ${correctionId}.`;
  await CaseModel.create(
    [
      {
        _id: newId(),
        transactionId: null,
        bankLineId: _id,
        kind: 'payment-taken-back',
        detail,
        createdAt: now(),
        resolvedAt: null,
      },
    ],
    { session },
  );
  return detail;
}

function buildCorrection(
  { key, day, amount, description }: Omit<KnownCorrection, 'line'>,
  file: string,
): BankLine {
  return {
    _id: newId(),
    key,
    day,
    amount,
    description,
    status: 'correction',
    depositId: null,
    counterpartId: null,
    file,
    createdAt: now(),
    decided: null,
  };
}
