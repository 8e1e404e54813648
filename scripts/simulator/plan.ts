import { findScenario, type ScenarioPlan } from '../../config/sandbox-scenarios.js';
import type { Behaviour } from './settings.js';

/**
 * A plan of the scenario table, or the result of GET /end. `ended-failed` is finally refused, and
 * `reversed` is a success that was reversed later.
 */
export type Plan = ScenarioPlan | 'ended-failed' | 'reversed';

/**
 * Chooses the plan by the ending of the number. Without a known ending, chooses by the rates in
 * `behaviour`.
 */
export function planOf(
  order: { kind: 'request' | 'payment'; customer: string },
  behaviour: Behaviour,
  random: () => number,
): Plan {
  const { plan, about } = findScenario(order.customer) ?? {};
  if (plan === undefined) {
    return drawPlan(behaviour, random());
  }
  return about === 'payment' && order.kind !== 'payment' ? 'success' : plan;
}

function drawPlan(behaviour: Behaviour, chance: number): Plan {
  if (chance < behaviour.refuse_rate) {
    return 'refused';
  }
  // Uses one random draw with adjacent ranges, so that both rates are shares of all orders.
  return chance < behaviour.refuse_rate + behaviour.timeout_after_execute_rate ? 'silent' : 'success';
}
