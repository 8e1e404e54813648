import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign, createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { Long } from 'mongodb';
import { getBuiltProgramPath } from '../../../config/project-file.js';
import { env } from '../../../config/env.js';
import { diagnoseMongo } from '../../../src/doctor/diagnose-databases.js';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { deposits } from '../../../src/deposits/deposit.model.js';
import { computeRoot } from '../../../src/money/closes/close-hash.js';
import { dayCloses } from '../../../src/money/closes/day-close.model.js';
import { findLastClosedDay } from '../../../src/money/closes/day-closes.js';
import { walletCloses } from '../../../src/money/closes/wallet-close.model.js';
import { journals, type Journal } from '../../../src/money/journals/journal.model.js';
import { wallets } from '../../../src/money/wallets/wallet.model.js';
import { closeDueDays, closeLedger } from '../../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { getStartOfDay } from '../../../src/shared/business-time.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { eventually } from '../../support/eventually.js';
import { topup, topupProcess } from '../../support/topup.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { dayAgo, openPlay, setTime, type Play } from './ledger-play.js';

const walletCount = 1_200;
const pem = () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

describe('closing the ledger', function () {
  this.timeout(180_000);
  useDatabase();
  afterEach(() => {
    setClock(null);
    env.LEDGER_CLOSE_KEY = null;
  });

  let play: Play;
  before(async () => {
    setTime(dayAgo(9), 9);
    play = await openPlay();
    await depositInto(walletCount, dayAgo(9));
    setClock(null);
  });

  const doctorSays = async () => {
    setClock(null);
    return (await diagnoseMongo()).find(({ name }) => name === 'daily close');
  };

  it('topup doctor expects a first close only if data is older than yesterday', async () => {
    const accountsFrom = (createdAt: Date) =>
      writeAndInvalidate([AccountModel], null, (accounts) =>
        accounts.collection.updateMany({}, { $set: { createdAt } }),
      );
    await accountsFrom(new Date());
    expect(await doctorSays()).to.include({ status: 'ok' });
    await accountsFrom(new Date(Date.now() - 5 * 86_400_000));
    expect(await doctorSays()).to.include({ status: 'warn', detail: 'no day is closed yet' });
  });

  it('other processes finish a killed close, and concurrent closes agree on one root', async () => {
    const day = dayAgo(9);
    const args = ['ledger', 'close', '--date', day, '--json'];
    const killed = spawn(process.execPath, [getBuiltProgramPath('scripts/topup.js'), ...args], {
      stdio: 'ignore',
    });
    await eventually('some rows', async () => (await walletCloses.countDocuments({ day })) > 0, 60_000);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    expect(await findLastClosedDay(), 'last closed day').to.equal(null);
    const left = await walletCloses.countDocuments({ day });
    expect(left)
      .to.be.greaterThan(0)
      .and.lessThan(walletCount + 1);

    const others = [topupProcess(args, process.env), topupProcess(args, process.env)];
    const [own] = await Promise.all([closeLedger(day), closeLedger(day)]);
    const printed = (await Promise.all(others)).map((each) => {
      expect(each.code, each.stderr).to.equal(0);
      return each.json<{ last: { root: string } }>().last.root;
    });
    const root = (await findLastClosedDay())?.root;
    expect([...printed, ...own.map((each) => each.root)]).to.deep.equal([root, root, root]);
    expect(await walletCloses.countDocuments({ day })).to.equal(walletCount + 1);
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });

  it('closes a day without journals, and refuses a day that is not over', async () => {
    const [quiet] = await closeLedger(dayAgo(8));
    expect(quiet?.content).to.include({ wallets: 0, journals: 0 });
    const refused = await topup(['ledger', 'close', '--date', dayAgo(0)], process.env);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('is not over');
    expect((await topup(['ledger', 'close', '--date', '2024-02-30'], process.env)).code).to.equal(2);
    setTime(dayAgo(7), 0, 9);
    await closeDueDays();
    expect((await findLastClosedDay())?._id).to.equal(dayAgo(8));
    setTime(dayAgo(6), 0, 9);
    await closeDueDays();
    expect((await findLastClosedDay())?._id, 'not in the ten minutes for late commits').to.equal(dayAgo(8));
    setTime(dayAgo(6), 0, 10);
    await closeDueDays();
    expect((await findLastClosedDay())?._id).to.equal(dayAgo(7));
    const late = { status: 'warn', detail: `the last closed day is ${dayAgo(7)}` };
    expect(await doctorSays()).to.include(late);
  });

  it('journals with wrong or late times break no closed day and are in exactly one', async () => {
    const day = dayAgo(6);
    // A deposit written by a process whose clock is a year ahead must not end days early.
    setTime(dayAgo(-365), 12);
    await play.deposit();
    setTime(day, 12);
    await play.deposit();
    setTime(dayAgo(5), 1);
    await closeLedger(day);
    const closed = await walletCloses.findOne({ _id: `${day}:${play.buyer._id}` });
    expect(closed && closed.lastSeq - closed.firstSeq).to.equal(1);
    // A process whose clock is behind writes into the closed day.
    setTime(day, 13);
    await play.deposit();
    setTime(dayAgo(4), 1);
    await closeLedger(dayAgo(5));
    const next = await walletCloses.findOne({ _id: `${dayAgo(5)}:${play.buyer._id}` });
    expect([next?.firstSeq, next?.lastSeq]).to.deep.equal([4, 4]);
    expect(next?.previous).to.equal(closed?.hash);
    setClock(null);
    expect((await verifyLedger()).findings).to.deep.equal([]);
  });

  it('refuses to close a wallet with inconsistent journals, and names it', async () => {
    setTime(dayAgo(4), 12);
    const deposit = await play.deposit();
    const filter = { subjectId: deposit._id };
    await journals.updateOne(filter, { $inc: { balanceAfter: Long.ONE } });
    setClock(null);
    const refused = await topup(['ledger', 'close', '--date', dayAgo(4)], process.env);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include(play.buyer._id).and.include('verify');
    await journals.updateOne(filter, { $inc: { balanceAfter: Long.NEG_ONE } });
    expect((await closeLedger(dayAgo(4)))[0]?.content.journals).to.equal(1);
  });

  it('signs roots with the key, requires it afterwards, and detects forged roots', async () => {
    const key = pem();
    env.LEDGER_CLOSE_KEY = key.replaceAll('\n', '\\n');
    const [signed] = await closeLedger(dayAgo(3));
    const publicKey = signed?.signature?.publicKey;
    expect((await verifyLedger()).closes.last?.publicKey)
      .to.equal(publicKey)
      .and.be.a('string');

    env.LEDGER_CLOSE_KEY = null;
    const refused = await topup(['ledger', 'close', '--date', dayAgo(2)], process.env);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.include('LEDGER_CLOSE_KEY');
    env.LEDGER_CLOSE_KEY = '/no/such/file';
    const failure: unknown = await closeLedger(dayAgo(2)).catch((error: unknown) => error);
    expect(String(failure))
      .to.match(/LEDGER_CLOSE_KEY is neither/)
      .and.not.include('/no/such');
    env.LEDGER_CLOSE_KEY = key;
    await closeLedger(dayAgo(2));
    const last = await findLastClosedDay();
    if (!last?.signature) {
      throw new Error('not signed');
    }

    const about = `closed-days: day ${last._id}`;
    const problems = async (publicKeyNamed?: string) =>
      (await verifyLedger(undefined, { publicKey: publicKeyNamed })).findings
        .filter(({ check, subject }) => `${check}: ${subject}` === about)
        .map((each) => each.message);
    expect(await problems(publicKey)).to.deep.equal([]);
    // Forge the content with a matching root. Only the signature does not match.
    const content = { ...last.content, journals: last.content.journals + 1 };
    const root = computeRoot(last._id, content);
    await dayCloses.updateOne({ _id: last._id }, { $set: { content, root } });
    expect(await problems()).to.deep.equal(['its signature does not match its root']);
    await dayCloses.updateOne({ _id: last._id }, { $set: { signature: null } });
    expect(await problems()).to.deep.equal(['it is not signed, but the previous day is']);
    const forger = createPrivateKey(pem());
    const forged = createPublicKey(forger).export({ type: 'spki', format: 'der' }).toString('base64');
    const value = sign(null, Buffer.from(`topup ledger close ${last._id} ${root}`), forger).toString(
      'base64',
    );
    await dayCloses.updateOne({ _id: last._id }, { $set: { signature: { publicKey: forged, value } } });
    expect(await problems(publicKey)).to.deep.equal(['it is not signed with the given key']);
    await dayCloses.replaceOne({ _id: last._id }, last);
  });

  it('topup ledger close prints root and key, and verify accepts the printed root', async () => {
    const printed = await topup(['ledger', 'close', '--date', dayAgo(2)], process.env);
    const last = await findLastClosedDay();
    expect(printed.stdout).to.include(last?.root).and.include(last?.signature?.publicKey);
    const verify = (...more: string[]) => topup(['ledger', 'verify', ...more], process.env);
    const green = await verify('--root', last?.root ?? '');
    expect(green.stdout).to.include('closed days by their hashes').and.include(last?.root);
    expect(green.code).to.equal(0);
    const full = await verify('--full');
    expect(full.code, full.stdout).to.equal(0);
    expect((await verify('--key', 'another')).code, 'the first days had no key').to.equal(1);
  });
});

