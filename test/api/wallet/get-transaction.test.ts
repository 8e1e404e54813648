import { getWalletTransaction } from '../../../src/api/wallet/queries.js';
import { useApi } from '../support/api.js';
import { itFollowsLookupContract } from '../support/find-contract.js';

describe('GET /v1/transactions/{id}', () => {
  const api = useApi();
  itFollowsLookupContract(api, {
    operation: getWalletTransaction,
    pathOf: (ref) => `/v1/transactions/${ref}`,
    statuses: {
      PENDING: 'PENDING',
      PROCESSING: 'PROCESSING',
      SUCCESS: 'SUCCESS',
      FAILED: 'FAILED',
      REFUNDED: 'REFUNDED',
    },
  });
});
