/** Every process of the service, in one place. A worker that is added here is added to the Procfile and docker-compose.yml too; a test compares them. */
import type { ChildSpec } from '../supervisor/child.js';

/** One process type per kind of work; each may run any number of times. */
export const workerNames = [
  'fulfilment',
  'follow-up',
  'webhooks',
  'sellers',
  'settlements',
  'inquiries',
  'reports',
] as const;

/** @param metricsPort METRICS_PORT as it was given: web's, and the workers have those after it. */
export function serviceSpecs(env: Record<string, string>, metricsPort = ''): ChildSpec[] {
  const withPort = (offset: number) => ({ ...env, ...metricsPortOf(metricsPort, offset) });
  return [
    { name: 'web', tier: 'service', args: ['dist/src/server.js'], env: withPort(0) },
    ...workerNames.map((name, index): ChildSpec => ({
      name,
      tier: 'service',
      args: ['dist/workers/run.js', name],
      env: withPort(index + 1),
    })),
  ];
}

/** Each on one machine needs its own; 0 is any free one for all of them. What is no number its process complains of. */
function metricsPortOf(given: string, offset: number): Record<string, string> {
  const port = Number(given);
  return port > 0 ? { METRICS_PORT: String(port + offset) } : {};
}

/** What stands in for the outside world: a provider, and a customer's server that receives webhooks. */
export function playgroundSpecs(options: {
  env: Record<string, string>;
  simulatorPort: number;
  inboxPort: number;
  /** JSON: account -> webhook secret. */
  inboxSecretsFile: string;
}): ChildSpec[] {
  const { env, simulatorPort, inboxPort, inboxSecretsFile } = options;
  return [
    {
      name: 'simulator',
      tier: 'playground',
      args: ['dist/scripts/simulator/main.js', '--port', String(simulatorPort)],
      env,
    },
    {
      name: 'inbox',
      tier: 'playground',
      args: ['dist/scripts/inbox/main.js', '--port', String(inboxPort), '--secrets-file', inboxSecretsFile],
      env,
    },
  ];
}
