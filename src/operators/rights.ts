/**
 * The table of rights. Each page of the console and each command names its action here. The
 * compiler and the startup refuse an action without a row.
 */

/**
 * Roles of operators.
 *
 * - viewer: reads.
 * - support: helps customers.
 * - finance: moves money.
 * - operations: runs providers and queues.
 * - admin: may do everything, including the management of operators.
 */
export const operatorRoles = ['viewer', 'support', 'finance', 'operations', 'admin'] as const;
export type OperatorRole = (typeof operatorRoles)[number];

interface Right {
  /** Text for the table in docs/reference/roles.md. */
  does: string;
  /** For a `change`, the command line requires a named operator in production. */
  kind: 'read' | 'change';
  roles: readonly OperatorRole[];
}

const allRoles = operatorRoles;
const readRight = (does: string, ...roles: OperatorRole[]): Right => ({
  does,
  kind: 'read',
  roles: roles.length === 0 ? allRoles : [...roles, 'admin'],
});
/** Builds a right to change. Admins have every right. */
const changeRight = (does: string, ...roles: OperatorRole[]): Right => ({
  does,
  kind: 'change',
  roles: [...roles, 'admin'],
});
const ownRight = (does: string): Right => ({ does, kind: 'change', roles: allRoles });

const table = {
  'console.start': readRight('see what needs attention'),
  'own.look': readRight('see your own account, and what each role may do'),
  'own.change': ownRight('change your own password, second factor, sessions and operator key'),
  'account.look': readRight('list and show accounts'),
  'account.create': changeRight('create accounts'),
  'account.suspend': changeRight('suspend and resume accounts', 'support', 'operations'),
  'account.set': changeRight("set an account's commission, limits and rules"),
  'account.clear-allowlist': changeRight("clear an account's allowlist", 'operations'),
  'account.revoke-links': changeRight(
    "revoke download links of an account's reports",
    'support',
    'operations',
  ),
  'account.key': changeRight('give an account a new API key'),
  'purchase.look': readRight('show purchases, reviews and cases'),
  'review.resolve': changeRight('decide purchases under review', 'finance', 'operations'),
  'review.reverse': changeRight('reverse a sale', 'finance'),
  'case.resolve': changeRight('close cases', 'support', 'finance', 'operations'),
  'deposit.look': readRight('list deposits and notified payments'),
  'deposit.decide': changeRight('confirm or reject deposits', 'finance'),
  'bank-line.look': readRight('match bank statements with deposits, and list their lines', 'finance'),
  'settlement.look': readRight('list settlements'),
  'settlement.decide': changeRight('approve, claim, complete or fail settlements', 'finance'),
  'holidays.look': readRight('list bank holidays'),
  'holidays.set': changeRight('change bank holidays', 'finance', 'operations'),
  'adjustment.look': readRight('list adjustments'),
  'adjustment.make': changeRight('request, approve or reject adjustments', 'finance'),
  'customer.export': changeRight('export all data about a customer number', 'finance'),
  'customer.erase': changeRight('erase a customer number', 'finance'),
  'statement.export': readRight('read the statement of a wallet', 'support', 'finance'),
  'product.look': readRight('see products, their prices and costs'),
  'product.set': changeRight('change prices and what is sold', 'finance', 'operations'),
  'price-import.look': readRight('see what a price list would change', 'finance', 'operations'),
  'markup.look': readRight('see markups'),
  'markup.set': changeRight('change markups', 'finance', 'operations'),
  'provider.look': readRight('list providers'),
  'provider.steer': changeRight('pause and resume providers', 'operations'),
  'provider.float': changeRight('read our balance at a provider', 'finance', 'operations'),
  'provider.set': changeRight('change the connection to a provider: address, limits, secrets'),
  'provider.reconcile': readRight(
    "compare a provider's records or price list with ours",
    'finance',
    'operations',
  ),
  'provider.accept': changeRight("accept differences from a provider's records", 'finance'),
  'webhook.look': readRight('list deliveries that were given up'),
  'webhook.replay': changeRight('send a delivery again', 'support', 'operations'),
  'webhook.enable': changeRight('enable webhook URLs that were disabled', 'support', 'operations'),
  'webhook.listen': changeRight("forward an account's events to another program"),
  'queue.look': readRight('see the queues and their jobs'),
  'queue.work': changeRight('retry, promote, pause and resume work', 'operations'),
  'queue.remove': changeRight('add, change or remove jobs, and change queue settings'),
  'ledger.verify': readRight('verify the ledger'),
  'ledger.run': changeRight('start a verification of the ledger', 'finance', 'operations'),
  'ledger.close': changeRight('close days manually', 'finance'),
  'totals.rebuild': changeRight('rebuild daily totals', 'operations'),
  'audit.look': readRight('read the audit log', 'finance', 'operations'),
  'report.daily': readRight('read the report of a business day', 'finance', 'operations'),
  'system.look': readRight('check the whole system (doctor)'),
  'alarm.test': readRight('send a test message to ALERT_WEBHOOK_URL', 'operations'),
  'settings.look': readRight('see the settings of the service, without secrets', 'operations'),
  'encryption-key.change': changeRight('encrypt the stored secrets with another key'),
  'operator.look': { does: 'list operators and their sessions', kind: 'read', roles: ['admin'] },
  'operator.manage': changeRight(
    'create and remove operators, set their roles, passwords and keys, reset their second factor',
  ),
  'operator.end-sessions': changeRight('end the sessions of other operators'),
  'message.verify': readRight('check the signatures of a captured message'),
} satisfies Record<string, Right>;

export type OperatorAction = keyof typeof table;

/** No prototype, so that `constructor` is not an action. */
export const rights: Readonly<Record<OperatorAction, Right>> = Object.freeze(
  Object.assign(Object.create(null) as Record<OperatorAction, Right>, table),
);

export function isAllowed(role: OperatorRole, action: OperatorAction): boolean {
  // An unknown role, from a later release or a manual change in the database, has no rights.
  return getRight(action).roles.includes(role);
}

/**
 * Returns the right of an action.
 * @throws Error for an action without a row.
 */
export function getRight(action: OperatorAction): Right {
  const right = rights[action] as Right | undefined;
  if (!right) {
    throw new Error(`The action ${action} has no row in src/operators/rights.ts`);
  }
  return right;
}

/** Returns the message for a refused operator. */
export function describeRefusal(role: OperatorRole, action: OperatorAction): string {
  const { does, roles } = getRight(action);
  return `The role ${role} may not ${does}. This requires ${roles.join(' or ')}.`;
}
