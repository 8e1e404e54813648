import type { Collection, Document } from 'mongodb';
import { audit, type AuditSubject } from '../../audit/audit.model.js';
import { untyped, type AnyStored } from '../../database/typed-collection.js';
import { deposits } from '../../deposits/deposit.model.js';
import { purchases } from '../../purchases/purchase.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import type { FindingLog } from './ledger-report.js';
import { patiently } from './patiently.js';

const batchSize = 1_000;

/** What the audit log tells of, and where it has to be. */
const told: { kind: AuditSubject['kind']; collection: Collection<AnyStored> }[] = [
  { kind: 'deposit', collection: untyped(deposits) },
  { kind: 'settlement', collection: untyped(settlements) },
  { kind: 'transaction', collection: untyped(purchases) },
];

/**
 * Whoever deletes a deposit with its journal and sets the wallet back leaves nothing that contradicts itself, except
 * what the audit log tells of it. (Without such an entry only the daily close can tell.) Nothing needs to be read
 * twice: an entry is younger than its subject.
 */
export async function checkTraces(log: FindingLog): Promise<void> {
  for (const { kind, collection } of told) {
    let last = '';
    for (let ids = await readTold(kind, last); ids.length > 0; ids = await readTold(kind, last)) {
      last = ids.at(-1) ?? '';
      const found = await patiently(() =>
        collection.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray(),
      );
      const known = new Set(found.map((each) => each._id));
      new Set(ids.filter((id) => !known.has(id))).forEach((id) => {
        const message = `the audit log tells of it, and it does not exist`;
        log.add({ check: 'vouched', subject: `${kind} ${id}`, message });
      });
    }
  }
}

/** The next subjects of this kind, each as often as it has entries in this batch. */
async function readTold(kind: AuditSubject['kind'], after: string): Promise<string[]> {
  const filter = { 'subject.kind': kind, 'subject.id': { $gt: after } };
  const found: Document[] = await patiently(() =>
    audit
      .find(filter, { projection: { 'subject.id': 1 }, batchSize: batchSize + 1 })
      .sort({ 'subject.id': 1 })
      .limit(batchSize)
      .toArray(),
  );
  return found.map(({ subject }) => String((subject as Document)['id']));
}
