import { getBuyerTransaction } from '../../../src/api/buyer/transactions.js';
import { useApi } from '../support/api.js';
import { itFollowsLookupContract } from '../support/find-contract.js';

describe('GET /api/buyer/transactions/{ref}', () => {
  const api = useApi();
  itFollowsLookupContract(api, {
    operation: getBuyerTransaction,
    pathOf: (ref) => `/api/buyer/transactions/${ref}`,
    statuses: {
      PENDING: 'pending',
      PROCESSING: 'processing',
      SUCCESS: 'success',
      FAILED: 'failed',
      REFUNDED: 'failed',
    },
  });
});
