import { expect } from 'chai';
import type { Document } from 'mongodb';
import { auditEntries } from '../../../src/audit/audit.model.js';
import { auditCloses } from '../../../src/audit/audit-close.model.js';
import { recordAudit } from '../../../src/audit/record-audit.js';
import { dayCloses } from '../../../src/money/closes/day-close.model.js';
import { computeRoot } from '../../../src/money/closes/close-hash.js';
import { findLastClosedDay } from '../../../src/money/closes/day-closes.js';
import { closeLedger } from '../../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { dayAgo, setTime } from './ledger-play.js';

describe('audit log in daily closes', () => {
  useDatabase();
  afterEach(() => {
    setClock(null);
  });

  /** Changes audit entries with permissions that the service does not have. */
  const forge = (change: (entries: typeof auditEntries) => Promise<unknown>) => change(auditEntries);

  async function writeAuditEntry(action: string): Promise<string> {
    const id = newId();
    await recordAudit(null, {
      actor: 'operator:test',
      action,
      subject: { kind: 'account', id },
      before: { price: 1, nested: { at: new Date(0), list: [1, 'two', null] } },
      after: { price: 2 },
    });
    return (await auditEntries.findOne({ 'subject.id': id }))?._id ?? '';
  }

  async function namedFindings(): Promise<string[]> {
    setClock(null);
    const { findings } = await verifyLedger();
    return findings.map(({ check, subject, message }) => `${check} ${subject}: ${message}`);
  }

  async function listFindingsDuring(id: string, change: () => Promise<unknown>): Promise<string[]> {
    const before = (await auditEntries.findOne({ _id: id })) as Document;
    await change();
    const found = await namedFindings();
    await forge((entries) => entries.replaceOne({ _id: id }, before as never, { upsert: true }));
    expect(await namedFindings(), 'findings after the repair').to.deep.equal([]);
    return found;
  }

  let first: string;
  let second: string;

  it('the first close covers all earlier entries; days closed without audit rows pass', async () => {
    setTime(dayAgo(20), 12);
    const old = await writeAuditEntry('before any close');
    setTime(dayAgo(9), 1);
    await closeLedger(dayAgo(10));
    // Simulate a close by an earlier release, which wrote no audit rows.
    const day = dayAgo(10);
    const content = (await findLastClosedDay())?.content;
    if (!content) {
      throw new Error('nothing was closed');
    }
    const { audit: covered, ...plain } = content;
    expect(covered?.entries).to.equal(await auditEntries.countDocuments({}));
    await auditCloses.deleteMany({});
    await dayCloses.updateOne(
      { _id: day },
      { $unset: { 'content.audit': 1 }, $set: { root: computeRoot(day, plain) } },
    );
    expect(await namedFindings()).to.deep.equal([]);

    setTime(dayAgo(9), 12);
    first = await writeAuditEntry('in the first day with rows');
    setTime(dayAgo(8), 1);
    await closeLedger(dayAgo(9));
    expect((await auditCloses.findOne({ _id: old }))?.day).to.equal(dayAgo(9));
    expect((await auditCloses.findOne({ _id: first }))?.day).to.equal(dayAgo(9));
    setTime(dayAgo(8), 12);
    second = await writeAuditEntry('in the next one');
    setTime(dayAgo(7), 1);
    await Promise.all([closeLedger(dayAgo(8)), closeLedger(dayAgo(8))]);
    expect((await auditCloses.findOne({ _id: second }))?.day).to.equal(dayAgo(8));
    expect(await namedFindings()).to.deep.equal([]);
    expect((await verifyLedger()).closes.audit).to.include({ late: 0 });
  });

  it('reports a changed, replaced, moved or removed entry of a closed day', async () => {
    const change = (fields: object) => () =>
      forge((entries) => entries.updateOne({ _id: first }, { $set: fields as never }));
    const name = `audit audit entry ${first}: it was changed after ${dayAgo(9)} was closed`;
    expect(await listFindingsDuring(first, change({ actor: 'operator:other' }))).to.deep.equal([name]);
    expect(await listFindingsDuring(first, change({ 'before.nested.list': [1, 'two'] }))).to.deep.equal([
      name,
    ]);
    expect(await listFindingsDuring(first, change({ added: true }))).to.deep.equal([name]);
    expect(
      await listFindingsDuring(first, change({ at: new Date() })),
      'entry moved to a later day',
    ).to.deep.equal([name]);
    expect(
      await listFindingsDuring(second, () => forge((entries) => entries.deleteOne({ _id: second }))),
    ).to.deep.equal([`audit audit entry ${second}: it was removed after ${dayAgo(8)} was closed`]);
  });

  it('reports an entry added to a closed day, or its day if a row was added too', async () => {
    setTime(dayAgo(8), 15);
    const forged = await writeAuditEntry('never happened');
    const unknown = /did not exist when its day was closed/;
    const [named, ...others] = await namedFindings();
    expect(named).to.match(unknown).and.to.include(forged);
    expect(others).to.deep.equal([]);
    await auditCloses.insertOne({ _id: forged, day: dayAgo(300), hash: 'x' });
    expect((await namedFindings()).join('\n')).to.match(unknown);
    await auditCloses.updateOne({ _id: forged }, { $set: { day: dayAgo(8) } });
    expect((await namedFindings()).join('\n')).to.match(
      new RegExp(`closed-days day ${dayAgo(8)}: its audit rows do not match`),
    );
    await auditCloses.deleteOne({ _id: forged });
    await forge((entries) => entries.deleteOne({ _id: forged }));
    const timeless = { _id: newId(), actor: 'x', action: 'x', subject: { kind: 'account', id: 'x' } };
    await forge((entries) => entries.insertOne(timeless as never));
    expect((await namedFindings()).join('\n')).to.match(/its time is/);
    await forge((entries) => entries.deleteOne({ _id: timeless._id }));
    expect(await namedFindings()).to.deep.equal([]);
  });

  it('reports the day of a removed or changed row', async () => {
    const row = await auditCloses.findOne({ _id: second });
    await auditCloses.deleteOne({ _id: second });
    expect((await namedFindings()).join('\n'))
      .to.include(`day ${dayAgo(8)}`)
      .and.to.include(second);
    await auditCloses.insertOne({ ...row, hash: 'forged' } as never);
    expect((await namedFindings()).join('\n'))
      .to.include(`day ${dayAgo(8)}`)
      .and.to.include(second);
    await auditCloses.updateOne({ _id: second }, { $set: { hash: row?.hash ?? '' } });
    expect(await namedFindings()).to.deep.equal([]);
  });

  it('covers a late entry once, in the next close, and reports it', async () => {
    setTime(dayAgo(8), 23);
    const late = await writeAuditEntry('by a clock that is behind');
    expect((await namedFindings()).join('\n')).to.include(late);
    setTime(dayAgo(6), 1);
    await closeLedger(dayAgo(7));
    setTime(dayAgo(5), 1);
    await closeLedger(dayAgo(6));
    expect((await auditCloses.findOne({ _id: late }))?.day).to.equal(dayAgo(7));
    expect(await namedFindings()).to.deep.equal([]);
    expect((await verifyLedger()).closes.audit)
      .to.include({ late: 1 })
      .and.to.deep.include({ lateIds: [late] });
    const closed = await dayCloses.find({ 'content.audit': { $ne: null } } as object).toArray();
    const covered = closed.reduce((sum, { content }) => sum + (content?.audit?.entries ?? 0), 0);
    expect(covered, 'covered entries').to.equal(await auditCloses.countDocuments({}));
  });
});
