import { expect } from 'chai';
import { DepositModel } from '../../src/deposits/deposit.model.js';
import {
  UnknownOutcomeError,
  connectMongo,
  disconnectMongo,
  getPostingClient,
} from '../../src/database/mongo.js';
import { JournalModel } from '../../src/money/journals/journal.model.js';
import { post } from '../../src/money/posting/post.js';
import type { Posting, PostingResult } from '../../src/money/posting/posting.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { DependencyError } from '../../src/shared/errors.js';
import { newId } from '../../src/shared/ids.js';
import { withFault, type Fault, type FaultKind } from '../support/mongo-faults.js';
import { debit, failureOf, namespaceOf, openWallet } from './support/debits.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('posting engine', () => {
  useDatabase();

  const outcomes = (results: PostingResult[]) => results.map(({ outcome }) => outcome).sort();
  const stored = (posting: Posting) => JournalModel.countDocuments({ subjectId: posting.subjectId });

  it('commits concurrent postings of many wallets together, each with its own outcome', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => openWallet(50_000)));
    let commits = 0;
    const count = () => (commits += 1);
    const session = getPostingClient();
    session.on('connectionCheckedOut', count);
    const results = await Promise.all(
      ids.flatMap((id) => [30_000, 30_000].map((amount) => post(debit(id, amount)))),
    );
    session.off('connectionCheckedOut', count);
    expect(outcomes(results)).to.deep.equal([...ids.map(() => 'insufficient'), ...ids.map(() => 'posted')]);
    for (const id of ids) {
      expect(await getWallet(id)).to.include({ balance: 20_000, seq: 2 });
    }
    // The postings share two lanes. Each lane commits a few groups with about six commands per
    // group. One transaction per posting would need hundreds of commands.
    expect(commits).to.be.lessThan(60);
  });

  it('opens no connection after the process has disconnected from MongoDB', async () => {
    const id = await openWallet(50_000);
    await disconnectMongo();
    try {
      expect(() => getPostingClient()).to.throw(DependencyError);
      expect(await failureOf(post(debit(id, 10_000)))).to.be.instanceOf(DependencyError);
    } finally {
      await connectMongo();
    }
    expect((await getWallet(id)).balance).to.equal(50_000);
  });

  it('accepts covered postings in the order of arrival', async () => {
    const id = await openWallet(50_000);
    const amounts = [30_000, 40_000, 15_000, 10_000, 5_000];
    const results = await Promise.all(amounts.map((amount) => post(debit(id, amount))));
    expect(results.map(({ outcome }) => outcome)).to.deep.equal([
      'posted',
      'insufficient',
      'posted',
      'insufficient',
      'posted',
    ]);
    expect((await getWallet(id)).balance).to.equal(0);
  });

  it('returns the existing posting for a repeat, even with an empty balance', async () => {
    const id = await openWallet(50_000);
    const refId = newId();
    const [first, ...repeats] = await Promise.all(
      Array.from({ length: 5 }, () => post(debit(id, 50_000, refId))),
    );
    const later = await post(debit(id, 50_000, refId));
    expect(first?.outcome).to.equal('posted');
    for (const each of [...repeats, later]) {
      expect(each).to.have.nested.property('stands.amount', 50_000);
    }
  });

  it('a stale or duplicate posting does not affect the rest of its group', async () => {
    const id = await openWallet(50_000);
    const known = debit(id, 1_000);
    await post(known);
    const stale: Posting = {
      ...debit(id, 1_000),
      changes: [{ collection: 'deposits', id: 'none', expect: {}, set: { refId: 'x' } }],
    };
    const again: Posting = { ...debit(id, 1_000), subjectId: known.subjectId };
    const results = await Promise.all([
      post(debit(id, 1_000)),
      post(stale),
      post(again),
      post(debit(id, 1_000)),
    ]);
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['posted', 'stale', 'duplicate', 'posted']);
    expect((await getWallet(id)).balance).to.equal(47_000);
  });

  it('a document that the database refuses fails alone', async () => {
    const id = await openWallet(50_000);
    const broken: Posting = {
      ...debit(id, 1_000),
      inserts: [{ collection: 'deposits', document: { _id: [] } }],
    };
    const [first, error, last] = await Promise.all([
      post(debit(id, 1_000)),
      failureOf(post(broken)),
      post(debit(id, 1_000)),
    ]);
    expect([first.outcome, last.outcome]).to.deep.equal(['posted', 'posted']);
    expect(error).to.be.instanceOf(Error);
    expect(await stored(broken)).to.equal(0);
  });

  const lost: FaultKind[] = [
    'reply-lost',
    'unlabelled-error',
    'write-concern-timeout',
    'refused',
    'transient',
    'write-conflict',
  ];
  for (const kind of lost) {
    it(`posts once and reports success when the commit meets ${kind}`, async () => {
      const id = await openWallet(50_000);
      const posting = debit(id, 1_000);
      const result = await withFault({ kind, commands: ['commitTransaction'], times: 1 }, () =>
        post(posting),
      );
      expect(result.outcome).to.equal('posted');
      expect(await stored(posting)).to.equal(1);
      expect(await getWallet(id)).to.include({ balance: 49_000, seq: 2 });
    });
  }

  it('reports an unknown outcome without a majority, and a repeat finds the posting', async () => {
    const id = await openWallet(50_000);
    const posting = debit(id, 1_000);
    let error: unknown;
    const fault: Fault = { kind: 'write-concern-timeout', commands: ['commitTransaction'], times: 30 };
    const flooded = await failureOf(
      withFault(fault, async () => {
        error = await failureOf(post(posting));
      }),
    );
    expect(flooded, 'some commits met the fault').to.equal(null);
    expect(error).to.be.instanceOf(UnknownOutcomeError);
    const again = await post({ ...posting, inserts: [] });
    expect(again.outcome).to.equal('duplicate');
  });

  it('a dead socket blocks a lane for seconds only, and callers get a result in time', async () => {
    const id = await openWallet(50_000);
    const posting = debit(id, 1_000);
    const startedMs = performance.now();
    const error = await withFault(
      { kind: 'silence', commands: ['update'], namespace: namespaceOf('wallets'), times: 1 },
      () => failureOf(post(posting)),
    );
    expect(performance.now() - startedMs).to.be.lessThan(2_900);
    expect(error).to.be.instanceOf(DependencyError).and.not.instanceOf(UnknownOutcomeError);
    const next = await post(debit(id, 1_000), { deadlineMs: 10_000 });
    expect(next.outcome).to.equal('posted');
    expect(performance.now() - startedMs).to.be.lessThan(6_000);
    expect(await stored(posting), 'its caller got "nothing written"').to.equal(0);
  });

  it('does not write a waiting posting after its caller has timed out', async () => {
    const id = await openWallet(50_000);
    const postings = Array.from({ length: 5 }, () => debit(id, 1_000));
    const errors = await withFault(
      { kind: 'pause', commands: ['find'], namespace: namespaceOf('wallets'), times: 1, ms: 1_500 },
      () => Promise.all(postings.map((each) => failureOf(post(each, { deadlineMs: 500 })))),
    );
    for (const error of errors) {
      expect(error).to.be.instanceOf(DependencyError).and.not.instanceOf(UnknownOutcomeError);
    }
    await post(debit(id, 1_000), { deadlineMs: 10_000 });
    expect(await getWallet(id)).to.include({ balance: 49_000, seq: 2 });
    expect(await DepositModel.countDocuments({ accountId: id })).to.equal(2);
  });

  it('a posting with repeated conflicts blocks no other account', async () => {
    // There are nine wallets, so at least one free wallet shares the lane of the held one.
    const [held, ...free] = (await Promise.all(Array.from({ length: 9 }, () => openWallet(50_000)))) as [
      string,
      ...string[],
    ];
    const client = getPostingClient();
    const session = client.startSession();
    let waiting: Promise<PostingResult[]>;
    try {
      session.startTransaction();
      await client
        .db()
        .collection('wallets')
        .updateOne({ _id: held as never }, { $set: { touched: 1 } }, { session });
      // This deadline is longer than that of the other postings. These would fail if they waited
      // for the held wallet.
      const patience = { deadlineMs: 15_000 };
      waiting = Promise.all(Array.from({ length: 10 }, () => post(debit(held, 1_000), patience)));
      for (let round = 0; round < 3; round++) {
        const results = await Promise.all(
          free.map((each) => post(debit(each, 1_000), { deadlineMs: 7_000 })),
        );
        expect(outcomes(results)).to.deep.equal(free.map(() => 'posted'));
      }
    } finally {
      await session.abortTransaction();
      await session.endSession();
    }
    expect(outcomes(await waiting)).to.deep.equal(Array.from({ length: 10 }, () => 'posted'));
    expect((await getWallet(held)).balance).to.equal(40_000);
  });

  it('refuses an unbalanced posting before anything is written', async () => {
    const id = await openWallet(50_000);
    const posting = debit(id, 1_000);
    const wrong: Posting = { ...posting, lines: [{ account: `wallet:${id}`, amount: -1_000 }] };
    expect(await failureOf(post(wrong))).to.be.instanceOf(Error);
    expect(await stored(posting)).to.equal(0);
  });
});
