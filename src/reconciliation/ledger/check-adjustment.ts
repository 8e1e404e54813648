import { Long, type Document } from 'mongodb';
import { adjustments } from '../../adjustments/adjustment.model.js';
import { auditEntries } from '../../audit/audit.model.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { journals, type Journal } from '../../money/journals/journal.model.js';
import { groupBy } from '../../shared/collections.js';
import type { FindingLog, LedgerFinding, OnPart } from './ledger-report.js';
import { readWithRetries } from './read-pages.js';

const batchSize = 500;

/**
 * Checks every adjustment against its journal and audit entry, and every adjustment journal against
 * its adjustment, by ascending id.
 *
 * Each verification checks the whole history, because adjustments are few and closes do not hash
 * them. A suspected error counts only if it is confirmed in one transaction.
 */
export async function checkAdjustments(log: FindingLog, onPart: OnPart): Promise<void> {
  for (let after = ''; ;) {
    const last = after;
    const batch = await readWithRetries(() => readBatch(null, { after: last }));
    for (const id of batch.ids) {
      if (findProblems(batch, id).length > 0) {
        const again = await readWithRetries(() => runInTransaction((session) => readBatch(session, { id })));
        findProblems(again, id).forEach((problem) => {
          log.add({ ...problem, subject: `adjustment ${id}` });
        });
      }
    }
    onPart();
    const next = batch.ids.at(-1);
    if (next === undefined) {
      return;
    }
    after = next;
  }
}

interface Batch {
  /** In ascending order. Later ids may be incomplete. */
  ids: string[];
  adjustments: Map<string, Document>;
  journals: Map<string, Document[]>;
  entries: Map<string, Document[]>;
}

async function readBatch(session: Session | null, which: { after: string } | { id: string }): Promise<Batch> {
  const key = 'id' in which ? which.id : { $gt: which.after };
  const options = { promoteLongs: false, ...(session && { session }) };
  const found = await adjustments.find({ _id: key }, options).sort({ _id: 1 }).limit(batchSize).toArray();
  const page = await journals
    .find({ kind: 'adjustment', subjectId: key }, options)
    .sort({ subjectId: 1 })
    .limit(batchSize)
    .toArray();
  const moved = page.length === batchSize ? dropLastSubject(page) : page;
  const ends = [
    found.length === batchSize ? found.at(-1)?._id : undefined,
    page.length === batchSize ? moved.at(-1)?.subjectId : undefined,
  ];
  const ids = [...new Set([...found.map(({ _id }) => _id), ...moved.map(({ subjectId }) => subjectId)])]
    .sort()
    .filter((id) => ends.every((end) => end === undefined || id <= end));
  return {
    ids,
    adjustments: new Map(found.map((each) => [each._id, each as Document])),
    journals: groupBy<Document, string>(moved, (each) => String(each['subjectId'])),
    entries: await readEntries(session, ids),
  };
}

/**
 * Drops the journals of the last adjustment, because more of them may follow on the next page. If
 * one adjustment fills the page, they are kept: more than one journal is an error in any case.
 */
function dropLastSubject(page: Journal[]): Journal[] {
  const last = page.at(-1)?.subjectId;
  const whole = page.filter(({ subjectId }) => subjectId !== last);
  return whole.length > 0 ? whole : page;
}

const postingActions = ['adjustment.post', 'adjustment.approve'];

/** Reads the audit entries of posted adjustments. */
async function readEntries(session: Session | null, ids: string[]): Promise<Map<string, Document[]>> {
  if (ids.length === 0) {
    return new Map();
  }
  const filter = {
    'subject.kind': 'adjustment' as const,
    'subject.id': { $in: ids },
    action: { $in: postingActions },
  };
  const projection = { 'subject.id': 1, action: 1, actor: 1, before: 1, after: 1 };
  const found = await auditEntries
    .find<Document>(filter, { projection, ...(session && { session }) })
    .toArray();
  return groupBy(found, ({ subject }) => String((subject as Document)['id']));
}

