import { sendAuditCsv } from './audit/audit-csv.js';
import { showApp } from './app-page.js';
import type { ConsoleRoute } from './console-route.js';
import { logout } from './login-page.js';
import {
  beginOwnTotp,
  changeOwnPassword,
  confirmOwnTotp,
  endOwnSession,
  endOwnSessions,
  makeOwnKey,
  makeRecoveryCodes,
  showOwn,
} from './own-page.js';
import { endOthersSessions, resetTotp, setRole, showOperators } from './operators-page.js';

/** Every page and form behind the login, but for the queue board, whose actions are in queue-actions.ts. */
export const consoleRoutes: readonly ConsoleRoute[] = [
  { method: 'get', path: '/', action: 'console.start', handle: showApp },
  { method: 'get', path: '/purchases', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/purchases/:id', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/cases', action: 'purchase.look', handle: showApp },
  { method: 'get', path: '/deposits', action: 'deposit.look', handle: showApp },
  { method: 'get', path: '/settlements', action: 'settlement.look', handle: showApp },
  { method: 'get', path: '/webhooks', action: 'webhook.look', handle: showApp },
  { method: 'get', path: '/products', action: 'product.look', handle: showApp },
  { method: 'get', path: '/products/:code', action: 'product.look', handle: showApp },
  { method: 'get', path: '/providers', action: 'provider.look', handle: showApp },
  { method: 'get', path: '/providers/:username', action: 'provider.look', handle: showApp },
  { method: 'get', path: '/accounts', action: 'account.look', handle: showApp },
  { method: 'get', path: '/accounts/:username', action: 'account.look', handle: showApp },
  { method: 'get', path: '/ledger', action: 'ledger.verify', handle: showApp },
  { method: 'get', path: '/system', action: 'system.look', handle: showApp },
  { method: 'get', path: '/audit', action: 'audit.look', handle: showApp },
  { method: 'get', path: '/audit.csv', action: 'audit.look', handle: sendAuditCsv },
  { method: 'post', path: '/logout', action: 'own.change', handle: logout },
  { method: 'get', path: '/me', action: 'own.look', handle: showOwn },
  { method: 'post', path: '/me/password', action: 'own.change', handle: changeOwnPassword },
  { method: 'post', path: '/me/totp', action: 'own.change', handle: beginOwnTotp },
  { method: 'post', path: '/me/totp/confirm', action: 'own.change', handle: confirmOwnTotp },
  { method: 'post', path: '/me/recovery-codes', action: 'own.change', handle: makeRecoveryCodes },
  { method: 'post', path: '/me/key', action: 'own.change', handle: makeOwnKey },
  { method: 'post', path: '/me/sessions/end', action: 'own.change', handle: endOwnSession },
  { method: 'post', path: '/me/sessions/end-all', action: 'own.change', handle: endOwnSessions },
  { method: 'get', path: '/operators', action: 'operator.look', handle: showOperators },
  {
    method: 'post',
    path: '/operators/end-sessions',
    action: 'operator.end-sessions',
    handle: endOthersSessions,
  },
  { method: 'post', path: '/operators/role', action: 'operator.manage', handle: setRole },
  { method: 'post', path: '/operators/totp-reset', action: 'operator.manage', handle: resetTotp },
];
