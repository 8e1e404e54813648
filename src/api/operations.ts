import { accountOperations } from './account/operations.js';
import { buyerOperations } from './buyer/operations.js';
import type { AnyOperation } from './operation.js';
import { reportOperations } from './reports/operations.js';
import { sandboxOperations } from './sandbox/operations.js';
import { sellerOperations } from './seller/operations.js';
import { statementOperations } from './statements/operations.js';
import { walletOperations } from './wallet/operations.js';
import { webhookOperations } from './webhooks/operations.js';

/** Every call that takes a key: what the app mounts is what the OpenAPI document describes. */
export const operations: AnyOperation[] = [
  ...walletOperations,
  ...buyerOperations,
  ...sellerOperations,
  ...statementOperations('buyer'),
  ...statementOperations('seller'),
  ...reportOperations('buyer'),
  ...reportOperations('seller'),
  ...webhookOperations('buyer'),
  ...webhookOperations('seller'),
  ...accountOperations('buyer'),
  ...accountOperations('seller'),
  ...sandboxOperations,
];
