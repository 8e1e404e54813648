import { findScenario, type ScenarioPlan } from '../../config/sandbox-scenarios.js';
import type { Behaviour } from './settings.js';

/** A plan of the table, or what GET /end has made of one: refused for good (`ended-failed`), or sold and taken back. */
export type Plan = ScenarioPlan | 'ended-failed' | 'reversed';

/** Decides by the ending of the customer number; a number without a plan of its own by the rates in `behaviour`. */
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
  // One draw, two ranges beside each other: both rates are shares of all orders.
  return chance < behaviour.refuse_rate + behaviour.timeout_after_execute_rate ? 'silent' : 'success';
}
