import { counter, histogram } from '../../shared/metrics.js';
import type { Request, RequestHandler, Response } from 'express';
import { MaintenanceError } from '../../shared/errors.js';
import type { Language } from '../../shared/messages.js';
import { newId } from '../../shared/ids.js';
import { logger, redact } from '../../shared/logger.js';
import { logRequest } from '../../request-log/log-request.js';
import { redactBody, redactText } from '../../request-log/redact-body.js';
import { openSpan } from '../../shared/tracing.js';
import { getClientAddress } from './read-request.js';

const calls = counter({
  name: 'topup_http_requests_total',
  help: 'Calls that were answered, by operation, HTTP status and code of the answer',
  labels: ['operation', 'status', 'code'],
});

const durations = histogram({
  name: 'topup_http_request_duration_seconds',
  help: 'From a call to the end of its answer',
  labels: ['operation'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const judged = counter({
  name: 'topup_http_judged_total',
  help: 'Calls that the service level is about: those of accounts, and any that failed; not those of strangers without a valid key',
  labels: ['operation'],
});

const failures = counter({
  name: 'topup_http_failures_total',
  help: 'Of these, those that failed through our own fault, or that of a database; not a product under maintenance',
  labels: ['operation'],
});

/** @param call.operation Null for what is no operation of the interface: the console, the documentation, unknown paths. */
export function countCall(call: {
  operation: string | null;
  /** Nobody knows whose it was: no credentials, or wrong ones. */
  isStranger: boolean;
  status: number;
  code: string | null;
  durationMs: number;
  /** The fault is ours. */
  failed: boolean;
}): void {
  const operation = call.operation ?? 'other';
  calls({ operation, status: String(call.status), code: call.code ?? '' });
  durations({ operation }, call.durationMs / 1_000);
  judged({ operation }, call.operation !== null && (call.failed || !call.isStranger) ? 1 : 0);
  // At 0 as well, so that there is always something to divide.
  failures({ operation }, call.failed ? 1 : 0);
}

export interface RequestContext {
  requestId: string;
  accountId: string | null;
  /** Which operation it is, once that is known. */
  operation: string | null;
  /** The code that was answered, for the log. */
  code: string | null;
  /** It failed through our own fault, though the status does not say so (decision 025). */
  failed: boolean;
  /** Of the words in the answer; null: as Accept-Language says. */
  language: Language | null;
  /** The error behind a failure, for the log only. */
  error: unknown;
  /** What was answered, for the account's request log; null where that is a file or a long list. */
  answer: object | null;
  readsRequestLog: boolean;
}

export function getRequestContext(response: Response): RequestContext {
  return response.locals['context'] as RequestContext;
}

/** Asked every few seconds, by machines. */
const probes = ['/healthz', '/readyz'];

const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;

/** It goes into answers, logs, jobs and traces: whoever sends a key in its place gets an id of ours. */
function isUsableRequestId(given: string | undefined): given is string {
  return given !== undefined && requestIdPattern.test(given) && redact(given) === given;
}

/** Gives each request an id (the caller's x-request-id if it has a sane one) and logs one line when it ends. */
export const requestContext: RequestHandler = (request, response, next) => {
  const given = request.get('x-request-id');
  const context: RequestContext = {
    requestId: isUsableRequestId(given) ? given : newId(),
    accountId: null,
    operation: null,
    failed: false,
    code: null,
    language: null,
    error: undefined,
    answer: null,
    readsRequestLog: false,
  };
  response.locals['context'] = context;
  response.set('x-request-id', context.requestId);
  const startedAt = process.hrtime.bigint();
  // The path without its query: that of the reseller surface carries signatures.
  const path = decodePath(request.originalUrl.split('?', 1)[0] ?? '');
  const { method } = request;
  const span = probes.includes(path)
    ? null
    : openSpan({
        name: method,
        kind: 'server',
        requestId: context.requestId,
        attributes: { 'http.request.method': method },
      });
  response.on('close', () => {
    const status = response.writableFinished ? response.statusCode : 499;
    // A product under maintenance is an answer, not a fault of ours.
    const durationMs = Number((process.hrtime.bigint() - startedAt) / 1_000n) / 1_000;
    const failed = status >= 500 && !(context.error instanceof MaintenanceError);
    const { operation, code } = context;
    countCall({
      operation,
      status,
      code,
      durationMs,
      failed: failed || context.failed,
      isStranger: context.accountId === null,
    });
    span?.rename(`call ${operation ?? 'other'}`);
    span?.note({ 'http.response.status_code': status, 'topup.code': code ?? '' });
    if (failed) {
      span?.fail(code ?? String(status));
    }
    span?.end();
    if (context.accountId !== null && operation !== null) {
      logForAccount(request, { accountId: context.accountId, context, status, path, durationMs });
    }
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

/** Whoever reads a log decodes no oftener. */
const decodedMax = 5;

/** A key with one of its letters as %6B is one too: such a path is told as it reads, so that it is masked. */
function decodePath(sent: string): string {
  if (!sent.includes('%')) {
    return sent;
  }
  let path = sent;
  try {
    for (let times = 0; times < decodedMax; times++) {
      path = decodeURIComponent(path);
    }
  } catch {
    // So far it could be read.
  }
  return redact(path) === path ? sent : path;
}

/** What its account reads of it. On the reseller surface the code tells a failure, elsewhere the status as well. */
function logForAccount(
  request: Request,
  call: { accountId: string; context: RequestContext; status: number; path: string; durationMs: number },
): void {
  const { accountId, context, status, path, durationMs } = call;
  const { code, answer } = context;
  const failed = status >= 400 || (code !== null && code !== '00' && code !== '05');
  if (context.readsRequestLog && !failed) {
    return;
  }
  logRequest(accountId, failed, () => {
    const sent = getSentData(request);
    const { reason = null } = (answer ?? {}) as { reason?: string };
    return {
      accountId,
      method: request.method,
      path: redactPath(path),
      httpStatus: status,
      code,
      reason,
      failed,
      refId: findRefId(sent),
      durationMs: Math.round(durationMs),
      address: getClientAddress(request),
      requestId: context.requestId,
      request: redactBody(sent),
      // Words about a transaction may be a provider's; those of a refusal are ours.
      response: redactBody(
        answer,
        reason === null || reason === 'transaction_failed' ? [] : ['message', 'errors'],
      ),
    };
  });
}

/** The body, or the query of a call without one. Never a URL of Node: what a client sends as one need not be one. */
function getSentData(request: Request): object | null {
  const body = request.body as unknown;
  if (typeof body === 'object' && body !== null && Object.keys(body).length > 0) {
    return body;
  }
  const { originalUrl } = request;
  const start = originalUrl.indexOf('?');
  return start < 0 ? null : Object.fromEntries(new URLSearchParams(originalUrl.slice(start)));
}

/** Without what stands before it where the whole address was sent, and without what could be a key or a number of somebody. */
function redactPath(path: string): string {
  return redactText(path.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, ''));
}

function findRefId(sent: object | null): string | null {
  const refId = sent !== null && 'ref_id' in sent ? sent.ref_id : null;
  const isOne = typeof refId === 'string' && /^[A-Za-z0-9._:-]{1,64}$/.test(refId) && redact(refId) === refId;
  return isOne ? refId : null;
}
