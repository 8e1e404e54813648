import Joi from 'joi';
import { findDocumentPage } from '../../database/page-of-documents.js';
import { settlements, type Settlement } from '../../settlements/settlement.model.js';
import { formatIsoTime } from '../../shared/iso-time.js';
import { timestamp } from '../fields.js';
import { listFilter, nextCursor, buildPageQuery, type ListFilter } from '../list-filter.js';
import { nameSchema } from '../named.js';
import { defineOperation } from '../operation.js';
import { presentSettlement, settlementData } from './settlement-data.js';

const statuses = ['pending', 'processing', 'completed', 'failed'] as const;

export const listSettlements = defineOperation<unknown, unknown, ListFilter<(typeof statuses)[number]>>({
  id: 'listSettlements',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/settlements',
  role: 'seller',
  tag: 'Seller',
  summary: 'Your settlements, newest first',
  description: 'Dates are whole days in business time, both ends included; without them all there are.',
  query: listFilter(statuses),
  data: Joi.object({
    settlements: Joi.array()
      .items(
        nameSchema(
          'SettlementInList',
          settlementData.keys({
            created_at: timestamp.required(),
            completed_at: timestamp.allow(null).required(),
          }),
        ),
      )
      .required(),
    next_cursor: nextCursor,
  }),
  conditional: true,
  async handle({ account, query }) {
    const { found, next } = await findDocumentPage(
      settlements,
      ...buildPageQuery<Settlement>(account._id, query),
    );
    return {
      data: {
        settlements: found.map((each) => ({
          ...presentSettlement(each, query.tz),
          created_at: formatIsoTime(each.createdAt, query.tz),
          completed_at:
            each.status === 'completed' && each.finalAt ? formatIsoTime(each.finalAt, query.tz) : null,
        })),
        next_cursor: next,
      },
    };
  },
});
