import Joi from 'joi';
import { findHeld } from '../../database/find-confirmed.js';
import { settlements } from '../../settlements/settlement.model.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { text, zoned, type Zoned } from '../fields.js';
import { defineOperation } from '../operation.js';
import { presentSettlement, settlementData } from './settlement-data.js';

interface Params {
  id: string;
}

export const getSettlement = defineOperation<unknown, Params, Zoned>({
  id: 'getSettlement',
  method: 'get',
  needs: 'trade',
  path: '/api/seller/settlements/:id',
  role: 'seller',
  tag: 'Seller',
  summary: 'A settlement as it is now',
  description: 'For when no webhook came. completed and failed are final.',
  params: Joi.object<Params>({ id: text(64).required() }),
  query: zoned,
  data: settlementData,
  failures: [404],
  async handle({ account, params, query }) {
    const [settlement] = await findHeld(settlements, { _id: params.id, accountId: account._id });
    if (!settlement) {
      throw new NotFoundError(say('noSettlement', { id: params.id }));
    }
    return { data: presentSettlement(settlement, query.tz) };
  },
});
