/**
 * What happened on the way of one call, over processes (decision 055). Each room says what it does as a span; where
 * OTEL_EXPORTER_OTLP_ENDPOINT is not set nobody listens, and a span is a call of its work and nothing else.
 *
 * A trace begins with a client's call alone. Attributes are ids of ours and small sets of words: never a customer number, a
 * key, a URL or the message of an error, because a collector is outside of what protects the database.
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
  /** `server` begins a trace, if chance picks it; any other is a part of one. */
  kind: 'server' | 'consumer' | 'client' | 'internal';
  attributes?: Attributes;
  /** Of a `server` span: it goes with the trace, through jobs and deliveries. */
  requestId?: string;
  /** What `carriedTrace` said elsewhere. Absent: it is a part of what runs now. Null: there was none. */
  under?: string | null;
}

export interface Span {
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** @param reason A code, or the name of a class. */
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
  /** Of the call that it began with. */
  requestId: string | null;
}

export interface Tracer {
  /** Null: it is in no trace. */
  open(spec: SpanSpec): OpenSpan | null;
  now(): TraceNow | null;
}

let tracer: Tracer | null = null;

/** From now on; null: nobody listens any more. */
export function setTracer(used: Tracer | null): void {
  tracer = used;
}

const noopSpan: Span = { rename: () => undefined, note: () => undefined, fail: () => undefined };

/** Does the work as a span of the trace that runs now, if one does. */
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

/** For what ends elsewhere than it begins. Null: it is in no trace. */
export function openSpan(spec: SpanSpec): OpenSpan | null {
  return tracer === null ? null : tracer.open(spec);
}

/** For who is called, in the form of W3C; undefined where there is none. */
export function getTraceparent(): string | undefined {
  return tracer?.now()?.traceparent;
}

/**
 * To go on with the trace in another process of ours: traceparent, and the request's id where there is one.
 * @param requestId Of what it is about: it goes on alone where there is no trace.
 */
export function serializeTrace(requestId?: string): string | undefined {
  const now = tracer?.now();
  if (!now) {
    return requestId === undefined ? undefined : `;${requestId}`;
  }
  const id = now.requestId ?? requestId;
  return [now.traceparent, ...(id === undefined ? [] : [id])].join(';');
}

/** The request's id in what `carriedTrace` said. */
export function parseRequestId(carried: string | undefined): string | undefined {
  return carried?.split(';')[1];
}

/** For log lines. */
export function getCurrentTrace(): TraceNow | null {
  return tracer?.now() ?? null;
}
