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

export function serviceSpecs(env: Record<string, string>): ChildSpec[] {
  return [
    { name: 'web', tier: 'service', args: ['dist/src/server.js'], env },
    ...workerNames.map((name): ChildSpec => ({
      name,
      tier: 'service',
      args: ['dist/workers/run.js', name],
      env,
    })),
  ];
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
