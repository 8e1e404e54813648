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

const everybody = operatorRoles;
const read = (does: string, ...roles: OperatorRole[]): Right => ({
  does,
  kind: 'read',
  roles: roles.length === 0 ? everybody : [...roles, 'admin'],
});
/** Builds a right to change. Admins have every right. */
const change = (does: string, ...roles: OperatorRole[]): Right => ({
  does,
  kind: 'change',
  roles: [...roles, 'admin'],
});
const own = (does: string): Right => ({ does, kind: 'change', roles: everybody });

const table = {
  'console.start': read('see what needs attention'),
  'own.look': read('see your own account, and what each role may do'),
  'own.change': own('change your own password, second factor, sessions and operator key'),
  'account.look': read('list and show accounts'),
  'account.create': change('create accounts'),
  'account.suspend': change('suspend and resume accounts', 'support', 'operations'),
  'account.set': change("set an account's commission, limits and rules"),
  'account.clear-allowlist': change("clear an account's allowlist", 'operations'),
  'account.revoke-links': change("revoke download links of an account's reports", 'support', 'operations'),
  'account.key': change('give an account a new API key'),
  'purchase.look': read('show purchases, reviews and cases'),
  'review.resolve': change('decide purchases under review', 'finance', 'operations'),
  'review.reverse': change('reverse a sale', 'finance'),
  'case.resolve': change('close cases', 'support', 'finance', 'operations'),
  'deposit.look': read('list deposits and notified payments'),
  'deposit.decide': change('confirm or reject deposits', 'finance'),
  'bank-line.look': read('match bank statements with deposits, and list their lines', 'finance'),
  'settlement.look': read('list settlements'),
  'settlement.decide': change('approve, claim, complete or fail settlements', 'finance'),
  'holidays.look': read('list bank holidays'),
  'holidays.set': change('change bank holidays', 'finance', 'operations'),
  'adjustment.look': read('list adjustments'),
  'adjustment.make': change('request, approve or reject adjustments', 'finance'),
  'customer.export': change('export all data about a customer number', 'finance'),
  'customer.erase': change('erase a customer number', 'finance'),
  'statement.export': read('read the statement of a wallet', 'support', 'finance'),
  'product.look': read('see products, their prices and costs'),
  'product.set': change('change prices and what is sold', 'finance', 'operations'),
  'price-import.look': read('see what a price list would change', 'finance', 'operations'),
  'markup.look': read('see markups'),
  'markup.set': change('change markups', 'finance', 'operations'),
  'provider.look': read('list providers'),
  'provider.steer': change('pause and resume providers', 'operations'),
  'provider.float': change('read our balance at a provider', 'finance', 'operations'),
  'provider.set': change('change the connection to a provider: address, limits, secrets'),
  'provider.reconcile': read("compare a provider's records or price list with ours", 'finance', 'operations'),
  'provider.accept': change("accept differences from a provider's records", 'finance'),
  'webhook.look': read('list deliveries that were given up'),
  'webhook.replay': change('send a delivery again', 'support', 'operations'),
  'webhook.enable': change('enable webhook URLs that were disabled', 'support', 'operations'),
  'webhook.listen': change("forward an account's events to another program"),
  'queue.look': read('see the queues and their jobs'),
  'queue.work': change('retry, promote, pause and resume work', 'operations'),
  'queue.remove': change('add, change or remove jobs, and change queue settings'),
  'ledger.verify': read('verify the ledger'),
  'ledger.run': change('start a verification of the ledger', 'finance', 'operations'),
  'ledger.close': change('close days manually', 'finance'),
  'totals.rebuild': change('rebuild daily totals', 'operations'),
  'audit.look': read('read the audit log', 'finance', 'operations'),
  'report.daily': read('read the report of a business day', 'finance', 'operations'),
  'system.look': read('check the whole system (doctor)'),
  'alarm.test': read('send a test message to ALERT_WEBHOOK_URL', 'operations'),
  'settings.look': read('see the settings of the service, without secrets', 'operations'),
  'encryption-key.change': change('encrypt the stored secrets with another key'),
  'operator.look': { does: 'list operators and their sessions', kind: 'read', roles: ['admin'] },
  'operator.manage': change(
    'create and remove operators, set their roles, passwords and keys, reset their second factor',
  ),
  'operator.end-sessions': change('end the sessions of other operators'),
  'message.verify': read('check the signatures of a captured message'),
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
