/**
 * Sends spans to OTEL_EXPORTER_OTLP_ENDPOINT (decision 109). The SDK of OpenTelemetry is not in our bundles: without the
 * setting none of their files is read.
 */
import type * as Api from '@opentelemetry/api';
import { env } from '../../config/env.js';
import { sayOnceAMinute } from '../shared/say-once-a-minute.js';
import { useTracer, type OpenSpan, type SpanSpec, type Tracer } from '../shared/tracing.js';

/** Spans that wait to be sent; what comes beyond is dropped, and no call waits for a collector. */
const waitingMax = 4_096;
const sendTimeoutMs = 5_000;
const sendEveryMs = 2_000;

/** Call it before anything connects. @param type What this process was started as: `web`, `fulfilment` … */
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
  api.diag.setLogger(complaints, { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true });
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: sendTimeoutMs });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'topup', 'topup.process': type }),
    sampler: new sdk.TraceIdRatioBasedSampler(env.OTEL_TRACES_SAMPLER_ARG),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: waitingMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendTimeoutMs,
      }),
    ],
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  useTracer(tracerWith(api, provider.getTracer('topup')));
  return {
    async stop() {
      useTracer(null);
      await provider.shutdown();
    },
  };
}

type Otel = typeof Api;

const complaint = (): void => {
  // What the exporter says can hold the address, and what was sent.
  sayOnceAMinute('traces could not be sent', 'OTLP');
};
const quiet = (): void => undefined;
const complaints = { error: complaint, warn: quiet, info: quiet, debug: quiet, verbose: quiet };

function tracerWith(api: Otel, otel: ReturnType<Otel['trace']['getTracer']>): Tracer {
  const kinds = {
    server: api.SpanKind.SERVER,
    consumer: api.SpanKind.CONSUMER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };
  const parentOf = ({ kind, under }: SpanSpec): Api.Context | null => {
    if (kind === 'server') {
      // Never what a client says about it: anybody could have all of its calls recorded.
      return api.ROOT_CONTEXT;
    }
    const context = under === undefined ? api.context.active() : contextOf(api, under);
    return context && api.trace.getSpanContext(context) ? context : null;
  };
  return {
    open(spec) {
      const parent = parentOf(spec);
      if (!parent) {
        return null;
      }
      const { name, kind, attributes = {} } = spec;
      const span = otel.startSpan(name, { kind: kinds[kind], attributes }, parent);
      return span.isRecording() ? opened(api, span, parent) : null;
    },
    now() {
      const here = api.trace.getSpanContext(api.context.active());
      return here ? { traceId: here.traceId, traceparent: `00-${here.traceId}-${here.spanId}-01` } : null;
    },
  };
}

function opened(api: Otel, span: Api.Span, parent: Api.Context): OpenSpan {
  const context = api.trace.setSpan(parent, span);
  return {
    traceId: span.spanContext().traceId,
    inside: (work) => api.context.with(context, work),
    rename: (name) => span.updateName(name),
    note: (attributes) => span.setAttributes(attributes),
    fail: (reason) => span.setStatus({ code: api.SpanStatusCode.ERROR, message: reason }),
    end: () => {
      span.end();
    },
  };
}

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

function contextOf(api: Otel, traceparent: string | null): Api.Context | null {
  const [, traceId, spanId] = form.exec(traceparent ?? '') ?? [];
  return traceId !== undefined && spanId !== undefined
    ? api.trace.setSpanContext(api.ROOT_CONTEXT, {
        ...{ traceId, spanId, isRemote: true },
        traceFlags: api.TraceFlags.SAMPLED,
      })
    : null;
}
