import { redactUrlSecrets } from '../../src/shared/mask.js';
import { Option, type Command } from 'commander';
import { formatToken } from '../../src/purchases/pln-token.js';
import type { PurchaseDescription } from '../../src/purchases/review/describe-purchase.js';
import { defineCommand, defineGroup } from './define-command.js';
import type { PurchaseStatus } from '../../src/purchases/purchase.model.js';
import { colours, facts, formatHeading, listText, rupiah, status, table, time } from './format.js';
import { day, limitOption, wholeNumber } from './options.js';

/** `topup transaction …`: lists and shows purchases. */
export function registerPurchase(program: Command): void {
  const group = defineGroup(program, 'transaction', 'List and show purchases');
  registerList(group);
  registerShow(group);
}

interface ListOptions {
  account?: string;
  seller?: string;
  status?: PurchaseStatus;
  product?: string;
  priceFrom?: number;
  priceTo?: number;
  from?: string;
  to?: string;
  limit: number;
}

const statuses: PurchaseStatus[] = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED', 'REFUNDED'];

function registerList(group: Command): void {
  const price = wholeNumber(0, 999_999_999);
  defineCommand<ListOptions>(group, {
    usage: 'list',
    action: 'purchase.look',
    summary: 'List purchases, newest first',
    details:
      'A filter without an index (a product, a price, or a status without an account) searches 2,000 purchases and prints how far back it went.',
    examples: [
      'transaction list --account warung-sari --status FAILED --from 2026-11-20',
      'transaction list --seller grosir --product S10 --limit 200 --json',
    ],
    options: [
      new Option('--account <username>', 'buyer'),
      new Option('--seller <username>', 'seller'),
      new Option('--status <status>', 'only this status').choices(statuses),
      new Option('--product <code>', 'only this product'),
      new Option('--price-from <rupiah>', 'lowest price').argParser(price),
      new Option('--price-to <rupiah>', 'highest price').argParser(price),
      new Option('--from <day>', 'YYYY-MM-DD, business time').argParser(day),
      new Option('--to <day>', 'last day, in the same format').argParser(day),
      limitOption(),
    ],
    async run({ options }) {
      const [{ findPurchasePage }, { getPartyIds }, { resolvePurchaseFilter }, { findUsernames }] =
        await Promise.all([
          import('../../src/purchases/operator-list.js'),
          import('../../src/purchases/operator-list.js'),
          import('../../src/purchases/operator-list.js'),
          import('../../src/accounts/find-account.js'),
        ]);
      const { limit, product, ...named } = options;
      const filter = await resolvePurchaseFilter({ ...named, productCode: product });
      const { purchases, searchedBackTo } = await findPurchasePage(filter, { limit });
      const usernames = await findUsernames(getPartyIds(purchases));
      const nameOf = (id: string) => usernames[id] ?? id;
      const rows = purchases.map((each) => ({
        id: each._id,
        account: nameOf(each.accountId),
        ref_id: each.refId,
        product: each.productCode,
        customer: each.customerNumber,
        price: each.price,
        status: each.status,
        seller: each.sellerId === null ? null : nameOf(each.sellerId),
        created_at: each.createdAt,
        final_at: each.finalAt,
      }));
      const text = listText(rows, {
        columns: [
          'created_at',
          'id',
          'account',
          'ref_id',
          'product',
          'customer',
          'price',
          'status',
          'seller',
        ],
        empty: 'No purchase matches.',
        searchedBackTo,
      });
      return { data: rows, text };
    },
  });
}

function registerShow(group: Command): void {
  defineCommand<{ account?: string }>(group, {
    usage: 'show <id>',
    action: 'purchase.look',
    summary: 'Show one purchase and everything that happened to it, in order',
    details: "Takes our transaction id, or the client's ref_id together with --account.",
    examples: [
      'transaction show 01a1fde5d07770f0be10a241618d0695',
      'transaction show INV-2291 --account warung-sari',
    ],
    options: [new Option('--account <username>', 'the client whose ref_id this is')],
    async run({ arg, options }) {
      const { describePurchase } = await import('../../src/purchases/review/describe-purchase.js');
      const found = await describePurchase(arg('id'), options.account);
      const { purchase, orders, ...rest } = found;
      // Scripts rely on these field names.
      return { data: { transaction: purchase, attempts: orders, ...rest }, text: describeText(found) };
    },
  });
}

function describeText({
  purchase,
  usernames,
  deliveries,
  timeline,
  cases,
  decisions,
}: PurchaseDescription): string {
  const summary = facts([
    ['transaction', purchase._id],
    ['account', `${usernames[purchase.accountId] ?? purchase.accountId}, ref_id ${purchase.refId}`],
    ['product', `${purchase.productCode} ${purchase.productName}`],
    ['customer', purchase.customerNumber],
    ['price', rupiah(purchase.price)],
    ['markup', purchase.markup === undefined ? null : rupiah(purchase.markup)],
    ['status', status(purchase.status)],
    ['message', purchase.message],
    ['serial number', formatToken(purchase)],
    ['seller', purchase.sellerId && (usernames[purchase.sellerId] ?? purchase.sellerId)],
    ['commission', purchase.commissionAmount === null ? null : rupiah(purchase.commissionAmount)],
    ['request', purchase.requestId ?? null],
    ['next check', purchase.nextActionAt && time(purchase.nextActionAt)],
    ['under review since', purchase.reviewSince && time(purchase.reviewSince)],
  ]);
  const steps = timeline.map(({ at, what, detail }) => [
    time(at),
    what === 'state' ? colours.bold(what) : what,
    what === 'state' ? colours.bold(detail) : detail,
  ]);
  const waiting = deliveries
    .filter((each) => each.state === 'due')
    .map((each) => `${each.event} to ${redactUrlSecrets(each.url)} is due at ${time(each.nextAttemptAt)}`);
  const open = cases
    .filter((each) => each.resolvedAt === null)
    .map((each) => `case ${each._id} (${each.kind}) is open: topup case resolve ${each._id} --reason …`);
  const review = decisions.map(
    (each) => `decide: topup review resolve ${purchase._id} --as ${each} --reason …`,
  );
  return [
    summary,
    formatHeading('What happened'),
    table(['at', '', ''], steps),
    ...(waiting.length + open.length + review.length > 0
      ? [formatHeading('Still open'), ...waiting, ...open, ...review]
      : []),
  ].join('\n');
}