/** Creates `count` wallets with one deposit each, in the format of the service. */
async function depositInto(count: number, day: string): Promise<void> {
  const at = new Date(getStartOfDay(day).getTime() + 3_600_000);
  const amount = Long.fromNumber(50_000) as unknown as number;
  const one = Long.ONE as unknown as number;
  const zero = Long.ZERO as unknown as number;
  const ids = Array.from({ length: count }, () => ({ walletId: newId(), depositId: newId() }));
  await writeAndInvalidate([AccountModel], null, (rows) =>
    rows.collection.insertMany(
      ids.map(({ walletId }) => ({ _id: walletId, username: walletId, role: 'buyer' }) as never),
    ),
  );
  await wallets.insertMany(
    ids.map(({ walletId }) => ({ _id: walletId, balance: amount, held: zero, seq: one })),
  );
  await deposits.insertMany(
    ids.map(({ walletId, depositId }) => ({
      _id: depositId,
      accountId: walletId,
      refId: depositId,
      amount,
      status: 'completed' as const,
      balanceBefore: zero,
      balanceAfter: amount,
      createdAt: at,
      completedAt: at,
    })),
  );
  const lines = (walletId: string): Journal['lines'] => [
    { account: 'platform:clearing', amount: Long.fromNumber(-50_000) as unknown as number },
    { account: `wallet:${walletId}`, amount },
  ];
  await journals.insertMany(
    ids.map(({ walletId, depositId }) => ({
      _id: newId(),
      accountId: walletId,
      kind: 'deposit' as const,
      subjectId: depositId,
      walletId,
      walletSeq: one,
      balanceAfter: amount,
      lines: lines(walletId),
      createdAt: at,
    })),
  );
}
