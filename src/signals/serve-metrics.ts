/**
 * Serves `/metrics`, `/healthz` and `/readyz` of this process on its own port (decision 055). Web
 * and worker processes serve them, but never on the port for clients.
 */
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';
import { registry } from '../shared/metrics.js';

const retryMs = 5_000;

export interface Readiness {
  reasons: string[];
}

/**
 * Listens on METRICS_PORT. If the port is taken, for example by a process that is shutting down, it
 * retries. Meanwhile the process works normally, and Prometheus sees that its metrics are missing.
 */
export function serveSignals(look: () => Promise<Readiness>): { close(): Promise<void> } {
  const server = http.createServer((request, response) => {
    handleRequest(request, response, look).catch((error: unknown) => {
      logger.error('metrics could not be served', { error });
      send(response, 500, 'text/plain', 'The metrics are unavailable; the log says why.\n');
    });
  });
  server.requestTimeout = 10_000;
  let retry: NodeJS.Timeout | undefined;
  const listen = () => server.listen({ port: env.METRICS_PORT ?? 0, host: env.METRICS_HOST });
  server.on('listening', () => {
    const { port, address } = server.address() as AddressInfo;
    logger.info('metrics are served', { port, address });
  });
  server.on('error', (error) => {
    logger.error('metrics cannot be served, retrying', { port: env.METRICS_PORT, error });
    retry = setTimeout(listen, retryMs).unref();
  });
  listen();
  return {
    async close() {
      clearTimeout(retry);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function handleRequest(
  request: http.IncomingMessage,
  response: ServerResponse,
  look: () => Promise<Readiness>,
): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, 405, 'text/plain', 'Only GET.\n');
  } else if (path === '/metrics') {
    send(response, 200, registry.contentType, await registry.metrics());
  } else if (path === '/healthz') {
    send(response, 200, 'application/json', JSON.stringify({ status: 'ok' }));
  } else if (path === '/readyz') {
    const { reasons } = await look();
    const isReady = reasons.length === 0;
    const body = { status: isReady ? 'ok' : 'unavailable', ...(!isReady && { reason: reasons.join(' ') }) };
    send(response, isReady ? 200 : 503, 'application/json', JSON.stringify(body));
  } else {
    send(response, 404, 'text/plain', 'Available paths: /metrics, /healthz and /readyz.\n');
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
