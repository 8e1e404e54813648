import Joi from 'joi';
import { findDocumentPage } from '../../database/page-of-documents.js';
import { deposits, type Deposit } from '../../deposits/deposit.model.js';
import { presentDeposit } from '../../deposits/present-deposit.js';
import { listFilter, nextCursor, buildPageQuery, type ListFilter } from '../list-filter.js';
import { defineOperation } from '../operation.js';
import { depositData } from '../schemas.js';

const statuses = ['pending', 'completed', 'rejected'] as const;

export const listBuyerDeposits = defineOperation<unknown, unknown, ListFilter<(typeof statuses)[number]>>({
  id: 'listBuyerDeposits',
  method: 'get',
  needs: 'trade',
  path: '/api/buyer/deposits',
  role: 'buyer',
  tag: 'Buyer',
  summary: 'Your deposits, newest first',
  description: 'Dates are whole days in business time, both ends included; without them all there are.',
  query: listFilter(statuses),
  data: Joi.object({
    deposits: Joi.array().items(depositData).required(),
    next_cursor: nextCursor,
  }),
  conditional: true,
  async handle({ account, query }) {
    const { found, next } = await findDocumentPage(deposits, ...buildPageQuery<Deposit>(account._id, query));
    return { data: { deposits: found.map((each) => presentDeposit(each, query.tz)), next_cursor: next } };
  },
});
