import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { findDocumentPage, type DocumentPage } from '../../database/document-page.js';
import { listSettlements as listOpen } from '../../settlements/find-settlement.js';
import { openStatuses, getPossibleSteps, settlementSteps } from '../../settlements/claim-settlement.js';
import { settlements, type Settlement, type SettlementStatus } from '../../settlements/settlement.model.js';
import { findAccountsBelowZero } from '../../settlements/wallet-below-zero.js';
import { lookUp } from '../../shared/collections.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { listQuery, pageFields, buildPageFilter, type ListQuery } from '../api/list-query.js';

const statuses = [
  'pending',
  'processing',
  'completed',
  'failed',
] as const satisfies readonly SettlementStatus[];

interface Query extends ListQuery {
  status: SettlementStatus | 'open' | 'all';
}

const text = Joi.string();
const amount = Joi.number();

export const listSettlements = defineConsoleOperation<unknown, unknown, Query>({
  id: 'listSettlements',
  method: 'get',
  path: '/settlements',
  action: 'settlement.look',
  summary: 'Settlements: open ones, oldest first, or those that match a filter, newest first',
  query: Joi.object<Query>({
    status: Joi.string()
      .valid('open', ...statuses, 'all')
      .default('open'),
    ...listQuery,
  }),
  data: requiredObject({
    settlements: Joi.array().items(
      nameSchema(
        'Settlement',
        requiredObject({
          id: text,
          seller: text,
          ref_id: text.allow(null),
          amount,
          fee: amount,
          net_amount: amount,
          bank_code: text,
          account_number: text,
          holder: text,
          status: text.valid(...statuses),
          needs_approval: Joi.boolean(),
          wallet_below_zero: Joi.boolean().description(
            'True if it is open and the wallet of its seller is below zero. It must not be paid then.',
          ),
          review_reason: text.allow(null),
          claimed_by: text.allow(null),
          claimed_at: timestamp.allow(null),
          bank_reference: text
            .allow(null)
            .description("The bank's reference of the payment; null if none was given."),
          reason: text.allow(null).description('Why it failed, as sent to its seller.'),
          created_at: timestamp,
          estimated_completion: timestamp,
          final_at: timestamp.allow(null),
          steps: Joi.array()
            .items(text.valid(...settlementSteps))
            .description('Steps that the caller can take now, if the role allows.'),
        }),
      ),
    ),
    ...pageFields,
    has_more: Joi.boolean().description('For open settlements: more appear as these are finished.'),
  }),
  async handle({ query, by }) {
    const { found, next, searchedBackTo, hasMore } = await findPage(query);
    const sellers = found.map(({ accountId }) => accountId);
    const open = found.filter(({ status }) => openStatuses.includes(status));
    const [usernames, belowZero] = await Promise.all([
      findUsernames(sellers),
      findAccountsBelowZero(open.map(({ accountId }) => accountId)),
    ]);
    return {
      settlements: found.map((each) =>
        present(each, {
          seller: lookUp(usernames, each.accountId) ?? '',
          actor: by.actor,
          isBelowZero: openStatuses.includes(each.status) && belowZero.has(each.accountId),
        }),
      ),
      next,
      looked_back_to: searchedBackTo?.toISOString() ?? null,
      has_more: hasMore,
    };
  },
});

function present(
  each: Settlement,
  { seller, actor, isBelowZero }: { seller: string; actor: string; isBelowZero: boolean },
) {
  return {
    id: each._id,
    seller,
    ref_id: each.refId,
    amount: each.amount,
    fee: each.fee,
    net_amount: each.netAmount,
    bank_code: each.bankAccount.bankCode,
    account_number: each.bankAccount.accountNumber,
    holder: each.bankAccount.accountName,
    status: each.status,
    needs_approval: each.needsApproval,
    wallet_below_zero: isBelowZero,
    review_reason: each.reviewReason ?? null,
    claimed_by: each.claimedBy,
    claimed_at: each.claimedAt?.toISOString() ?? null,
    bank_reference: each.status === 'completed' ? (each.bankReference ?? null) : null,
    reason: each.reason,
    created_at: each.createdAt.toISOString(),
    estimated_completion: each.estimatedCompletion.toISOString(),
    final_at: each.finalAt?.toISOString() ?? null,
    steps: getPossibleSteps(each, { actor, isBelowZero }),
  };
}

async function findPage(query: Query): Promise<DocumentPage<Settlement> & { hasMore: boolean }> {
  const { status, after, limit } = query;
  const filter = await buildPageFilter(query);
  const hasOtherFilter = Object.values(filter).some((each) => each !== undefined);
  if (status === 'open' && !hasOtherFilter) {
    const found = await listOpen({ statuses: openStatuses, limit: limit + 1 });
    return { found: found.slice(0, limit), next: null, searchedBackTo: null, hasMore: found.length > limit };
  }
  const fits = (each: Settlement) =>
    status === 'all' || (status === 'open' ? openStatuses.includes(each.status) : each.status === status);
  return { ...(await findDocumentPage(settlements, { ...filter, fits }, { after, limit })), hasMore: false };
}
