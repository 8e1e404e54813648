import { sendBuiltPage } from '../api/http/built-page.js';
import type { ConsoleRoute } from './console-route.js';
import { sendStatementCsv, sendStatementPdf } from './accounts/statement-files.js';
import { sendAuditCsv } from './audit/audit-csv.js';
import { sendPurchasesCsv } from './purchases/purchases-csv.js';
import { logout } from './login-page.js';

/** Sends the console's single-page app. */
export const showApp: ConsoleRoute['handle'] = (_request, response) => sendBuiltPage(response, 'index.html');

/**
 * Every page and form behind the login. The queue board has its own actions in queue-actions.ts.
 */
export const consoleRoutes: readonly ConsoleRoute[] = [
  { method: 'get', path: '/', action: 'console.start', handle: showApp },
  { method: 'get', path: '/purchases', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/purchases.csv', action: 'purchase.look', handle: sendPurchasesCsv },
  { method: 'get', path: '/purchases/:id', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/cases', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/deposits', action: 'deposit.look', handle: showApp },
  { method: 'get', path: '/bank-lines', action: 'bank-line.look', handle: showApp },
  { method: 'get', path: '/settlements', action: 'settlement.look', handle: showApp },
  { method: 'get', path: '/adjustments', action: 'adjustment.look', handle: showApp },
  { method: 'get', path: '/webhooks', action: 'webhook.look', handle: showApp },
  { method: 'get', path: '/products', action: 'product.look', handle: showApp },
  { method: 'get', path: '/products/:code', action: 'product.look', handle: showApp },
  { method: 'get', path: '/price-imports', action: 'product.look', handle: showApp },
  { method: 'get', path: '/markups', action: 'markup.look', handle: showApp },
  { method: 'get', path: '/providers', action: 'provider.look', handle: showApp },
  { method: 'get', path: '/providers/:username', action: 'provider.look', handle: showApp },
  { method: 'get', path: '/accounts', action: 'account.look', handle: showApp },
  { method: 'get', path: '/accounts/:username', action: 'account.look', handle: showApp },
  {
    method: 'get',
    path: '/accounts/:username/statement.csv',
    action: 'statement.export',
    handle: sendStatementCsv,
  },
  {
    method: 'get',
    path: '/accounts/:username/statement.pdf',
    action: 'statement.export',
    handle: sendStatementPdf,
  },
  { method: 'get', path: '/ledger', action: 'ledger.verify', handle: showApp },
  { method: 'get', path: '/system', action: 'system.look', handle: showApp },
  { method: 'get', path: '/jobs', action: 'queue.look', handle: showApp },
  { method: 'get', path: '/jobs/:id', action: 'queue.look', handle: showApp },
  { method: 'get', path: '/audit', action: 'audit.look', handle: showApp },
  { method: 'get', path: '/audit.csv', action: 'audit.look', handle: sendAuditCsv },
  { method: 'post', path: '/logout', action: 'own.change', handle: logout },
  { method: 'get', path: '/me', action: 'own.look', handle: showApp },
  { method: 'get', path: '/operators', action: 'operator.look', handle: showApp },
];
