import Joi from 'joi';
import { timestamp, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import { readBacklogs } from '../../providers/backlog.js';
import { countCallsInFlight, readCircuits } from '../../providers/circuit.js';
import { readProviderHistories, type ProviderFigures } from '../../providers/provider-metrics.js';
import { ProviderStateModel, type ProviderState } from '../../providers/provider-state.model.js';
import { nowMs } from '../../shared/clock.js';
import { requiredObject } from '../api/console-operation.js';
import { presentProvider, providerFields, readRecentFigures } from './list-providers.js';
import { defineProviderOperation } from './define-provider-operation.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const changesShown = 100;

/** Step length in milliseconds, by the number of days in a plot. A plot has about 100 steps. */
const stepsOfDays: Record<number, number> = { 1: 15 * minuteMs, 7: 2 * hourMs, 30: 8 * hourMs };

const nullable = Joi.number().allow(null);

export const stepData = nameSchema(
  'ProviderStep',
  requiredObject({
    from: timestamp,
    orders: Joi.number(),
    sold: Joi.number(),
    failed: Joi.number(),
    unanswered: Joi.number(),
    success_rate: nullable,
    p50_ms: nullable,
    p95_ms: nullable,
    float: nullable,
  }),
);

export function presentStep(step: ProviderFigures) {
  const { fromMs, orders, sold, failed, unanswered, successRate, p50Ms, p95Ms, float } = step;
  return {
    from: new Date(fromMs).toISOString(),
    orders,
    sold,
    failed,
    unanswered,
    success_rate: successRate,
    p50_ms: p50Ms,
    p95_ms: p95Ms,
    float,
  };
}

export const getProvider = defineProviderOperation({
  id: 'getProvider',
  method: 'get',
  action: 'provider.look',
  summary: 'The provider of a seller: its current state, and its history of 1, 7 or 30 days',
  query: Joi.object<{ days: number }>({ days: wholeNumber({ max: 30, standard: 1 }) }),
  data: requiredObject({
    ...providerFields,
    in_flight: requiredObject({ orders: Joi.number(), questions: Joi.number() }),
    steps: Joi.array().items(stepData),
    changes: Joi.array()
      .items(requiredObject({ at: timestamp, to: Joi.string(), because: Joi.string().allow(null) }))
      .description('Changes of its circuit, newest first.'),
  }),
  async run(seller, { query: { days } }) {
    const ids = [seller._id];
    const untilMs = nowMs();
    const stepMs = stepsOfDays[days] ?? 8 * hourMs;
    const sinceMs = Math.floor((untilMs - days * dayMs) / stepMs) * stepMs;
    const [state, circuits, backlogs, flights, recent, long] = await Promise.all([
      ProviderStateModel.findById(seller._id).lean<ProviderState>(),
      readCircuits(ids),
      readBacklogs([seller]),
      countCallsInFlight(seller._id),
      readRecentFigures(ids),
      readProviderHistories(ids, { sinceMs, untilMs }, stepMs),
    ]);
    const overview = {
      seller,
      state,
      circuit: circuits.get(seller._id) ?? null,
      backlog: backlogs.get(seller._id) ?? null,
    };
    const history = long.get(seller._id);
    return {
      ...presentProvider(overview, recent.get(seller._id)),
      in_flight: flights,
      steps: (history?.steps ?? []).map(presentStep),
      changes: (history?.changes ?? [])
        .slice(-changesShown)
        .reverse()
        .map(({ at, what, because }) => ({ at: at.toISOString(), to: what, because })),
    };
  },
});
