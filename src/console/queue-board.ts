import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Request, RequestHandler, Response } from 'express';
import { recordAudit } from '../audit/record-audit.js';
import { queue, queueDescriptions, queueNames, type QueueName } from '../jobs/queues.js';
import { addressOf } from '../api/middleware/address.js';
import { sessionOf } from './session.js';

/** Own scripts only. Styles may be inline, because the board's components set them. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
].join('; ');

const fonts = {
  'font-sans': 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  'font-mono': 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
};

/**
 * The Bull board at `/admin/queues`, behind the console's login. Viewers get one without buttons; that they
 * change nothing is ensured by `guardChanges`. Every change is in the audit log.
 */
export const queueBoard: RequestHandler = async (request, response, next) => {
  const { operator } = sessionOf(response);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    await auditChange(request, response);
  }
  response.set('Content-Security-Policy', contentSecurityPolicy);
  withoutOutsideLinks(response);
  boardFor(operator.role)(request, response, next);
};

const boards = new Map<string, RequestHandler>();

/** Made at the first request: a process that never shows it needs no queues. */
function boardFor(role: 'admin' | 'viewer'): RequestHandler {
  let board = boards.get(role);
  if (!board) {
    const serverAdapter = new ExpressAdapter().setBasePath('/admin/queues');
    createBullBoard({
      queues: queueNames.map((name) => adapterOf(name, role === 'viewer')),
      serverAdapter,
      options: {
        uiConfig: {
          boardTitle: 'Top-up queues',
          hideDocsLink: true,
          miscLinks: [{ text: 'Back to the console', url: '/admin' }],
          theme: { light: fonts, dark: fonts },
        },
      },
    });
    board = serverAdapter.getRouter() as RequestHandler;
    boards.set(role, board);
  }
  return board;
}

function adapterOf(name: QueueName, readOnlyMode: boolean): BullMQAdapter {
  const adapter = new BullMQAdapter(queue(name), { readOnlyMode, description: queueDescriptions[name] });
  // Payloads are ids only; the name says at once which one.
  adapter.setFormatter('name', (job: { name: string; data?: Record<string, unknown> }) => {
    const id = Object.entries(job.data ?? {}).find(([key]) => key.endsWith('Id'))?.[1];
    return typeof id === 'string' ? `${job.name} ${id}` : job.name;
  });
  return adapter;
}

async function auditChange(request: Request, response: Response): Promise<void> {
  const { operator } = sessionOf(response);
  const [, queueName = '', ...rest] = request.path
    .replace(/^\/api/, '')
    .split('/')
    .filter(Boolean);
  await recordAudit(null, {
    actor: `operator:${operator.username}`,
    action: `queue.${rest.at(-1) ?? request.method.toLowerCase()}`,
    subject: { kind: 'queue', id: queueName === '' ? 'all' : queueName },
    after: { request: `${request.method} ${request.path}` },
    from: addressOf(request),
  });
}

/** The board's page names a font of another server. Nothing is loaded from outside, so that link goes. */
function withoutOutsideLinks(response: Response): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) =>
    send(typeof body === 'string' ? body.replace(/<link\b[^>]*href="https?:[^>]*>/g, '') : body);
}
