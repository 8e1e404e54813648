import Joi from 'joi';
import { requireAccount } from '../../accounts/require-account.js';
import { presentBuyerTransaction, presentWalletTransaction } from '../../api/presenters.js';
import { presentResellerPurchase } from '../../api/reseller/present-purchase.js';
import { findHeld } from '../../database/find-confirmed.js';
import type { Purchase } from '../../purchases/purchase.model.js';
import { requirePurchase } from '../../purchases/review/require-purchase.js';
import { defineConsoleOperation, idParams, shape } from '../api/console-operation.js';

/** For the customer who reads their answer aloud: what is asked about is what they look at. */
export const asCustomerSees = defineConsoleOperation<unknown, { id: string }>({
  id: 'asCustomerSees',
  method: 'get',
  path: '/purchases/:id/as-customer-sees',
  action: 'purchase.look',
  summary: 'A purchase as the call answers its buyer now, by the surface that it was bought by',
  params: idParams,
  data: shape({
    call: Joi.string().description('Method and path.'),
    answer: Joi.string().description('Its body: JSON, as docs/reference/api/conventions.md has it.'),
  }),
  async handle({ params: { id } }) {
    const { call, answer } = await answerOf(await requirePurchase(id, { find: findHeld }));
    return { call, answer: JSON.stringify(answer, null, 2) };
  },
});

async function answerOf(purchase: Purchase): Promise<{ call: string; answer: object }> {
  const envelope = (data: object) => ({ status: 'success', code: '00', data });
  switch (purchase.surface) {
    case 'wallet':
      return {
        call: `GET /v1/transactions/${purchase._id}`,
        answer: envelope(presentWalletTransaction(purchase)),
      };
    case 'buyer':
      return {
        call: `GET /api/buyer/transactions/${purchase.refId}`,
        answer: envelope(presentBuyerTransaction(purchase)),
      };
    case 'reseller': {
      // The same call again is the status check.
      const { language = 'en' } = await requireAccount(purchase.accountId);
      const said = presentResellerPurchase(purchase, false);
      return {
        call: `GET /api/reseller/request?ref_id=${purchase.refId}`,
        answer: { ...said, message: said.message[language] },
      };
    }
  }
}
