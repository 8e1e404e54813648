import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import { requireAccount } from '../../accounts/require-account.js';
import { rupiah, text } from '../../api/fields.js';
import { removeMarkup, setMarkup, type MarkupTarget } from '../../products/set-markup.js';
import { defineConsoleOperation, priceGroup, reason, shape, type Reason } from '../api/console-operation.js';

/** For whom and for what it is, is always said: what was misspelt is no rule for all. */
interface Target extends Reason {
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
  all: Joi.boolean().valid(true).description('All that is sold.'),
  reason,
};

export const setMarkupCall = defineConsoleOperation({
  id: 'setMarkup',
  method: 'post',
  path: '/markups',
  action: 'markup.set',
  summary:
    "Set what buyers pay above the seller's price, of one product, a category or all, for one buyer, a price group or all",
  body: Joi.object<Target & { percent?: number; rupiah?: number }>({
    ...target,
    percent: Joi.number().min(0).max(100).precision(2),
    rupiah: rupiah({ min: 0, max: limits.markupRupiahMax }),
  })
    .xor('percent', 'rupiah')
    .xor('product', 'category', 'all')
    .xor('account', 'group', 'everybody'),
  data: shape({}),
  async handle({ body: { percent, rupiah: amount, ...given }, by }) {
    await setMarkup(await targetOf(given), { percent, rupiah: amount }, by);
    return {};
  },
});

export const removeMarkupCall = defineConsoleOperation({
  id: 'removeMarkup',
  method: 'post',
  path: '/markups/remove',
  action: 'markup.set',
  summary: 'Remove a markup; of the rules that are left the next one holds',
  body: Joi.object<Target>(target).xor('product', 'category', 'all').xor('account', 'group', 'everybody'),
  data: shape({}),
  async handle({ body, by }) {
    await removeMarkup(await targetOf(body), by);
    return {};
  },
});

async function targetOf({ account, group, product, category }: Target): Promise<MarkupTarget> {
  const buyer = account === undefined ? null : await requireAccount(account);
  return { buyer, priceGroup: group, productCode: product, category };
}
