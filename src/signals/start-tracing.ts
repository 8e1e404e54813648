import type * as Api from '@opentelemetry/api';
import { env } from '../../config/env.js';
import { getStorableRequestId } from '../shared/ids.js';
import { logOncePerMinute } from '../shared/logger.js';
import { setTracer, type OpenSpan, type SpanSpec, type Tracer } from '../shared/tracing.js';

/** Length of a slice in milliseconds. */
const sliceMs = 500;

/**
 * Samples a share of time in slices of half a second, one at a random place in each period. A
 * moment that does not depend on the slices falls into one with probability `share`. A share of 1
 * always samples, and 0 never does.
 * @returns A function that returns whether a moment of a monotonic clock, in milliseconds, is in a
 * slice.
 */
export function createTimeSlices(
  share: number,
  random: () => number = Math.random,
): (atMs: number) => boolean {
  if (share <= 0 || share >= 1) {
    return () => share >= 1;
  }
  const periodMs = sliceMs / share;
  let period = -1;
  let fromMs = 0;
  return (atMs) => {
    const now = Math.floor(atMs / periodMs);
    if (now !== period) {
      period = now;
      fromMs = now * periodMs + random() * (periodMs - sliceMs);
    }
    return atMs >= fromMs && atMs < fromMs + sliceMs;
  };
}

/**
 * Maximum number of spans that wait to be sent. Further spans are dropped, so calls never wait for
 * the collector.
 */
const waitingMax = 4_096;
const sendTimeoutMs = 5_000;
const sendEveryMs = 2_000;
/**
 * Wait after the last open span ends, in milliseconds. Work that follows, such as adding a job, may
 * still belong to its trace.
 */
const lingerMs = 100;

/**
 * Starts sending spans to OTEL_EXPORTER_OTLP_ENDPOINT (decision 055). Call this before the process
 * connects to anything. Without the setting, nothing of the OpenTelemetry SDK is imported, because
 * it is not bundled.
 * @param type Type with which this process was started: `web`, `fulfilment` …
 */
export async function startTracing(type: string): Promise<{ stop(): Promise<void> }> {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === null) {
    return { stop: () => Promise.resolve() };
  }
  const [api, sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
    ]);
  api.diag.setLogger(createExporterLogger(api), {
    logLevel: api.DiagLogLevel.ERROR,
    suppressOverrideMessage: true,
  });
  const exporter = new OTLPTraceExporter({ url: buildTracesUrl(endpoint), timeoutMillis: sendTimeoutMs });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'topup', 'topup.process': type }),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: waitingMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendTimeoutMs,
      }),
    ],
  });
  const contexts = new AsyncLocalStorageContextManager();
  api.context.setGlobalContextManager(contexts.enable());
  const isTaken = createTimeSlices(env.OTEL_TRACES_SAMPLER_ARG);
  setTracer(
    createTracer({
      api,
      otel: provider.getTracer('topup'),
      takesCall: () => isTaken(performance.now()),
      // While enabled, a context manager slows down every promise of a Node process.
      onQuiet: () => contexts.disable(),
    }),
  );
  return {
    async stop() {
      setTracer(null);
      await provider.shutdown();
    },
  };
}

type Otel = typeof Api;

const requestKey = Symbol('request');

const ignoreSetting = (): void => undefined;

/**
 * Returns the URL to which traces are sent.
 * @param endpoint URL of the collector, with or without the path for traces.
 */
