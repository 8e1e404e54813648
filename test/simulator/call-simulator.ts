import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { md5Sign, type RunningSimulator } from '../support/simulator.js';

const pollIntervalMs = 20;

export interface SimulatorAnswer {
  status: string;
  message: string;
  ref_id?: string;
  sn?: string | null;
  transaction_status?: string;
  [field: string]: unknown;
}

export type CallParameters = Partial<
  Record<'username' | 'code' | 'customer' | 'ref_id' | 'sign' | 'amount', string>
>;

export function newRef(): string {
  return randomUUID();
}

/**
 * Returns the URL of an order. `parameters` override the defaults. An empty value removes a
 * parameter.
 */
export function orderUrl(
  simulator: RunningSimulator,
  path: '/request' | '/inquiry' | '/payment',
  parameters: CallParameters,
): string {
  const { username = 'shop', ref_id: refId = newRef() } = parameters;
  const query = {
    username,
    ref_id: refId,
    code: 'S10',
    customer: '081234567890',
    sign: md5Sign(username, simulator.secret, refId),
    ...parameters,
  };
  return `${simulator.url}${path}?${new URLSearchParams(query).toString()}`;
}

/**
 * Calls the simulator.
 * @throws Error if there is no response, or if its HTTP status is not 200.
 */
export async function call(
  simulator: RunningSimulator,
  path: '/request' | '/inquiry' | '/payment',
  parameters: CallParameters,
  timeoutMs = 5_000,
): Promise<SimulatorAnswer> {
  const response = await fetch(orderUrl(simulator, path, parameters), {
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`HTTP ${response.status}: ${text}`);
  }
  return JSON.parse(text) as SimulatorAnswer;
}

/** Returns the result of a call as the response code, `HTTP 503` or `no answer`. */
export async function outcome(...parameters: Parameters<typeof call>): Promise<string> {
  try {
    return (await call(...parameters)).status;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    return message.startsWith('HTTP') ? message.slice(0, 8) : 'no answer';
  }
}

/** Repeats the call until the response has this status. */
export async function waitForStatus(
  status: string,
  ...[simulator, path, parameters, limitMs = 5_000]: Parameters<typeof call>
): Promise<SimulatorAnswer> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await call(simulator, path, parameters);
    if (answer.status === status) {
      return answer;
    }
    if (Date.now() > deadline) {
      throw new Error(`still ${JSON.stringify(answer)} after ${limitMs} ms`);
    }
    await delay(pollIntervalMs);
  }
}
