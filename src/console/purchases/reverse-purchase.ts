import { reverseByOperator } from '../../purchases/review/reverse-by-operator.js';
import { defineConsoleOperation, idParams, reasonBody } from '../api/console-operation.js';
import { decidedData } from './decide-purchase.js';

export const reversePurchase = defineConsoleOperation({
  id: 'reversePurchase',
  method: 'post',
  path: '/purchases/:id/reverse',
  action: 'review.reverse',
  summary: 'Take back a sale: the buyer gets the price, the seller loses its share',
  params: idParams,
  body: reasonBody,
  data: decidedData,
  async handle({ params: { id }, by }) {
    const reversed = await reverseByOperator(id, by);
    return { id: reversed._id, status: reversed.status };
  },
});
