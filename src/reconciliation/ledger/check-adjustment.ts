import { Long, type Document } from 'mongodb';
import { adjustments } from '../../adjustments/adjustment.model.js';
import { inTransaction, type Session } from '../../database/mongo.js';
import { journals } from '../../money/journals/journal.model.js';
import type { FindingLog } from './ledger-report.js';

const atOnce = 500;

/**
 * Every adjustment against its journal, and every journal of this kind against its adjustment, in rising order of their
 * ids. What looks wrong is read again at one moment before it counts.
 */
export async function checkAdjustments(log: FindingLog): Promise<void> {
  for (let after = ''; ;) {
    const batch = await read(null, { after });
    for (const id of batch.ids) {
      if (problemsOf(batch, id).length > 0) {
        const again = await inTransaction((session) => read(session, { id }));
        problemsOf(again, id).forEach((message) => {
          log.add({ check: 'adjustments', subject: `adjustment ${id}`, message });
        });
      }
    }
    const last = batch.ids.at(-1);
    if (last === undefined) {
      return;
    }
    after = last;
  }
}

interface Batch {
  /** Rising. Of what is behind the last one nothing is known yet. */
  ids: string[];
  adjustments: Map<string, Document>;
  journals: Map<string, Document>;
}

async function read(session: Session | null, which: { after: string } | { id: string }): Promise<Batch> {
  const key = 'id' in which ? which.id : { $gt: which.after };
  const options = { promoteLongs: false, ...(session && { session }) };
  const found = await adjustments.find({ _id: key }, options).sort({ _id: 1 }).limit(atOnce).toArray();
  const moved = await journals
    .find({ kind: 'adjustment', subjectId: key }, options)
    .sort({ subjectId: 1 })
    .limit(atOnce)
    .toArray();
  const asked = new Map(found.map((each) => [each._id, each as Document]));
  const posted = new Map(moved.map((each) => [each.subjectId, each as Document]));
  const ids = [...new Set([...asked.keys(), ...posted.keys()])].sort();
  const ends = [asked, posted]
    .filter(({ size }) => size === atOnce)
    .map((each) => [...each.keys()].at(-1) ?? '');
  const known = ids.filter((id) => ends.every((end) => id <= end));
  return { ids: known, adjustments: asked, journals: posted };
}

/** One journal a completed adjustment, of its amount and with its balance; none of any other. */
function problemsOf({ adjustments, journals }: Batch, id: string): string[] {
  const adjustment = adjustments.get(id);
  const journal = journals.get(id);
  if (!adjustment) {
    return journal ? ['a journal "adjustment" of an adjustment that does not exist'] : [];
  }
  const { status, amount, accountId, balanceAfter, requestedBy, decidedBy } = adjustment;
  const problems: string[] = [];
  if (!Long.isLong(amount) || (balanceAfter !== null && !Long.isLong(balanceAfter))) {
    problems.push('its amount or its balance is not stored as int64');
  }
  if (status === 'completed' && requestedBy === decidedBy) {
    problems.push(`${String(decidedBy)} has asked for it and approved it`);
  }
  if ((status === 'completed') !== (journal !== undefined)) {
    problems.push(`it is ${String(status)} and has ${journal ? 'a' : 'no'} journal`);
  }
  if (journal) {
    const lines = (journal['lines'] as Document[]).map(
      (line) => `${String(line['account'])} ${String(line['amount'])}`,
    );
    const wanted = [
      `platform:adjustments ${-Number(amount)}`,
      `wallet:${String(accountId)} ${String(amount)}`,
    ];
    if (lines.sort().join() !== wanted.sort().join()) {
      problems.push(`its journal moves ${lines.join(', ')}, expected ${wanted.join(', ')}`);
    }
    if (String(journal['balanceAfter']) !== String(balanceAfter)) {
      problems.push(
        `it says balance ${String(balanceAfter)}, its journal ${String(journal['balanceAfter'])}`,
      );
    }
  }
  return problems;
}
