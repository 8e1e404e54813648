import { expect } from 'chai';
import { Redis } from 'ioredis';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';
import type { RunningProgram } from '../../support/start-program.js';

/** Returns the Redis keys of this stack whose value contains one of the words. */
async function redisValuesWith({ env }: Stack, ...words: string[]): Promise<string[]> {
  const redis = new Redis(env['REDIS_URL'] ?? '');
  try {
    const keys = await redis.keys(`*${env['QUEUE_PREFIX'] ?? ''}*`);
    const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
    return keys.filter((_, index) => words.some((word) => dumps[index]?.includes(word)));
  } finally {
    redis.disconnect();
  }
}

const balanceOf = async (buyer: ApiClient) =>
  (await buyer.post('/api/buyer/balance')).body.data.balance as number;
const askFor = (buyer: ApiClient, customer_number: string, code = 'PLNPOST') =>
  buyer.post('/api/buyer/inquiry', { code, customer_number });
const payBy = (buyer: ApiClient, customer_number: string): Promise<Answer> =>
  buyer.post('/api/buyer/payment', { code: 'PLNPOST', customer_number, ref_id: uniqueRef() });

describe('postpaid: inquiry and payment', () => {
  let stack: Stack;
  let buyer: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 100_000_000);
  });
  after(() => stack.stop());

  const balance = () => balanceOf(buyer);
  const inquire = (customerNumber: string, code?: string) => askFor(buyer, customerNumber, code);
  const pay = (customerNumber: string) => payBy(buyer, customerNumber);
  const settled = (transactionId: string) =>
    eventually('the payment is final', async () => {
      const { body } = await buyer.get(`/v1/transactions/${transactionId}`);
      return ['SUCCESS', 'FAILED'].includes(body.data.status) ? body.data : null;
    });

  it('quotes a bill with all fields and pays it at its total', async () => {
    const quoted = await inquire('530000001240');
    expect(quoted.status).to.equal(200);
    expect(quoted.body.data).to.have.all.keys(
      'customer_number',
      'customer_name',
      'bill_period',
      'total_bill',
      'admin_fee',
      'total_amount',
    );
    expect(quoted.body.data.bill_period).to.match(/^\d{4}-\d{2}$/);
    const { total_bill, admin_fee, total_amount } = quoted.body.data as Record<string, number>;
    expect(total_amount).to.equal((total_bill ?? 0) + (admin_fee ?? 0));
    const before = await balance();
    const paid = await pay('530000001240');
    expect(paid.body.data).to.have.all.keys(
      'ref_id',
      'transaction_id',
      'customer_number',
      'product_name',
      'price',
      'status',
    );
    expect(paid.body.data).to.include({ price: quoted.body.data.total_amount, status: 'pending' });
    expect(await balance()).to.equal(before - quoted.body.data.total_amount);
    expect((await settled(paid.body.data.transaction_id)).status).to.equal('SUCCESS');
    await expectLedgerToBalance(stack);
  });

  it('a payment without a quote queries the biller itself', async () => {
    const paid = await pay('530000005555');
    expect(paid.status).to.equal(200);
    expect((await settled(paid.body.data.transaction_id)).status).to.equal('SUCCESS');
  });

  it('refuses a second payment of the same bill until the first is final', async () => {
    const number = '530000031245';
    const first = await pay(number);
    expect(first.body.data.status).to.equal('pending');
    await inquire(number);
    const second = await pay(number);
    expect([second.status, second.body.code], second.body.message).to.deep.equal([409, '01']);
    expect(second.body.message).to.include(first.body.data.ref_id);
    expect((await pay('530000021245')).status).to.equal(200);
    expect((await settled(first.body.data.transaction_id)).status).to.equal('SUCCESS');
    // The second payment does not use a quote made before the first payment: the biller is queried
    // again.
    const third = await pay(number);
    expect(third.status, third.body.message).to.equal(200);
    const quotes = await stack.db.collection('quotes').find({ customerNumber: number }).toArray();
    const paidBy = ({ body }: Answer) => quotes.find(({ usedBy }) => usedBy === body.data.transaction_id);
    const { finalAt } = (await stack.db
      .collection<{ _id: string }>('transactions')
      .findOne({ _id: first.body.data.transaction_id })) as unknown as { finalAt: Date };
    expect((paidBy(third)?.['createdAt'] as Date).getTime()).to.be.greaterThan(finalAt.getTime());
    expect(quotes).to.have.length(3);
    await expectLedgerToBalance(stack);
  });

  const refused: [string, string, number, string][] = [
    ['already paid', '530000001241', 409, '01'],
    ['a wrong number', '530000001242', 422, '04'],
    ['no bill', '530000001243', 404, '02'],
    ['a malformed number', '12a', 422, '04'],
  ];
  for (const [what, number, status, code] of refused) {
    it(`${what}: inquiry and payment return ${status}/${code} and debit nothing`, async () => {
      const before = await balance();
      for (const answer of [await inquire(number), await pay(number)]) {
        expect(answer.status).to.equal(status);
        expect(answer.body).to.include({ status: 'error', code, data: null });
      }
      expect(await balance()).to.equal(before);
    });
  }

  it('refunds a bill that changed since the inquiry, and quotes the new total', async () => {
    const quoted = await inquire('530000001244');
    const before = await balance();
    const paid = await pay('530000001244');
    const done = await settled(paid.body.data.transaction_id);
    expect(done.status).to.equal('FAILED');
    expect(await balance()).to.equal(before);
    const again = await inquire('530000001244');
    expect(again.body.data.total_amount).not.to.equal(quoted.body.data.total_amount);
    await expectLedgerToBalance(stack);
  });

  it('a payment that is pending at the biller becomes a success', async () => {
    const paid = await pay('530000001245');
    expect((await settled(paid.body.data.transaction_id)).status).to.equal('SUCCESS');
  });

  it('a meter check shows owner and power, debits nothing and stores no name', async () => {
    const meter = '12345678901';
    const before = await balance();
    const checks = await Promise.all(Array.from({ length: 5 }, () => inquire(meter, 'PLN20')));
    for (const { status, body } of checks) {
      expect(status, body.message).to.equal(200);
      expect(body.data).to.have.all.keys('customer_number', 'customer_name', 'power');
      expect(body.data).to.include({ customer_number: meter, power: 'R1 / 900 VA' });
    }
    const name = String(checks[0]?.body.data.customer_name);
    expect(name).to.match(/^[A-Z]{4}/);
    expect(await balance()).to.equal(before);
    expect(await stack.db.collection('quotes').countDocuments({ customerNumber: meter })).to.equal(0);
    expect(await redisValuesWith(stack, name, meter)).to.deep.equal([]);
    const bought = await buyer.post('/api/buyer/transaction', {
      code: 'PLN20',
      customer_number: meter,
      ref_id: uniqueRef(),
    });
    await settled(bought.body.data.transaction_id);
    const { body } = await buyer.get(`/v1/transactions/${bought.body.data.transaction_id}`);
    expect(body.data.serial_number).to.include(`/${name}/`);
  });

  it('distinguishes an unknown meter, a wrong number and a provider outage', async () => {
    for (const number of ['12345671242', '1234567']) {
      const { status, body } = await inquire(number, 'PLN20');
      expect([status, body.code, body.reason]).to.deep.equal([422, '04', 'invalid_customer_number']);
    }
    const away = await inquire('12345671246', 'PLN20');
    expect([away.status, away.body.code, away.body.reason]).to.deep.equal([503, '03', 'biller_unavailable']);
    await stack.simulator.control({ down: true });
    const { status, body } = await inquire('12345678902', 'PLN20');
    expect([status, body.code, body.reason]).to.deep.equal([503, '03', 'biller_unavailable']);
    await stack.simulator.control({ down: false });
    expect((await inquire('12345678902', 'PLN20')).status).to.equal(200);
  });

  it('refuses the wrong product kind and names the right call', async () => {
    const inquiry = await inquire('081234567890', 'S10');
    expect(inquiry.status).to.equal(400);
    expect(inquiry.body.message).to.contain('/api/buyer/transaction');
    const purchase = await buyer.post('/api/buyer/transaction', {
      code: 'PLNPOST',
      customer_number: '530000001240',
      ref_id: uniqueRef(),
    });
    expect(purchase.status).to.equal(400);
    expect(purchase.body.message).to.contain('/api/buyer/payment');
  });
});

