/**
 * Sandbox scenarios, selected by the last four digits of the customer number. The simulator follows
 * this table, and `GET /api/sandbox/scenarios` lists it. A test compares
 * docs/reference/api/sandbox.md with the table.
 */

/**
 * How the simulator handles an order. The plan is fixed when it accepts the order.
 *
 * - silent: it executes the order, but the first response never arrives.
 * - hidden: it executes the order and returns pending. The first status checks return "not found".
 * - held: the order is pending until a call ends it.
 *
 * Every other plan, except refusals, executes the order on acceptance.
 */
export type ScenarioPlan =
  'success' | 'refused' | 'pending-success' | 'pending-refused' | 'silent' | 'hidden' | 'held';

/**
 * Number of calls per reference that fail before the order is executed, for scenarios with
 * `isDown`.
 */
export const downTries = 3;
/** Number of status checks of a hidden order that return "not found". */
export const hiddenChecks = 3;

export interface SandboxScenario {
  /** The last four digits of the customer number. */
  ending: string;
  /**
   * Calls to which the scenario applies: purchases, bill payments, or inquiries. An inquiry is
   * about a bill, unless the description mentions meters.
   */
  about: 'transaction' | 'inquiry' | 'payment';
  /**
   * The expected result: the final status, `bill` for an inquiry, or the `reason` of the refusal.
   */
  result:
    | 'success'
    | 'failed'
    | 'pending'
    | 'product_unavailable'
    | 'bill'
    | 'bill_already_paid'
    | 'invalid_customer_number'
    | 'not_found'
    | 'biller_unavailable';
  description: string;
  /** If absent, the simulator handles the order like one without a scenario. */
  plan?: ScenarioPlan;
  /** True if the first `downTries` calls fail. */
  isDown?: true;
  /** Result of an inquiry that returns no bill. */
  bill?: 'paid' | 'unknown' | 'none' | 'away';
  /** True if this service refuses the purchase, as if no provider served the product. */
  isNotServed?: true;
  /** True if the bill is higher at payment than at inquiry. */
  grows?: true;
}

export const sandboxScenarios: readonly SandboxScenario[] = [
  {
    ending: '1230',
    about: 'transaction',
    result: 'success',
    plan: 'success',
    description: 'Succeeds.',
  },
  {
    ending: '1232',
    about: 'transaction',
    result: 'failed',
    plan: 'refused',
    description: 'Refused; the price is refunded.',
  },
  {
    ending: '1233',
    about: 'transaction',
    result: 'success',
    plan: 'pending-success',
    description: 'Pending first, then success.',
  },
  {
    ending: '1234',
    about: 'transaction',
    result: 'failed',
    plan: 'pending-refused',
    description: 'Pending first, then refused; the price is refunded.',
  },
  {
    ending: '1235',
    about: 'transaction',
    result: 'success',
    plan: 'silent',
    description: 'Hangs: executed, but the first response never arrives.',
  },
  {
    ending: '1236',
    about: 'transaction',
    result: 'success',
    plan: 'success',
    isDown: true,
    description: `The provider is down for the first ${downTries} tries, then it succeeds.`,
  },
  {
    ending: '1237',
    about: 'transaction',
    result: 'success',
    plan: 'hidden',
    description: `Executed, reported as pending, then as "not found" ${hiddenChecks} times.`,
  },
  {
    ending: '1238',
    about: 'transaction',
    result: 'pending',
    plan: 'held',
    description: 'Stays pending until you end it.',
  },
  {
    ending: '1239',
    about: 'transaction',
    result: 'product_unavailable',
    isNotServed: true,
    description:
      'The call is refused with 503 (Retry-After: 30), as if all providers of the product were unavailable.',
  },
  {
    ending: '1240',
    about: 'inquiry',
    result: 'bill',
    description: 'One bill.',
  },
  {
    ending: '1241',
    about: 'inquiry',
    result: 'bill_already_paid',
    bill: 'paid',
    description: 'The bill is already paid.',
  },
  {
    ending: '1242',
    about: 'inquiry',
    result: 'invalid_customer_number',
    bill: 'unknown',
    description: 'Wrong number, for bills and meters.',
  },
  {
    ending: '1243',
    about: 'inquiry',
    result: 'not_found',
    bill: 'none',
    description: 'No bill.',
  },
  {
    ending: '1246',
    about: 'inquiry',
    result: 'biller_unavailable',
    bill: 'away',
    description: 'The biller does not respond, for bills and meters: 503 (Retry-After: 60).',
  },
  {
    ending: '1244',
    about: 'payment',
    result: 'failed',
    grows: true,
    description: 'The amount changes between inquiry and payment; the price is refunded.',
  },
  {
    ending: '1245',
    about: 'payment',
    result: 'success',
    plan: 'pending-success',
    description: 'The payment is pending first, then success.',
  },
];

const byEnding = new Map(sandboxScenarios.map((each) => [each.ending, each]));

/** Returns the scenario of a customer number, or undefined if the number has none. */
export function findScenario(customerNumber: string): SandboxScenario | undefined {
  return byEnding.get(customerNumber.slice(-4));
}
