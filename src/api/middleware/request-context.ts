import type { RequestHandler, Response } from 'express';
import { MaintenanceError } from '../../shared/errors.js';
import type { Language } from '../../shared/messages.js';
import { newId } from '../../shared/ids.js';
import { logger } from '../../shared/logger.js';
import { openSpan } from '../../shared/tracing.js';
import { countCall } from '../call-metrics.js';

export interface RequestContext {
  requestId: string;
  accountId: string | null;
  /** Which operation it is, once that is known. */
  operation: string | null;
  /** The code that was answered, for the log. */
  code: string | null;
  /** It failed through our own fault, though the status does not say so (decision 013). */
  failed: boolean;
  /** Of the words in the answer; null: as Accept-Language says. */
  language: Language | null;
  /** The error behind a failure, for the log only. */
  error: unknown;
}

export function contextOf(response: Response): RequestContext {
  return response.locals['context'] as RequestContext;
}

/** Asked every few seconds, by machines. */
const probes = ['/healthz', '/readyz'];

const callersId = /^[A-Za-z0-9._-]{8,64}$/;

/** Gives each request an id (the caller's x-request-id if it has a sane one) and logs one line when it ends. */
export const requestContext: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id');
  const context: RequestContext = {
    requestId: given !== undefined && callersId.test(given) ? given : newId(),
    accountId: null,
    operation: null,
    failed: false,
    code: null,
    language: null,
    error: undefined,
  };
  response.locals['context'] = context;
  response.set('x-request-id', context.requestId);
  const startedAt = process.hrtime.bigint();
  // The path without its query: that of the reseller surface carries signatures.
  const path = request.originalUrl.split('?', 1)[0];
  const { method } = request;
  const span = probes.includes(path ?? '')
    ? null
    : openSpan({
        ...{ name: method, kind: 'server', requestId: context.requestId },
        attributes: { 'http.request.method': method },
      });
  response.on('close', () => {
    const status = response.writableFinished ? response.statusCode : 499;
    // A product under maintenance is an answer, not a fault of ours.
    const durationMs = Number((process.hrtime.bigint() - startedAt) / 1_000n) / 1_000;
    const failed = status >= 500 && !(context.error instanceof MaintenanceError);
    const { operation, code } = context;
    countCall({
      ...{ operation, status, code, durationMs, failed: failed || context.failed },
      isStranger: context.accountId === null,
    });
    span?.rename(`call ${operation ?? 'other'}`);
    span?.note({ 'http.response.status_code': status, 'topup.code': code ?? '' });
    if (failed) {
      span?.fail(code ?? String(status));
    }
    span?.end();
    logger.log(failed ? 'error' : 'info', 'request', {
      requestId: context.requestId,
      ...(span && { traceId: span.traceId }),
      method,
      path,
      status,
      code: context.code,
      accountId: context.accountId,
      durationMs,
      ...(failed && context.error !== undefined && { error: context.error }),
    });
  });
  if (span) {
    span.inside(next);
  } else {
    next();
  }
};
