import { findScenario, type ScenarioPlan } from '../../config/sandbox-scenarios.js';
import type { Behaviour } from './settings.js';

/**
 * A plan of the scenario table, or the result of GET /end: finally refused (`ended-failed`) or
 * reversed.
 */
export type Plan = ScenarioPlan | 'ended-failed' | 'reversed';

/** Chooses the plan by the number's ending, otherwise by the rates in `behaviour`. */
export function planOf(
  order: { kind: 'request' | 'payment'; customer: string },
  behaviour: Behaviour,
  random: () => number,
): Plan {
  const { plan, about } = findScenario(order.customer) ?? {};
  if (plan === undefined) {
    return planByChance(behaviour, random());
  }
  return about === 'payment' && order.kind !== 'payment' ? 'success' : plan;
}

function planByChance(behaviour: Behaviour, chance: number): Plan {
  if (chance < behaviour.refuse_rate) {
    return 'refused';
  }
  // One draw with adjacent ranges, so that both rates are shares of all orders.
  return chance < behaviour.refuse_rate + behaviour.timeout_after_execute_rate ? 'silent' : 'success';
}
