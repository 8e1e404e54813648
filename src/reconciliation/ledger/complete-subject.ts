import { audit } from '../../audit/audit.model.js';
import { quotes } from '../../bills/quote.model.js';
import type { Session } from '../../database/mongo.js';
import { readWithRetries } from './patiently.js';
import { rawReadOptions } from './read-document.js';
import * as stored from './stored.js';
import type { Subject, Voucher } from './subject.js';

/** The quotes that the purchases among these subjects pay, by one query. */
export async function addQuotes(subjects: Subject[], session: Session | null): Promise<void> {
  const ids = subjects.flatMap(({ purchase }) => purchase?.quoteId ?? []);
  if (ids.length === 0) {
    return;
  }
  const options = { ...rawReadOptions, projection: stored.quotes.fields, ...(session && { session }) };
  const found = await readWithin(session, () => quotes.find({ _id: { $in: ids } }, options).toArray());
  const byId = new Map(found.map((each) => [each._id, each]));
  for (const subject of subjects) {
    const raw = byId.get(subject.purchase?.quoteId ?? '');
    subject.quote = raw ? stored.quotes.read(raw, subject.problems) : null;
  }
}

/** What a person or a notification answers for, by kind of subject. Sales and failures are proved by their attempts. */
const vouchingActions = {
  deposit: ['deposit.confirm'],
  settlement: ['settlement.completed', 'settlement.failed'],
  transaction: ['transaction.reverse'],
};

/** The audit entries of these subjects that somebody must have written, by one query for each kind. */
export async function addVouchers(subjects: Subject[], session: Session | null): Promise<void> {
  const byId = new Map(subjects.map((each) => [each.id, each]));
  const concerned = {
    deposit: subjects.filter((each) => each.deposit),
    settlement: subjects.filter((each) => each.settlement),
    transaction: subjects.filter(({ purchase }) => purchase?.status === 'REFUNDED'),
  };
  for (const kind of ['deposit', 'settlement', 'transaction'] as const) {
    const ids = concerned[kind].map((each) => each.id);
    for (const voucher of ids.length > 0 ? await readVouchers(kind, ids, session) : []) {
      byId.get(voucher.subjectId)?.vouchers.push(voucher);
    }
  }
}

async function readVouchers(
  kind: keyof typeof vouchingActions,
  ids: string[],
  session: Session | null,
): Promise<Voucher[]> {
  const filter = { 'subject.kind': kind, 'subject.id': { $in: ids }, action: { $in: vouchingActions[kind] } };
  const projection = { 'subject.id': 1, action: 1, 'after.amount': 1 };
  const options = { projection, ...(session && { session }) };
  const found = await readWithin(session, () => audit.find(filter, options).toArray());
  return found.map(({ subject, action, after }) => {
    const amount = (after as { amount?: unknown } | null | undefined)?.amount;
    return { subjectId: subject.id, action, amount: typeof amount === 'number' ? amount : null };
  });
}

/** Within a database transaction the whole of it is done again, not one read. */
function readWithin<T>(session: Session | null, read: () => Promise<T>): Promise<T> {
  return session ? read() : readWithRetries(read);
}
