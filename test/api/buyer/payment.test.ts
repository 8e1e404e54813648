import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToHold } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';

describe('postpaid: inquiry and payment', function () {
  this.timeout(60_000);
  let stack: Stack;
  let buyer: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 100_000_000);
  });
  after(() => stack.stop());

  const balance = async () => (await buyer.post('/api/buyer/balance')).body.data.balance as number;
  const inquire = (customer_number: string, code = 'PLNPOST') =>
    buyer.post('/api/buyer/inquiry', { code, customer_number });
  const pay = (customer_number: string, extra: object = {}): Promise<Answer> =>
    buyer.post('/api/buyer/payment', { code: 'PLNPOST', customer_number, ref_id: uniqueRef(), ...extra });
  const settled = (transactionId: string) =>
    eventually('the payment to be final', async () => {
      const { body } = await buyer.get(`/v1/transactions/${transactionId}`);
      return ['SUCCESS', 'FAILED'].includes(body.data.status) ? body.data : null;
    });

  it('a bill is quoted with all its fields, paid at its total, and the payment shows just the six fields', async () => {
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
    await expectLedgerToHold(stack);
  });

  it('without a quote the payment asks for the bill itself', async () => {
    const paid = await pay('530000005555');
    expect(paid.status).to.equal(200);
    expect((await settled(paid.body.data.transaction_id)).status).to.equal('SUCCESS');
  });

  it('10 payments at once with 10 ref_ids: a quote is never paid twice, and each debit has a quote of its own', async () => {
    const number = '530000006666';
    const quoted = await inquire(number);
    const before = await balance();
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(number)));
    const accepted = answers.filter((each) => each.status === 200);
    expect(answers.filter((each) => each.status === 409)).to.have.length(10 - accepted.length);
    const transactions = await stack.db.collection('transactions').find({ customerNumber: number }).toArray();
    expect(transactions).to.have.length(accepted.length);
    expect(new Set(transactions.map((each) => each['quoteId'])).size).to.equal(accepted.length);
    expect(await balance()).to.equal(before - accepted.length * quoted.body.data.total_amount);
    await expectLedgerToHold(stack);
  });

  it('the same ref_id again is the same payment, with another number a conflict', async () => {
    const ref_id = uniqueRef();
    const first = await pay('530000007777', { ref_id });
    const again = await pay('530000007777', { ref_id });
    expect(again.body.data.transaction_id).to.equal(first.body.data.transaction_id);
    expect((await pay('530000008888', { ref_id })).status).to.equal(409);
  });

  const refused: [string, string, number, string][] = [
    ['already paid', '530000001241', 409, '01'],
    ['a wrong number', '530000001242', 422, '04'],
    ['no bill', '530000001243', 404, '02'],
    ['a number of the wrong form', '12a', 422, '04'],
  ];
  for (const [what, number, status, code] of refused) {
    it(`${what}: inquiry and payment answer ${status}/${code} and nothing is debited`, async () => {
      const before = await balance();
      for (const answer of [await inquire(number), await pay(number)]) {
        expect(answer.status).to.equal(status);
        expect(answer.body).to.include({ status: 'error', code, data: null });
      }
      expect(await balance()).to.equal(before);
    });
  }

  it('a bill that changed since the inquiry fails and returns the money; a new inquiry shows the new total', async () => {
    const quoted = await inquire('530000001244');
    const before = await balance();
    const paid = await pay('530000001244');
    const done = await settled(paid.body.data.transaction_id);
    expect(done.status).to.equal('FAILED');
    expect(await balance()).to.equal(before);
    const again = await inquire('530000001244');
    expect(again.body.data.total_amount).not.to.equal(quoted.body.data.total_amount);
    await expectLedgerToHold(stack);
  });

  it('a payment that is pending at the biller becomes a success', async () => {
    const paid = await pay('530000001245');
    expect((await settled(paid.body.data.transaction_id)).status).to.equal('SUCCESS');
  });

  it('max_price below the bill refuses the payment with 409 and debits nothing', async () => {
    const before = await balance();
    const answer = await pay('530000009999', { max_price: 1 });
    expect(answer.status).to.equal(409);
    expect(await balance()).to.equal(before);
  });

  it('a prepaid product here, and a postpaid one at the prepaid call, are refused with the right call named', async () => {
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
