import { readBacklogs, getMaxWaitMs } from '../providers/backlog.js';
import { readCircuits, type CircuitView } from '../providers/circuit.js';
import { getRoutingSellers, type RoutingSeller } from '../providers/routing-cache.js';
import { countOffersBelowCost } from '../providers/count-below-cost.js';
import { nowMs } from '../shared/clock.js';
import { ok, warn, type Diagnosis } from './diagnosis.js';

/** Age in milliseconds from which a float is outdated. Floats are refreshed every minute. */
const floatOldMs = 600_000;

/** Reports for each provider the wait of a new order, an open circuit, and an outdated float. */
export async function diagnoseProviders(): Promise<Diagnosis[]> {
  const sellers = [...(await getRoutingSellers()).values()].filter(({ provider }) => provider !== null);
  const [backlogs, circuits, belowCost] = await Promise.all([
    readBacklogs(sellers),
    readCircuits(sellers.map(({ _id }) => _id)),
    countOffersBelowCost(sellers.map(({ _id }) => _id)),
  ]);
  return sellers.flatMap((seller) => [
    diagnoseWait(seller, backlogs),
    ...diagnoseCircuit(seller, circuits.get(seller._id)),
    ...diagnoseFloat(seller),
    ...diagnosePrices(seller, belowCost.get(seller._id) ?? 0),
  ]);
}

function diagnoseWait(seller: RoutingSeller, backlogs: Awaited<ReturnType<typeof readBacklogs>>): Diagnosis {
  const { waiting = 0, expectedMs = 0 } = backlogs.get(seller._id) ?? {};
  const title = `provider of ${seller.username}`;
  const detail = `${waiting} ${waiting === 1 ? 'order waits' : 'orders wait'}; a new one would wait about ${Math.ceil(expectedMs / 1_000)} s`;
  return expectedMs > getMaxWaitMs({ product: null, provider: seller.provider?.maxWaitS })
    ? warn(
        title,
        `${detail}: purchases are refused (03)`,
        'It processes fewer orders than arrive. Agree on a higher limit with it (topup provider set), or add a seller.',
      )
    : ok(title, detail);
}

/** Reports an open circuit, but only while it holds back orders. */
function diagnoseCircuit({ username }: RoutingSeller, circuit: CircuitView | undefined): Diagnosis[] {
  if (!circuit || circuit.state === 'closed') {
    return [];
  }
  const asked = `it has requested a pause of ${Math.ceil(circuit.pauseMs / 1_000)} s more`;
  const state =
    circuit.state === 'open' ? 'open: it gets no orders' : 'half-open: it gets one order at a time';
  return [
    warn(
      `circuit of ${username}`,
      circuit.pauseMs > 0 ? asked : state,
      'It closes by itself when the provider works again. Contact the provider. If our key, address or float there is wrong, correct it, then run topup provider resume.',
    ),
  ];
}

/**
 * Reports an outdated float. A float that was never known is not reported. Routing continues with
 * the old value.
 */
function diagnoseFloat({ username, state }: RoutingSeller): Diagnosis[] {
  const oldMs = nowMs() - (state?.floatAt?.getTime() ?? Infinity);
  return oldMs > floatOldMs
    ? [
        warn(
          `float of ${username}`,
          `last reported ${Math.floor(oldMs / 60_000)} min ago; it is queried every minute`,
          'Routing uses the old value. Check that follow-up runs, and its log at "provider did not report the balance". topup provider list shows all floats.',
        ),
      ]
    : [];
}

/** Reports offers that are not sold because their cost is above their price. */
function diagnosePrices({ username }: RoutingSeller, count: number): Diagnosis[] {
  return count === 0
    ? []
    : [
        warn(
          `prices of ${username}`,
          `${count} ${count === 1 ? 'offer is' : 'offers are'} not sold, because the cost is above the price`,
          `topup provider prices ${username} lists them. Raise their price (topup product set), or allow the loss with --below-cost.`,
        ),
      ];
}
