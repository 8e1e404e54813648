/**
 * Rights and audit of the changes that the Bull board can make. An action without a row is refused.
 */
import { appRoutes } from '@bull-board/api/dist/routes.js';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { createJsonBodyParsers } from '../api/http/request-body.js';
import { allOfKind } from '../audit/audit.model.js';
import { recordAudit, type NewAuditEntry } from '../audit/record-audit.js';
import type { Queue } from '../jobs/define-job.js';
import { openQueue } from '../jobs/queues.js';
import type { OperatorAction } from '../operators/rights.js';
import { findCurrentQueues } from '../processes.js';
import { DependencyError, ForbiddenError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { logger } from '../shared/logger.js';
import { requireRight, buildOperatorChangedBy } from './console-route.js';

const queue = '/api/queues/:queueName';
const job = `${queue}/:jobId`;

export const queueBoardActions: Readonly<Record<string, OperatorAction>> = {
  'put /api/queues/pause': 'queue.work',
  'put /api/queues/resume': 'queue.work',
  [`put ${queue}/pause`]: 'queue.work',
  [`put ${queue}/resume`]: 'queue.work',
  [`put ${queue}/retry/:queueStatus`]: 'queue.work',
  [`put ${queue}/promote`]: 'queue.work',
  [`put ${queue}/rate-limit/release`]: 'queue.work',
  [`put ${queue}/job-schedulers/:schedulerId/run`]: 'queue.work',
  [`put ${job}/retry`]: 'queue.work',
  [`put ${job}/promote`]: 'queue.work',
  [`post ${queue}/add`]: 'queue.remove',
  [`put ${queue}/clean/:queueStatus`]: 'queue.remove',
  [`put ${queue}/empty`]: 'queue.remove',
  [`put ${queue}/obliterate`]: 'queue.remove',
  [`put ${queue}/concurrency`]: 'queue.remove',
  [`put ${queue}/rate-limit`]: 'queue.remove',
  [`put ${queue}/job-schedulers/:schedulerId/remove`]: 'queue.remove',
  [`patch ${queue}/job-schedulers/:schedulerId`]: 'queue.remove',
  [`put ${job}/clean`]: 'queue.remove',
  [`put ${job}/remove-unprocessed-children`]: 'queue.remove',
  [`patch ${job}/update-data`]: 'queue.remove',
  [`patch ${job}/delay`]: 'queue.remove',
  [`patch ${job}/priority`]: 'queue.remove',
};

const auditedTextMax = 2_000;

/**
 * Builds the router that runs before the board. It checks the role's right and records the state
 * before and after in the audit log.
 * @throws Error if the board has an action without a row here, so that an upgrade cannot add
 *   unchecked actions.
 */
export function createQueueActionsRouter(): Router {
  const router = Router({ caseSensitive: true });
  router.use(createJsonBodyParsers());
  // Keep the order of the board's routes, so that `pause` is not matched as a job's name.
  for (const { method, path } of listBoardRoutes()) {
    if (method === 'get') {
      continue;
    }
    const action = queueBoardActions[`${method} ${path}`];
    if (action === undefined) {
      throw new Error(
        `The queue board can ${method} ${path}, which has no row in src/console/queue-actions.ts`,
      );
    }
    router[method](path, requireRight(action), auditAction(path));
  }
  router.use((request, response, next) => {
    if (!['GET', 'HEAD'].includes(request.method) && response.locals[matched] !== true) {
      throw new ForbiddenError(asWritten('The queue board has no such action.'));
    }
    next();
  });
  return router;
}

const matched = 'queueAction';

function listBoardRoutes(): { method: HttpMethod; path: string }[] {
  return appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((verb) => [route].flat().map((path) => ({ method: verb, path }))),
  );
}

type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Records one audit entry before the action and one with its result after it. */
function auditAction(path: string): RequestHandler {
  const verb = path
    .split('/')
    .filter((part) => part !== '' && !part.startsWith(':'))
    .slice(2)
    .join('-');
  return async (request, response, next) => {
    response.locals[matched] = true;
    const known = new Map((await findCurrentQueues()).map(({ queue: each }) => [each.name, each]));
    const name = String(request.params['queueName'] ?? '');
    const jobId = String(request.params['jobId'] ?? '');
    const entry = {
      ...buildOperatorChangedBy(request, response),
      subject: { kind: 'queue' as const, id: known.has(name) ? name : allOfKind },
    };
    const what = {
      request: `${request.method} ${request.path}`.slice(0, auditedTextMax),
      ...pickBody(request),
    };
    const before = await readJobState(name, jobId, known);
    await recordAudit(null, { ...entry, action: `queue.${verb}`, before, after: what });
    runBeforeEnd(response, () =>
      recordEnd(response, { ...entry, action: `queue.${verb}.done`, before }, () =>
        readJobState(name, jobId, known),
      ),
    );
    next();
  };
}

/**
 * Delays the response until `record` has finished, so that a client that has the response finds the
 * audit entry. `record` never throws.
 */
function runBeforeEnd(response: Response, record: () => Promise<void>): void {
  const end = response.end.bind(response) as (...args: unknown[]) => Response;
  response.end = (...args: unknown[]) => {
    response.end = end as Response['end'];
    void record().then(() => end(...args));
    return response;
  };
}

async function recordEnd(
  response: Response,
  entry: Omit<NewAuditEntry, 'after'>,
  readState: () => Promise<object>,
): Promise<void> {
  try {
    await recordAudit(null, {
      ...entry,
      after: { http_status: response.statusCode, ...(await readState()) },
    });
  } catch (error) {
    logger.error('could not record the end of a queue action in the audit log', {
      error,
      action: entry.action,
    });
  }
}

/**
 * Returns the queue's job counts, pause and concurrency limit, and the job of the action if there
 * is one. Payloads contain only ids.
 */
async function readJobState(name: string, jobId: string, known: ReadonlyMap<string, Queue>): Promise<object> {
  const found = known.get(name);
  if (!found) {
    return {};
  }
  try {
    const opened = openQueue(found);
    const [counts, paused, concurrency, meant] = await Promise.all([
      opened.getJobCounts(),
      opened.isPaused(),
      opened.getGlobalConcurrency(),
      jobId === '' ? null : opened.getJob(jobId.slice(0, jobIdMax)),
    ]);
    const shown = meant && {
      id: meant.id,
      name: meant.name,
      data: meant.data as unknown,
      state: await meant.getState(),
    };
    return { counts, paused, concurrency: concurrency ?? 'no limit', ...(shown && { job: shown }) };
  } catch (error) {
    throw new DependencyError(error);
  }
}

const jobIdMax = 300;

/** Returns the request body for the audit log, cut to `auditedTextMax` characters. */
function pickBody(request: Request): { body?: unknown } {
  const body = request.body as object | undefined;
  if (body === undefined || Object.keys(body).length === 0) {
    return {};
  }
  const text = JSON.stringify(body);
  return { body: text.length > auditedTextMax ? `${text.slice(0, auditedTextMax)}…` : body };
}
