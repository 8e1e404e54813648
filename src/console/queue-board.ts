import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { RequestHandler, Response } from 'express';
import type { Queue } from '../jobs/define-job.js';
import { openQueue } from '../jobs/queues.js';
import { findCurrentQueues } from '../processes.js';
import { isAllowed } from '../operators/rights.js';
import { logger } from '../shared/logger.js';
import { memoizeFor } from '../shared/memoize.js';
import { countWaitingDeliveries, waitingCountedMax } from '../webhooks/deliver/stored-deliveries.js';
import { deliverDueJob } from '../webhooks/deliver/delivery-jobs.js';
import { getAdminSession } from './session.js';

/** Allows only our own scripts. The board's components set inline styles. */
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
 * Serves the Bull board at `/admin/queues`, behind the console's login. Roles without `queue.work`
 * get a read-only board. `createQueueActionsRouter`, which runs before the board, enforces the rights.
 */
export const queueBoard: RequestHandler = (request, response, next) => {
  const { operator } = getAdminSession(response);
  response.set('Content-Security-Policy', contentSecurityPolicy);
  removeOutsideLinks(response);
  getBoard({
    readOnly: !isAllowed(operator.role, 'queue.work'),
    // The version and host of Redis would help an attacker.
    hideRedisDetails: !isAllowed(operator.role, 'settings.look'),
  })
    .then((board) => {
      board(request, response, next);
    })
    .catch(next);
};

interface Board {
  router: RequestHandler;
  replaceQueues: (queues: BullMQAdapter[]) => void;
  /** Names and titles of the queues on the board. The board is rebuilt when they change. */
  shown: string;
}

/** Options of the board that depend on the role. */
interface BoardView {
  readOnly: boolean;
  hideRedisDetails: boolean;
}

const boards = new Map<string, Board>();

/** Builds the board at the first request, and rebuilds its queues when providers' queues change. */
async function getBoard(sight: BoardView): Promise<RequestHandler> {
  const key = JSON.stringify(sight);
  const found = boards.get(key);
  const queues = await findCurrentQueues();
  const waiting = await describeWaiting();
  const shown = [waiting, ...queues.map(({ queue: { name, title = '' } }) => `${name} ${title}`)].join();
  if (found?.shown === shown) {
    return found.router;
  }
  const board = found ?? createBoard(sight);
  board.replaceQueues(queues.map((each) => createAdapter(each, { readOnlyMode: sight.readOnly, waiting })));
  boards.set(key, { ...board, shown });
  return board.router;
}

function createBoard({ hideRedisDetails }: BoardView): Board {
  const serverAdapter = new ExpressAdapter().setBasePath('/admin/queues');
  const { replaceQueues } = createBullBoard({
    queues: [],
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Top-up queues',
        hideDocsLink: true,
        hideRedisDetails,
        miscLinks: [
          { text: 'Back to the console', url: '/admin' },
          { text: 'Workers and their health', url: '/admin/system' },
          { text: 'Waiting webhooks', url: '/admin/webhooks' },
        ],
        theme: { light: fonts, dark: fonts },
      },
    },
  });
  return { router: serverAdapter.getRouter() as RequestHandler, replaceQueues, shown: '' };
}

function createAdapter(
  { queue, process }: { queue: Queue; process: { name: string } },
  { readOnlyMode, waiting }: { readOnlyMode: boolean; waiting: string },
): BullMQAdapter {
  const more = queue.name === deliverDueJob.queue.name ? ` ${waiting}` : '';
  const adapter = new BullMQAdapter(openQueue(queue), {
    readOnlyMode,
    description: `${queue.does}.${more} Processed by ${process.name}. Its health is on /admin/system.`,
    externalJobUrl: (job) => buildJobLink(queue, job),
    ...(queue.title !== undefined && { displayName: queue.title }),
  });
  // Payloads contain only ids. The first id is shown next to the job's name.
  adapter.setFormatter('name', (job: { name: string; data?: Record<string, unknown> }) => {
    const id = Object.entries(job.data ?? {}).find(([key]) => key.endsWith('Id'))?.[1];
    return typeof id === 'string' ? `${job.name} ${id}` : job.name;
  });
  return adapter;
}

type BoardJob = Parameters<NonNullable<BullMQAdapter['externalJobUrl']>>[0];

/** Links a job to its purchase in the console, or to its own page. */
function buildJobLink(queue: Queue, { id, data }: BoardJob): { displayText: string; href: string } {
  const purchaseId = (data as { purchaseId?: unknown } | undefined)?.purchaseId;
  return typeof purchaseId === 'string'
    ? { displayText: 'Its purchase', href: `/admin/purchases/${encodeURIComponent(purchaseId)}` }
    : {
        displayText: 'In the console',
        href: `/admin/jobs/${encodeURIComponent(`${id ?? ''}@${queue.name}`)}`,
      };
}

/** Results are cached for this long, in milliseconds, for all viewers. */
const cachedMs = 5_000;

const getWaitingCount = memoizeFor(cachedMs, countWaitingDeliveries);

/**
 * Counts waiting deliveries for the board. A delivery that waits for a retry has no job, so the
 * webhook queue looks empty.
 */
async function describeWaiting(): Promise<string> {
  try {
    const count = await getWaitingCount();
    const many = count < waitingCountedMax ? String(count) : `${count} or more`;
    return `${many} deliveries wait in MongoDB, including those that wait for a retry.`;
  } catch (error) {
    logger.warn('could not count the waiting deliveries for the queue board', { error });
    return '';
  }
}

/** Removes external stylesheet links. The board's page links a font on another server. */
function removeOutsideLinks(response: Response): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) =>
    send(typeof body === 'string' ? body.replace(/<link\b[^>]*href="https?:[^>]*>/g, '') : body);
}
