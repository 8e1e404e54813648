import Joi from 'joi';
import { requireAccount, findUsernames } from '../../accounts/find-account.js';
import { text, timestamp, wholeNumber, rupiah, nameSchema } from '../../api/contract/fields.js';
import { listMarkups } from '../../products/markups.js';
import { lookUp } from '../../shared/collections.js';
import {
  defineConsoleOperation,
  priceGroup,
  requiredObject,
  reason,
  type Reason,
} from '../api/console-operation.js';
import { groupAccountsCountedMax, listPriceGroups } from '../../providers/price-groups.js';
import { limits } from '../../../config/limits.js';
import { removeMarkup, setMarkup, type MarkupTarget } from '../../products/set-markup.js';

interface Query {
  account?: string;
  group?: string;
  after?: string;
  limit: number;
}

const nullableText = Joi.string().allow(null);

const markupData = nameSchema(
  'Markup',
  requiredObject({
    account: nullableText.description('The buyer that it applies to. If group is also null: all buyers.'),
    group: nullableText.description('The price group that it applies to.'),
    product: nullableText,
    category: nullableText.description('A category or subcategory. If product is also null: all products.'),
    percent: Joi.number().allow(null),
    rupiah: Joi.number().allow(null),
    changed_at: timestamp,
  }),
);

export const listMarkupsCall = defineConsoleOperation({
  id: 'listMarkups',
  method: 'get',
  path: '/markups',
  action: 'markup.look',
  summary: "Markups on sellers' prices, a page at a time",
  query: Joi.object<Query>({
    account: text(64),
    group: priceGroup,
    after: text(200),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }).oxor('account', 'group'),
  data: requiredObject({
    markups: Joi.array().items(markupData),
    next: nullableText.description('Value of `after` for the next page.'),
  }),
  async handle({ query: { account, group, after, limit } }) {
    const accountId = account === undefined ? null : (await requireAccount(account))._id;
    const owner = { accountId, priceGroup: group ?? null };
    const isOfOne = account !== undefined || group !== undefined;
    const { markups, next } = await listMarkups({ ...(isOfOne && { owner }), after, limit });
    const usernames = await findUsernames(markups.flatMap((each) => each.accountId ?? []));
    return {
      markups: markups.map(({ accountId: id, scope, of, percentHundredths, ...each }) => ({
        account: id === null ? null : (lookUp(usernames, id) ?? id),
        group: each.priceGroup ?? null,
        product: scope === 'product' ? of : null,
        category: scope === 'product' ? null : of,
        percent: percentHundredths === null ? null : percentHundredths / 100,
        rupiah: each.rupiah,
        changed_at: each.updatedAt.toISOString(),
      })),
      next,
    };
  },
});

export const listPriceGroupsCall = defineConsoleOperation({
  id: 'listPriceGroups',
  method: 'get',
  path: '/price-groups',
  action: 'markup.look',
  summary: 'Price groups used by an account or a markup, one page at a time',
  query: Joi.object<{ after?: string; limit: number }>({
    after: text(32),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    groups: Joi.array().items(
      requiredObject({
        name: Joi.string(),
        accounts: Joi.number().description('Counted up to `counted_max`.'),
      }),
    ),
    counted_max: Joi.number(),
    next: Joi.string().allow(null).description('Value of `after` for the next page.'),
  }),
  async handle({ query }) {
    return { ...(await listPriceGroups(query)), counted_max: groupAccountsCountedMax };
  },
});

/**
 * Buyers and products of a markup. Both are required, so that a misspelt field cannot create a
 * markup for all buyers or products.
 */
interface TargetBody extends Reason {
  account?: string;
  group?: string;
  everybody?: true;
  all?: true;
  product?: string;
  category?: string;
}

const target = {
  account: text(64),
  group: priceGroup.description('The buyers of this price group.'),
  everybody: Joi.boolean().valid(true).description('All buyers.'),
  product: text(50),
  category: text(50),
  all: Joi.boolean().valid(true).description('All products.'),
  reason,
};

export const setMarkupCall = defineConsoleOperation({
  id: 'setMarkup',
  method: 'post',
  path: '/markups',
  action: 'markup.set',
  summary:
    'Set the markup on a product, a category or all products, for a buyer, a price group or all buyers',
  body: Joi.object<TargetBody & { percent?: number; rupiah?: number }>({
    ...target,
    percent: Joi.number().min(0).max(100).precision(2),
    rupiah: rupiah({ min: 0, max: limits.markupRupiahMax }),
  })
    .xor('percent', 'rupiah')
    .xor('product', 'category', 'all')
    .xor('account', 'group', 'everybody'),
  data: requiredObject({}),
  async handle({ body: { percent, rupiah: amount, ...given }, by }) {
    await setMarkup(await findTarget(given), { percent, rupiah: amount }, by);
    return {};
  },
});

export const removeMarkupCall = defineConsoleOperation({
  id: 'removeMarkup',
  method: 'post',
  path: '/markups/remove',
  action: 'markup.set',
  summary: 'Remove a markup; the next rule that matches applies',
  body: Joi.object<TargetBody>(target).xor('product', 'category', 'all').xor('account', 'group', 'everybody'),
  data: requiredObject({}),
  async handle({ body, by }) {
    await removeMarkup(await findTarget(body), by);
    return {};
  },
});

async function findTarget({ account, group, product, category }: TargetBody): Promise<MarkupTarget> {
  const buyer = account === undefined ? null : await requireAccount(account);
  return { buyer, priceGroup: group, productCode: product, category };
}
