import Joi from 'joi';
import { requireAccount } from '../../accounts/require-account.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { text, timestamp, wholeNumber } from '../../api/fields.js';
import { listMarkups } from '../../products/list-markups.js';
import { lookUp } from '../../shared/look-up.js';
import { defineConsoleOperation, priceGroup, shape } from '../api/console-operation.js';

interface Query {
  account?: string;
  group?: string;
  after?: string;
  limit: number;
}

const nullableText = Joi.string().allow(null);

const markupData = shape({
  account: nullableText.description('The buyer that it is for. With group null as well: all.'),
  group: nullableText.description('The price group that it is for.'),
  product: nullableText,
  category: nullableText.description(
    'A category or subcategory. With product null as well: all that is sold.',
  ),
  percent: Joi.number().allow(null),
  rupiah: Joi.number().allow(null),
  changed_at: timestamp,
});

export const listMarkupsCall = defineConsoleOperation({
  id: 'listMarkups',
  method: 'get',
  path: '/markups',
  action: 'markup.look',
  summary: "What buyers pay above sellers' prices, a page at a time",
  query: Joi.object<Query>({
    account: text(64),
    group: priceGroup,
    after: text(200),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }).oxor('account', 'group'),
  data: shape({
    markups: Joi.array().items(markupData),
    next: nullableText.description('The `after` of the next page.'),
  }),
  async handle({ query: { account, group, after, limit } }) {
    const accountId = account === undefined ? null : (await requireAccount(account))._id;
    const owner = { accountId, priceGroup: group ?? null };
    const isOfOne = account !== undefined || group !== undefined;
    const { markups, next } = await listMarkups({ ...(isOfOne && { owner }), after, limit });
    const usernames = await usernamesOf(markups.flatMap((each) => each.accountId ?? []));
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
