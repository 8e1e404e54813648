/**
 * All processes of the service. A new worker must also be added to the Procfile and to
 * docker-compose.yml. A test compares the three.
 */
import type { ChildSpec } from '../supervisor/child.js';

/** One process type per kind of work. Each type can run several times. */
export const workerNames = [
  'fulfilment',
  'follow-up',
  'webhooks',
  'sellers',
  'settlements',
  'inquiries',
  'reports',
] as const;

/** @param metricsPort METRICS_PORT of the web process. Workers use the ports that follow. */
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

/**
 * Assigns METRICS_PORT. Processes on one machine need different ports. With 0, each takes a free
 * port. The process itself refuses an invalid value.
 */
function metricsPortOf(rawPort: string, offset: number): Record<string, string> {
  const port = Number(rawPort);
  return port > 0 ? { METRICS_PORT: String(port + offset) } : {};
}

/** Stand-ins for external systems: a provider and a customer's webhook server. */
export function playgroundSpecs(options: {
  env: Record<string, string>;
  simulatorPort: number;
  inboxPort: number;
  /** A JSON file that maps accounts to webhook secrets. */
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
