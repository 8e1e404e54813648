/** Providers by the id of their seller; `topup_provider_info` has its username. */
import { counter, histogram } from '../shared/metrics.js';

export const observeOrder = histogram({
  name: 'topup_provider_order_duration_seconds',
  help: 'From an order that was sent to its answer, by what the answer means',
  labels: ['provider', 'outcome'],
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40],
});

export const observeAdmission = histogram({
  name: 'topup_provider_admission_wait_seconds',
  help: "How long a call waited for its turn in the provider's limits",
  labels: ['provider'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5],
});

export const countNotAdmitted = counter({
  name: 'topup_provider_not_admitted_total',
  help: 'Calls that were sent away, to come again: slots, pace, pause',
  labels: ['provider', 'reason'],
});

export const countCircuitChange = counter({
  name: 'topup_provider_circuit_changes_total',
  help: 'Changes of the circuit that this process has made',
  labels: ['provider', 'to'],
});
