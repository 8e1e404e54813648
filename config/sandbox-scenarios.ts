/**
 * The numbers that play a story in the sandbox, told by the ending of the customer number: the one table. The simulator
 * behaves by it, `GET /api/sandbox/scenarios` lists it, and a test holds docs/reference/api/sandbox.md against it.
 */

/**
 * What becomes of an order at the simulator, decided once when it is taken.
 * silent: executed, and its first answer never arrives. hidden: executed, answered as pending, then "not found"
 * to the first status checks. held: pending until somebody ends it. Others than these and the two refusals are executed
 * when they are taken.
 */
export type ScenarioPlan =
  'success' | 'refused' | 'pending-success' | 'pending-refused' | 'silent' | 'hidden' | 'held';

/** Calls for one reference that a number of the story "down" does not get through before its order is executed. */
export const downTries = 3;
/** Status checks that a hidden order answers with "not found". */
export const hiddenChecks = 3;

export interface SandboxScenario {
  /** The last four digits of the customer number. */
  ending: string;
  /** What the story is about: any purchase, the inquiry of a bill (of a meter too where it says so), or a bill's payment alone. */
  about: 'transaction' | 'inquiry' | 'payment';
  /** The status that it ends with; of an inquiry `bill`; or the `reason` with which the call is refused. */
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
  /** Absent: as of a number without a story. */
  plan?: ScenarioPlan;
  /** Its first calls do not get through. */
  isDown?: true;
  /** What an inquiry is told in place of a bill. */
  bill?: 'paid' | 'unknown' | 'none' | 'away';
  /** The purchase is refused when it is made, by us: nobody serves it. */
  isNotServed?: true;
  /** The bill is higher when it is paid than when it was asked for. */
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
    description: 'Refused; the price comes back.',
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
    description: 'Pending first, then refused; the price comes back.',
  },
  {
    ending: '1235',
    about: 'transaction',
    result: 'success',
    plan: 'silent',
    description: 'Hangs: executed, but the first answer never arrives.',
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
    description: `Executed, answered as pending, then "not found" ${hiddenChecks} times.`,
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
      'The call is refused with 503 (Retry-After: 30), as while every provider of the product is away.',
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
    description: 'The bill is paid already.',
  },
  {
    ending: '1242',
    about: 'inquiry',
    result: 'invalid_customer_number',
    bill: 'unknown',
    description: 'Wrong number, of a bill and of a meter.',
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
    description: 'The biller does not answer, of a bill and of a meter: 503 (Retry-After: 60).',
  },
  {
    ending: '1244',
    about: 'payment',
    result: 'failed',
    grows: true,
    description: 'The amount changes between inquiry and payment; the price comes back.',
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

/** The story of a number; undefined: it has none. */
export function findScenario(customerNumber: string): SandboxScenario | undefined {
  return byEnding.get(customerNumber.slice(-4));
}
