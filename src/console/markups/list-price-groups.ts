import Joi from 'joi';
import { text, wholeNumber } from '../../api/fields.js';
import { groupAccountsCountedMax, listPriceGroups } from '../../providers/list-price-groups.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

export const listPriceGroupsCall = defineConsoleOperation({
  id: 'listPriceGroups',
  method: 'get',
  path: '/price-groups',
  action: 'markup.look',
  summary: 'Price groups that an account or a markup names, a page at a time',
  query: Joi.object<{ after?: string; limit: number }>({
    after: text(32),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    groups: Joi.array().items(
      shape({
        name: Joi.string(),
        accounts: Joi.number().description('Counted up to `counted_max`.'),
      }),
    ),
    counted_max: Joi.number(),
    next: Joi.string().allow(null).description('The `after` of the next page.'),
  }),
  async handle({ query }) {
    return { ...(await listPriceGroups(query)), counted_max: groupAccountsCountedMax };
  },
});
