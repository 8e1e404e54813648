/**
 * Traces of calls across processes (decision 055). Each module reports its work as spans. Without
 * OTEL_EXPORTER_OTLP_ENDPOINT a span only runs its work.
 *
 * Only a client's call begins a trace. Attributes are our own ids and small sets of words, never a
 * customer number, a key, a URL or an error message. A collector lacks the protection of the
 * database.
 */
export type Attribute =
  | 'topup.request_id'
  | 'http.request.method'
  | 'http.response.status_code'
  | 'topup.code'
  | 'topup.job'
  | 'topup.queue'
  | 'topup.waited_ms'
  | 'topup.outcome'
  | 'topup.posting'
  | 'topup.subject_id'
  | 'topup.seller_id'
  | 'topup.receiver_id'
  | 'topup.delivery_id'
  | 'topup.attempt';

export type Attributes = Partial<Record<Attribute, string | number>>;

export interface SpanSpec {
  name: string;
  /**
   * `server` begins a trace if the call is sampled. Any other kind belongs to an existing trace.
   */
  kind: 'server' | 'consumer' | 'client' | 'internal';
  attributes?: Attributes;
  /** Request id of a `server` span. It is passed on with the trace through jobs and deliveries. */
  requestId?: string;
  /**
   * Result of `serializeTrace` in another process. If absent, the span belongs to the current
   * trace. Null if there was no trace.
   */
  under?: string | null;
}

export interface Span {
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** @param reason A code, or the name of an error class. */
  fail(reason: string): void;
}

export interface OpenSpan extends Span {
  traceId: string;
  inside<T>(work: () => T): T;
  end(): void;
}

export interface TraceNow {
  traceId: string;
  traceparent: string;
  /** Request id of the call that began the trace. */
  requestId: string | null;
}

export interface Tracer {
  /** Returns null if the span belongs to no trace. */
  open(spec: SpanSpec): OpenSpan | null;
  now(): TraceNow | null;
}

let tracer: Tracer | null = null;

/** Sets the tracer. Null turns tracing off. */
export function setTracer(used: Tracer | null): void {
  tracer = used;
}

const noopSpan: Span = { rename: () => undefined, note: () => undefined, fail: () => undefined };

/** Runs work as a span of the current trace, if there is one. */
export async function runInSpan<T>(spec: SpanSpec, work: (span: Span) => Promise<T>): Promise<T> {
  const span = openSpan(spec);
  if (!span) {
    return work(noopSpan);
  }
  try {
    return await span.inside(() => work(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'Error');
    throw error;
  } finally {
    span.end();
  }
}

/** Opens a span that the caller must end. Returns null if the span belongs to no trace. */
export function openSpan(spec: SpanSpec): OpenSpan | null {
  return tracer === null ? null : tracer.open(spec);
}

/** Returns the W3C traceparent for outgoing calls. Undefined if there is no trace. */
export function getTraceparent(): string | undefined {
  return tracer?.now()?.traceparent;
}

/**
 * Returns the traceparent and the request id, to continue the trace in another process of this
 * service.
 * @param requestId Used if the trace has no request id. Returned alone if there is no trace.
 */
export function serializeTrace(requestId?: string): string | undefined {
  const now = tracer?.now();
  if (!now) {
    return requestId === undefined ? undefined : `;${requestId}`;
  }
  const id = now.requestId ?? requestId;
  return [now.traceparent, ...(id === undefined ? [] : [id])].join(';');
}

/** Returns the request id in a result of `serializeTrace`. */
export function parseRequestId(carried: string | undefined): string | undefined {
  return carried?.split(';')[1];
}

/** Returns the current trace, for log lines. */
export function getCurrentTrace(): TraceNow | null {
  return tracer?.now() ?? null;
}
