import type { Behaviour } from './settings.js';

/**
 * What becomes of an order, decided once when it is taken.
 * silent: executed, and its first answer never arrives. hidden: executed, answered as pending, then "not found"
 * to the first status checks. Everything but the two refusals is an execution.
 */
export type Plan = 'success' | 'refused' | 'pending-success' | 'pending-refused' | 'silent' | 'hidden';

/** Calls for one reference that an ending in 1236 does not get through before the order is executed. */
export const downTries = 3;
/** Status checks that an ending in 1237 answers with "not found". */
export const hiddenChecks = 3;

/** Decides by the ending of the customer number; a number without an ending of its own by the rates in `behaviour`. */
export function planOf(
  order: { kind: 'request' | 'payment'; customer: string },
  behaviour: Behaviour,
  random: () => number,
): Plan {
  switch (order.customer.slice(-4)) {
    case '1230':
    case '1236':
      return 'success';
    case '1232':
      return 'refused';
    case '1233':
      return 'pending-success';
    case '1234':
      return 'pending-refused';
    case '1235':
      return 'silent';
    case '1237':
      return 'hidden';
    case '1245':
      return order.kind === 'payment' ? 'pending-success' : 'success';
    default:
      return planByChance(behaviour, random());
  }
}

function planByChance(behaviour: Behaviour, chance: number): Plan {
  if (chance < behaviour.refuse_rate) {
    return 'refused';
  }
  // One draw, two ranges beside each other: both rates are shares of all orders.
  return chance < behaviour.refuse_rate + behaviour.timeout_after_execute_rate ? 'silent' : 'success';
}
