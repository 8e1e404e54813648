import { counter, histogram } from '../../shared/metrics.js';
import type { Request, RequestHandler, Response } from 'express';
import { MaintenanceError } from '../../shared/errors.js';
import type { Language } from '../../shared/messages.js';
import { newId } from '../../shared/ids.js';
import { refIdPattern } from '../../shared/input-rules.js';
import { logger, redact } from '../../shared/logger.js';
import { logRequest } from '../../request-log/log-request.js';
import { redactBody, redactText } from '../../request-log/redact-body.js';
import { openSpan } from '../../shared/tracing.js';
import { getClientAddress } from './read-request.js';

const calls = counter({
  name: 'topup_http_requests_total',
  help: 'Completed calls, by operation, HTTP status and response code',
  labels: ['operation', 'status', 'code'],
});

const durations = histogram({
  name: 'topup_http_request_duration_seconds',
  help: 'Time from the start of a call to the end of its response',
  labels: ['operation'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const judged = counter({
  name: 'topup_http_judged_total',
  help: 'Calls that count for the service level: calls of accounts, and failed calls; not calls without a valid key',
  labels: ['operation'],
});

const failures = counter({
  name: 'topup_http_failures_total',
  help: 'Calls of topup_http_judged_total that failed because of this service or a database; not a product under maintenance',
  labels: ['operation'],
});

/**
 * Counts a call in the metrics.
 * @param call.operation Null for the console, the documentation and unknown paths.
 */
export function countCall(call: {
  operation: string | null;
  /** True if the caller's credentials are missing or wrong. */
  isStranger: boolean;
  status: number;
  code: string | null;
  durationMs: number;
  /** True if the failure is our fault. */
  failed: boolean;
}): void {
  const operation = call.operation ?? 'other';
  calls({ operation, status: String(call.status), code: call.code ?? '' });
  durations({ operation }, call.durationMs / 1_000);
  judged({ operation }, call.operation !== null && (call.failed || !call.isStranger) ? 1 : 0);
  // Adds 0 after a success, so that both series of a failure ratio exist.
  failures({ operation }, call.failed ? 1 : 0);
}

export interface RequestContext {
  requestId: string;
  accountId: string | null;
  /** Id of the operation. Null until it is known. */
  operation: string | null;
  /** Code of the response, for the log. */
  code: string | null;
  /** True for a failure of ours that the HTTP status does not show (decision 025). */
  failed: boolean;
  /** Language of messages. Null if Accept-Language decides. */
  language: Language | null;
  /** The error behind a failure, for the log only. */
  error: unknown;
  /** Response body for the account's request log. Null for a file or a long list. */
  answer: object | null;
  readsRequestLog: boolean;
}

export function getRequestContext(response: Response): RequestContext {
  return response.locals['context'] as RequestContext;
}

/** Paths that monitoring polls every few seconds. Their requests are not traced. */
const probes = ['/healthz', '/readyz'];

const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;

/**
 * The id is written to responses, logs, jobs and traces, so a value that looks like a key is
 * refused.
 */
function isUsableRequestId(id: string | undefined): id is string {
  return id !== undefined && requestIdPattern.test(id) && redact(id) === id;
}

/**
 * Assigns each request an id (the caller's x-request-id if it is usable) and logs one line when it
 * ends.
 */
export const requestContext: RequestHandler = (request, response, next) => {
  const receivedId = request.get('x-request-id');
  const context: RequestContext = {
    requestId: isUsableRequestId(receivedId) ? receivedId : newId(),
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
  // Without the query, which carries signatures on the reseller surface.
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
    const durationMs = Number((process.hrtime.bigint() - startedAt) / 1_000n) / 1_000;
    // A product under maintenance is not a failure of ours.
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

/** Maximum number of decoding rounds. */
const decodedMax = 5;

/**
 * Returns the decoded path if it holds a secret, so that it is masked; otherwise the path as sent.
 * A key with a letter written as %6B is still a key.
 */
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
    // The path is decoded as far as possible.
  }
  return redact(path) === path ? sent : path;
}

/**
 * Writes the call to the account's request log. On the reseller surface, only the response code
 * shows a failure. Elsewhere the HTTP status shows it too.
 */
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
      // A message about a transaction may come from a provider. Messages of refusals are our own.
      response: redactBody(
        answer,
        reason === null || reason === 'transaction_failed' ? [] : ['message', 'errors'],
      ),
    };
  });
}

/**
 * Returns the body, or the query if the call has no body. The request target may be an invalid URL,
 * so Node's URL class is not used.
 */
function getSentData(request: Request): object | null {
  const body = request.body as unknown;
  if (typeof body === 'object' && body !== null && Object.keys(body).length > 0) {
    return body;
  }
  const { originalUrl } = request;
  const start = originalUrl.indexOf('?');
  return start < 0 ? null : Object.fromEntries(new URLSearchParams(originalUrl.slice(start)));
}

/** Removes the scheme and host of an absolute target, and masks keys and customer numbers. */
function redactPath(path: string): string {
  return redactText(path.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, ''));
}

function findRefId(sent: object | null): string | null {
  const refId = sent !== null && 'ref_id' in sent ? sent.ref_id : null;
  const isOne = typeof refId === 'string' && refIdPattern.test(refId) && redact(refId) === refId;
  return isOne ? refId : null;
}
