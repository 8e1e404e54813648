import { requestVerification } from '../../reconciliation/ledger/ask-for-verification.js';
import { defineConsoleOperation, reasonBody, shape, type Reason } from '../api/console-operation.js';

export const verifyLedgerNow = defineConsoleOperation<Reason>({
  id: 'verifyLedgerNow',
  method: 'post',
  path: '/ledger/verify',
  action: 'ledger.run',
  summary: 'Let a worker verify every money rule now; how far it is, getLedger tells',
  body: reasonBody,
  data: shape({}),
  async handle({ by }) {
    await requestVerification(by);
    return {};
  },
});