export function buildTracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, '').replace(/\/v1\/traces$/, '')}/v1/traces`;
}

/**
 * Logs outside any trace, because the trace whose end triggered the export is unrelated to the
 * error.
 */
function createExporterLogger(api: Otel) {
  const error = (message: string): void => {
    api.context.with(api.ROOT_CONTEXT, () => {
      logOncePerMinute('traces could not be sent', extractCause(message));
    });
  };
  return { error, warn: ignoreSetting, info: ignoreSetting, debug: ignoreSetting, verbose: ignoreSetting };
}

/**
 * Returns the collector's status or the socket's error code, and nothing else. Exporter messages
 * can contain the address and the data sent or received.
 * @param message An error of the exporter as JSON, or a sentence.
 */
export function extractCause(message: string): string {
  const code = /"code":"(\d{3}|[A-Z][A-Z0-9_]{2,39})"/.exec(message)?.[1];
  if (code !== undefined) {
    return code;
  }
  return message.includes('retryable status') ? '429, 502, 503 or 504' : 'OTLP';
}

interface TracerParts {
  api: Otel;
  otel: ReturnType<Otel['trace']['getTracer']>;
  /** True if a call that begins now starts a trace. */
  takesCall: () => boolean;
  /** Called when the last open span ends. */
  onQuiet: () => void;
}

function createTracer({ api, otel, takesCall, onQuiet }: TracerParts): Tracer {
  let open = 0;
  let quiet: NodeJS.Timeout | undefined;
  const onOpen = () => {
    open += 1;
    clearTimeout(quiet);
  };
  const onEnd = () => {
    open -= 1;
    if (open === 0) {
      quiet = setTimeout(onQuiet, lingerMs).unref();
    }
  };
  const kinds = {
    server: api.SpanKind.SERVER,
    consumer: api.SpanKind.CONSUMER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };
  const parentOf = ({ kind, under }: SpanSpec): Api.Context | null => {
    if (kind === 'server') {
      // Trace headers of clients are ignored. Otherwise a client could cause all its calls to be
      // recorded.
      return takesCall() ? api.ROOT_CONTEXT : null;
    }
    const context = under === undefined ? api.context.active() : parseContext(api, under);
    return context && api.trace.getSpanContext(context) ? context : null;
  };
  return {
    open(spec) {
      const parent = parentOf(spec);
      if (!parent) {
        return null;
      }
      const { name, kind, requestId, attributes = {} } = spec;
      const storableId = getStorableRequestId(requestId);
      const context = storableId === undefined ? parent : parent.setValue(requestKey, storableId);
      const request = getRequestId(context);
      const ofRequest = request === null ? {} : { 'topup.request_id': request };
      const span = otel.startSpan(
        name,
        { kind: kinds[kind], attributes: { ...attributes, ...ofRequest } },
        context,
      );
      onOpen();
      return wrapSpan(api, { span, onEnd }, context);
    },
    now() {
      const context = api.context.active();
      const here = api.trace.getSpanContext(context);
      return here
        ? {
            traceId: here.traceId,
            requestId: getRequestId(context),
            traceparent: `00-${here.traceId}-${here.spanId}-01`,
          }
        : null;
    },
  };
}

function wrapSpan(
  api: Otel,
  { span, onEnd }: { span: Api.Span; onEnd: () => void },
  parent: Api.Context,
): OpenSpan {
  const context = api.trace.setSpan(parent, span);
  return {
    traceId: span.spanContext().traceId,
    inside: (work) => api.context.with(context, work),
    rename: (name) => span.updateName(name),
    note: (attributes) => span.setAttributes(attributes),
    fail: (reason) => span.setStatus({ code: api.SpanStatusCode.ERROR, message: reason }),
    end: () => {
      span.end();
      onEnd();
    },
  };
}

const traceContextPattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01(?:;([A-Za-z0-9._-]{8,64}))?$/;

function getRequestId(context: Api.Context): string | null {
  return (context.getValue(requestKey) as string | undefined) ?? null;
}

function parseContext(api: Otel, carried: string | null): Api.Context | null {
  const [, traceId, spanId, requestId] = traceContextPattern.exec(carried ?? '') ?? [];
  return traceId !== undefined && spanId !== undefined
    ? api.trace.setSpanContext(api.ROOT_CONTEXT.setValue(requestKey, requestId), {
        traceId,
        spanId,
        isRemote: true,
        traceFlags: api.TraceFlags.SAMPLED,
      })
    : null;
}