describe('postpaid: concurrent payments of one bill', () => {
  let stack: Stack;
  let inquiries: RunningProgram;
  let apiKey: string;
  let buyer: ApiClient;

  before(async () => {
    // Run no fulfilment worker: a payment that ends early would allow the next one.
    stack = await startStack();
    inquiries = await stack.startWorker('inquiries');
    apiKey = (await stack.seed())['buyer']?.api_key ?? '';
    buyer = apiClient(stack.baseUrl, apiKey);
    await deposit(buyer, 100_000_000);
  });
  after(() => stack.stop());

  async function askTimes(times: number, number: string): Promise<void> {
    for (let n = 0; n < times; n++) {
      expect((await askFor(buyer, number)).status).to.equal(200);
    }
  }

  it('accepts one of 10 concurrent payments, with and without a quote', async () => {
    for (const number of ['530000006661', '530000006662']) {
      const quoted = number.endsWith('1') ? await askFor(buyer, number) : null;
      const before = await balanceOf(buyer);
      const answers = await Promise.all(Array.from({ length: 10 }, () => payBy(buyer, number)));
      const accepted = answers.filter((each) => each.status === 200);
      expect(accepted).to.have.length(1);
      for (const refused of answers.filter((each) => !accepted.includes(each))) {
        expect(refused.status).to.equal(409);
        expect(refused.body).to.deep.include({ code: '01', reason: 'bill_being_paid' });
        expect(refused.body.message).to.match(/being paid by .+ Nothing was debited\.$/);
      }
      const paid = await stack.db.collection('transactions').find({ customerNumber: number }).toArray();
      expect(paid).to.have.length(1);
      const { price } = accepted[0]?.body.data as { price: number };
      expect(price).to.equal(quoted?.body.data.total_amount ?? price);
      expect(await balanceOf(buyer)).to.equal(before - price);
    }
    await expectLedgerToBalance(stack);
  });

  it('accepts one of two payments in two processes after 50 inquiries', async () => {
    const number = '530000006663';
    const second = apiClient((await stack.startWeb()).url, apiKey);
    for (const other of [buyer, second]) {
      await askTimes(50, number);
      const answers = await Promise.all([
        payBy(buyer, number),
        askFor(other, number).then(() => payBy(second, number)),
      ]);
      const accepted = answers.filter(({ status }) => status === 200);
      expect(accepted).to.have.length(other === buyer ? 1 : 0);
      for (const { body } of answers.filter((each) => !accepted.includes(each))) {
        expect(body.reason).to.equal('bill_being_paid');
      }
    }
    expect(await stack.db.collection('transactions').countDocuments({ customerNumber: number })).to.equal(1);
  });

  it('a payment whose final state is lost in a failover blocks the next one', async () => {
    const number = '530000006665';
    const first = (await payBy(buyer, number)).body.data.transaction_id as string;
    await askTimes(1, number);
    const payments = stack.db.collection<{ _id: string; status: string; finalAt: Date | null }>(
      'transactions',
    );
    const open = await payments.findOne({ _id: first });
    await payments.updateOne({ _id: first }, { $set: { status: 'FAILED', finalAt: new Date() } });
    inquiries.process.kill('SIGSTOP');
    try {
      const next = payBy(buyer, number);
      await eventually('the biller gets the inquiry', () =>
        stack.db.collection('quotes').findOne({ customerNumber: number, status: 'asked' }),
      );
      await payments.updateOne({ _id: first }, { $set: { status: open?.status ?? '', finalAt: null } });
      inquiries.process.kill('SIGCONT');
      expect((await next).body).to.include({ reason: 'bill_being_paid' });
    } finally {
      inquiries.process.kill('SIGCONT');
    }
    await expectLedgerToBalance(stack);
  });

  it('queries the biller again after a final payment; earlier quotes cannot be paid', async () => {
    const number = '530000006664';
    const first = (await payBy(buyer, number)).body.data.transaction_id as string;
    await askTimes(50, number);
    await stack.startWorker('fulfilment');
    const transactions = stack.db.collection<{ _id: string; finalAt: Date | null }>('transactions');
    const ended = await eventually('the payment is final', () =>
      transactions.findOne({ _id: first, finalAt: { $ne: null } }),
    );
    const next = (await payBy(buyer, number)).body.data.transaction_id as string;
    const claimed = await stack.db.collection('quotes').findOne({ usedBy: next });
    expect((claimed?.['createdAt'] as Date).getTime()).to.be.greaterThan(ended.finalAt?.getTime() ?? 0);
    await expectLedgerToBalance(stack);
  });
});
