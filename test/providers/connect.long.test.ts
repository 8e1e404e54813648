import { expect } from 'chai';
import type { Account } from '../../src/accounts/account.model.js';
import { startStack, type Stack } from '../support/stack.js';
import { topupProcess as runTopup } from '../support/topup.js';
import { startDigiflazzServer, type DigiflazzServer } from './digiflazz-server.js';

describe('topup provider connect, test and set --kind', function () {
  this.timeout(90_000);
  let stack: Stack;
  let digiflazz: DigiflazzServer;

  before(async () => {
    digiflazz = await startDigiflazzServer();
    stack = await startStack({ workers: ['fulfilment'] });
    await stack.seed();
  });
  after(async () => {
    await stack.stop();
    await digiflazz.stop();
  });

  const topup = (args: string[], input = '') => runTopup([...args, '--json'], stack.env, input);
  const connect = (seller: string, secret: string, ...more: string[]) =>
    topup(
      ['provider', 'connect', 'digiflazz', '--seller', seller, '--url', digiflazz.url].concat(
        '--username',
        digiflazz.username,
        '--secret-stdin',
        ...more,
      ),
      secret,
    );
  const find = (username: string) => stack.db.collection<Account>('accounts').findOne({ username });

  it('a wrong secret is named, and nothing is stored', async () => {
    const { code, stdout, stderr } = await connect('wrong-key', 'not-the-key');
    expect(code).to.equal(1);
    expect(stdout + stderr).to.contain('the username or the secret is wrong');
    expect(await find('wrong-key')).to.equal(null);
  });

  it('a checked connection is stored, and its test order is never a real one', async () => {
    const connected = await connect('supplier', digiflazz.apiKey);
    expect(connected.code, connected.stdout + connected.stderr).to.equal(0);
    const data = JSON.parse(connected.stdout);
    expect(data).to.include({ seller: 'supplier', balance: 990_000, has_test: true });
    expect(data.callback_secret).to.match(/^[0-9a-f]{48}$/);
    const called = digiflazz.calls.length;
    const tested = await topup(['provider', 'test', 'supplier', '--reason', 'first test']);
    expect(tested.code, tested.stdout + tested.stderr).to.equal(0);
    const [sent, ...more] = digiflazz.calls.slice(called).map(({ raw }) => JSON.parse(raw));
    expect(more).to.deep.equal([]);
    expect(sent).to.include({ testing: true, buyer_sku_code: 'xld10', customer_no: '087800001230' });
    expect(await stack.db.collection('transactions').countDocuments()).to.equal(0);
    const audit = await stack.db.collection('audit').find().toArray();
    expect(JSON.stringify(audit)).not.to.contain(digiflazz.apiKey).and.not.to.contain(data.callback_secret);
  });

  it('another system needs a pause and no open purchase; its old secret is kept', async () => {
    const set = () =>
      topup(
        ['provider', 'set', 'seller', '--kind', 'digiflazz', '--url', digiflazz.url].concat(
          '--username',
          digiflazz.username,
          '--secret-stdin',
          '--reason',
          'moved',
        ),
        digiflazz.apiKey,
      );
    const before = await find('seller');
    const active = await set();
    expect(active.code).to.equal(1);
    expect(active.stdout + active.stderr).to.contain('provider pause seller');
    await topup(['provider', 'pause', 'seller', '--reason', 'moving']);
    const open = {
      _id: 'open' as never,
      status: 'PROCESSING',
      accountId: 'a',
      sellerId: before?._id,
      refId: 'r',
    };
    await stack.db.collection('transactions').insertOne(open);
    const busy = await set();
    expect(busy.code).to.equal(1);
    expect(busy.stdout + busy.stderr).to.contain('1 open purchases of seller');
    expect(await find('seller')).to.deep.equal(before);
    await stack.db.collection('transactions').deleteOne({ _id: open._id });
    const moved = await set();
    expect(moved.code, moved.stderr).to.equal(0);
    const provider = (await find('seller'))?.provider;
    expect(provider).to.include({ kind: 'digiflazz', baseUrl: digiflazz.url });
    expect(provider?.previous).to.include({
      kind: 'simulator',
      username: before?.provider?.username,
      secretSealed: before?.provider?.secretSealed,
    });
  });
});
