import Joi from 'joi';
import { nameSchema } from '../named.js';
import { presentSettlementFigures } from '../../settlements/settlement-figures.js';
import type { Settlement } from '../../settlements/settlement.model.js';
import { formatIsoTime } from '../../shared/iso-time.js';
import { timestamp } from '../fields.js';

/** A settlement as its seller sees it (docs/reference/api/settlements.md). */
export const settlementData = nameSchema(
  'Settlement',
  Joi.object({
    settlement_id: Joi.string().required(),
    ref_id: Joi.string().allow(null).required(),
    amount: Joi.number().required(),
    fee: Joi.number().required(),
    net_amount: Joi.number().required(),
    status: Joi.string().valid('pending', 'processing', 'completed', 'failed').required(),
    needs_approval: Joi.boolean()
      .required()
      .description(
        'It waits for the operator: a new bank account, or a change of key, secret, URL or allowlist within a day.',
      ),
    reason: Joi.string().allow(null).required().description('Why it failed.'),
    estimated_completion: timestamp.required(),
  }),
);

export function presentSettlement(settlement: Settlement, zone?: string) {
  return {
    ...presentSettlementFigures(settlement),
    status: settlement.status,
    needs_approval: settlement.needsApproval,
    reason: settlement.reason,
    estimated_completion: formatIsoTime(settlement.estimatedCompletion, zone),
  };
}
