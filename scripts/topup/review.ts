import { Option, type Command } from 'commander';
import type { Review } from '../../src/purchases/review/review-decisions.js';
import { defineCommand, defineGroup, type CommandCall } from './define-command.js';
import { defineOperationCommand } from './operation-command.js';
import { age, rupiah, status, table } from './format.js';
import { limitOption, reasonOption } from './options.js';

/** `topup review …`: purchases whose outcome an operator must determine. */
export function registerReview(program: Command): void {
  const group = defineGroup(program, 'review', 'Purchases that wait for a decision by an operator');
  registerList(group);
  registerResolve(group);
  registerAsk(group);
  registerReverse(group);
}

function registerList(group: Command): void {
  defineCommand<{ limit: number }>(group, {
    usage: 'list',
    action: 'purchase.look',
    summary: 'List purchases that wait for a decision, oldest first',
    details:
      "They are neither refunded nor bought again, and the provider is no longer queried. Look up their reference in\nthe provider's own record, then decide: topup review resolve.",
    examples: ['review list', 'review list --json'],
    options: [limitOption()],
    async run({ options }) {
      const [{ listReviews }, { nowMs }] = await Promise.all([
        import('../../src/purchases/review/review-decisions.js'),
        import('../../src/shared/clock.js'),
      ]);
      const found = await listReviews(options);
      return {
        data: found.map(present),
        text:
          found.length === 0
            ? 'Nothing waits for a decision.'
            : table(
                ['transaction', 'waiting', 'product', 'customer', 'price', 'reference', 'decide', 'why'],
                found.map((each) => row(each, nowMs())),
                [4],
              ),
      };
    },
  });
}

function present({ purchase, orders: attempts, decisions }: Review) {
  return {
    transaction_id: purchase._id,
    review_since: purchase.reviewSince,
    reason: purchase.reviewReason ?? null,
    decisions,
    product_code: purchase.productCode,
    customer_number: purchase.customerNumber,
    price: purchase.price,
    attempts: attempts.map((each) => ({
      reference: each._id,
      seller_id: each.sellerId,
      status: each.status,
      sent_at: each.sentAt,
      checks: each.checks,
      code: each.code,
      message: each.message,
    })),
  };
}

function row({ purchase, orders: attempts, decisions }: Review, atMs: number): string[] {
  const last = attempts.at(-1);
  return [
    purchase._id,
    age(atMs - (purchase.reviewSince?.getTime() ?? 0)),
    purchase.productCode,
    purchase.customerNumber,
    rupiah(purchase.price),
    last?._id ?? '-',
    decisions.join(' | '),
    purchase.reviewReason ?? `${last?.code ?? ''} ${last?.message ?? ''}`.trim(),
  ];
}

function registerResolve(group: Command): void {
  defineOperationCommand(group, {
    usage: 'resolve <transaction>',
    action: 'review.resolve',
    summary: 'Decide a purchase under review',
    details:
      'success  the provider has executed it: the seller is credited\nfailed   the provider has certainly not executed it and will not: the buyer is refunded\nask      the workers continue: they query the provider again, or, if no attempt is open, try the next seller\n\n`review list` shows which decisions are possible now: an attempt that is too old must not be queried again.',
    examples: [
      'review resolve 01a1fdf0 --as success --sn 1234-5678 --reason "in their record of 21 Nov, ticket 90"',
      'review resolve 01a1fdf0 --as failed --reason "provider confirmed by mail: not executed"',
    ],
    options: [
      new Option('--as <decision>', 'the decision')
        .choices(['success', 'failed', 'ask'])
        .makeOptionMandatory(),
      new Option('--sn <serial number>', "with success: the provider's serial number"),
      reasonOption(),
    ],
    operation: async () => (await import('../../src/console/purchases/decide-purchase.js')).decidePurchase,
    input: ({ fields, options: { as, sn } }: CommandCall<{ as: string; sn?: string }>) => ({
      id: fields['transaction'],
      transaction: undefined,
      as,
      serial_number: sn,
      sn: undefined,
    }),
    output: formatDecision,
  });
}

function formatDecision({ id, status: word }: { id: string; status: string }) {
  return { data: { transaction_id: id, status: word }, text: `${id} is ${status(word)}.` };
}

function registerAsk(group: Command): void {
  defineCommand<{ seller?: string }>(group, {
    usage: 'ask',
    action: 'review.resolve',
    summary: 'Let the workers continue with every purchase under review that can be queried again',
    details:
      'Use it after an outage, or after a release that fixes the cause. It runs `review resolve --as ask` for each purchase, oldest first. Purchases\nthat must not be queried again stay. You can stop it and run it again.',
    examples: [
      'review ask --seller seller --reason "their outage of 21 Nov is over"',
      'review ask --reason "release 0.2.1 mends it"',
    ],
    options: [
      new Option('--seller <username>', 'only purchases whose last attempt went to this seller'),
      reasonOption(),
    ],
    async run({ options: { seller }, by }) {
      const [{ recheckOpenReviews }, { requireAccount }] = await Promise.all([
        import('../../src/purchases/review/resolve-review.js'),
        import('../../src/accounts/find-account.js'),
      ]);
      const sellerId = seller === undefined ? null : (await requireAccount(seller))._id;
      const { asked, toDecide, changed } = await recheckOpenReviews({ sellerId }, by);
      return {
        data: { asked, to_decide: toDecide, changed },
        text: `${asked} queried again; ${toDecide} need your decision (topup review list); ${changed} changed in the meantime.`,
      };
    },
  });
}

function registerReverse(group: Command): void {
  defineOperationCommand(group, {
    usage: 'reverse <transaction>',
    action: 'review.reverse',
    summary: 'Reverse a sale: the buyer gets the price back, the seller loses its share',
    details:
      'Only for a purchase with status SUCCESS. It cannot be undone. The balance of the seller may fall below zero. The buyer gets a second callback.',
    examples: ['review reverse 01a1fdf0 --reason "provider reversed it, credit note 311"'],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/purchases/decide-purchase.js')).reversePurchase,
    input: ({ fields }) => ({ id: fields['transaction'], transaction: undefined }),
    output: formatDecision,
  });
}
