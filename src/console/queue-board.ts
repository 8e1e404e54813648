import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { RequestHandler, Response } from 'express';
import type { Queue } from '../jobs/define-job.js';
import { openQueue } from '../jobs/queues.js';
import { queuesNow } from '../processes.js';
import { isAllowed } from '../operators/rights.js';
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
 * The Bull board at `/admin/queues`, behind the console's login. Who may not work on queues gets one without buttons;
 * that nobody does more than their role may is ensured by `queueActions` before it.
 */
export const queueBoard: RequestHandler = (request, response, next) => {
  const { operator } = sessionOf(response);
  response.set('Content-Security-Policy', contentSecurityPolicy);
  withoutOutsideLinks(response);
  boardFor(!isAllowed(operator.role, 'queue.work'))
    .then((board) => {
      board(request, response, next);
    })
    .catch(next);
};

interface Board {
  router: RequestHandler;
  replaceQueues: (queues: BullMQAdapter[]) => void;
  /** Names and titles of what it shows. */
  shown: string;
}

const boards = new Map<boolean, Board>();

/** Made at the first request: a process that never shows it needs no queues. Those of providers come and go. */
async function boardFor(readOnly: boolean): Promise<RequestHandler> {
  const queues = (await queuesNow()).map(({ queue }) => queue);
  const shown = queues.map(({ name, title = '' }) => `${name} ${title}`).join();
  const found = boards.get(readOnly);
  if (found?.shown === shown) {
    return found.router;
  }
  const board = found ?? newBoard();
  board.replaceQueues(queues.map((queue) => adapterOf(queue, readOnly)));
  boards.set(readOnly, { ...board, shown });
  return board.router;
}

function newBoard(): Board {
  const serverAdapter = new ExpressAdapter().setBasePath('/admin/queues');
  const { replaceQueues } = createBullBoard({
    queues: [],
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
  return { router: serverAdapter.getRouter() as RequestHandler, replaceQueues, shown: '' };
}

function adapterOf(queue: Queue, readOnlyMode: boolean): BullMQAdapter {
  const adapter = new BullMQAdapter(openQueue(queue), {
    readOnlyMode,
    description: queue.does,
    ...(queue.title !== undefined && { displayName: queue.title }),
  });
  // Payloads are ids only; the name says at once which one.
  adapter.setFormatter('name', (job: { name: string; data?: Record<string, unknown> }) => {
    const id = Object.entries(job.data ?? {}).find(([key]) => key.endsWith('Id'))?.[1];
    return typeof id === 'string' ? `${job.name} ${id}` : job.name;
  });
  return adapter;
}

/** The board's page names a font of another server. Nothing is loaded from outside, so that link goes. */
function withoutOutsideLinks(response: Response): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) =>
    send(typeof body === 'string' ? body.replace(/<link\b[^>]*href="https?:[^>]*>/g, '') : body);
}