type Problem = Pick<LedgerFinding, 'check' | 'message'>;

function findProblems({ adjustments, journals, entries }: Batch, id: string): Problem[] {
  const adjustment = adjustments.get(id);
  const wrong = adjustment
    ? compareWithJournals(adjustment, journals.get(id) ?? [])
    : journals.has(id)
      ? ['a journal "adjustment" of an adjustment that does not exist']
      : [];
  if (wrong.length > 0 || !adjustment) {
    return wrong.map((message) => ({ check: 'adjustments', message }));
  }
  const unvouched = compareWithAudit(adjustment, entries.get(id) ?? []);
  return unvouched.map((message) => ({ check: 'vouched', message }));
}

/**
 * Checks that a completed adjustment has one journal, with its amount and balance. In any other
 * state it must have none.
 */
function compareWithJournals(adjustment: Document, moved: Document[]): string[] {
  const { status, amount, accountId, balanceAfter, requestedBy, decidedBy } = adjustment;
  const [journal] = moved;
  const problems: string[] = [];
  if (!Long.isLong(amount) || (balanceAfter !== null && !Long.isLong(balanceAfter))) {
    problems.push('its amount or its balance is not stored as int64');
  }
  if (status === 'completed' && requestedBy === decidedBy) {
    problems.push(`${String(decidedBy)} requested it and approved it`);
  }
  if ((status === 'completed') !== (journal !== undefined)) {
    problems.push(`it is ${String(status)} and has ${journal ? 'a' : 'no'} journal`);
  }
  if (moved.length > 1) {
    problems.push(`it has ${moved.length} journals`);
  }
  if (journal) {
    const lines = formatLines(journal);
    const wanted = [
      `platform:adjustments ${-Number(amount)}`,
      `wallet:${String(accountId)} ${String(amount)}`,
    ];
    if (lines.sort().join() !== wanted.sort().join()) {
      problems.push(`its journal moves ${lines.join(', ')}, expected ${wanted.join(', ')}`);
    }
    if (String(journal['balanceAfter']) !== String(balanceAfter)) {
      problems.push(
        `its balanceAfter is ${String(balanceAfter)}, that of its journal is ${String(journal['balanceAfter'])}`,
      );
    }
  }
  return problems;
}

/** Formats lines for comparison. Invalid lines are reported with the journal. */
function formatLines({ lines }: Document): string[] {
  return (Array.isArray(lines) ? (lines as (Document | null)[]) : []).map(
    (line) => `${String(line?.['account'])} ${String(line?.['amount'])}`,
  );
}

/**
 * Checks that the requester or the approver has an audit entry. It is written in the same
 * transaction as the completion (decision 014).
 */
function compareWithAudit(adjustment: Document, entries: Document[]): string[] {
  const { status, amount, accountId, requestedBy, decidedBy } = adjustment;
  if (status !== 'completed') {
    return entries.length === 0 ? [] : [`it is ${String(status)}, but the audit log records it as made`];
  }
  const isApproved = decidedBy !== null && decidedBy !== undefined;
  const action = isApproved ? 'adjustment.approve' : 'adjustment.post';
  const entry = entries.find((each) => each['action'] === action);
  if (!entry) {
    return [`there is no audit entry ${action}`];
  }
  const recorded = (entry['after'] ?? {}) as Document;
  const asked: unknown = isApproved ? ((entry['before'] ?? {}) as Document)['requestedBy'] : entry['actor'];
  const compared: [string, unknown, unknown][] = [
    ['amount', recorded['amount'], Number(amount)],
    ['account', recorded['accountId'], accountId],
    ['requestedBy', asked, requestedBy],
    ...(isApproved ? [['decidedBy', entry['actor'], decidedBy] satisfies [string, unknown, unknown]] : []),
  ];
  return compared
    .filter(([, told, stored]) => told !== stored)
    .map(([what, told, stored]) => `its ${what} is ${String(stored)}, its audit entry has ${String(told)}`);
}
