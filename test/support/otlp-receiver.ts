/** A trace collector (OTLP over HTTP with JSON) that keeps the received spans. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  process: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  /** The span kind as an OTLP number: 1 internal, 2 server, 3 client, 5 consumer. */
  kind: number;
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number>;
  failed: boolean;
}

export interface OtlpReceiver {
  url: string;
  spans: ReceivedSpan[];
  /** The bodies of all requests. */
  bodies: string[];
  stop(): Promise<void>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number };
}

interface Body {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: Attribute[];
        status: { code: number };
      }[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      if (request.url === '/v1/traces') {
        bodies.push(text);
        spans.push(...spansOf(JSON.parse(text) as Body));
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansOf({ resourceSpans }: Body): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        process: String(valuesOf(resource.attributes)['topup.process']),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId === undefined || span.parentSpanId === '' ? null : span.parentSpanId,
        name: span.name,
        kind: span.kind,
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        failed: span.status.code === 2,
      })),
  );
}

function valuesOf(attributes: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.doubleValue ?? NaN,
    ]),
  );
}

export interface SpanTree {
  span: ReceivedSpan;
  parts: SpanTree[];
}

/** Returns the spans of a trace as a tree, ordered by start time. */
export function treeOf(spans: ReceivedSpan[], traceId: string): SpanTree[] {
  const mine = spans.filter((span) => span.traceId === traceId);
  const below = (parent: string | null): SpanTree[] =>
    mine
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .sort((a, b) => Number(a.startNs - b.startNs))
      .map((span) => ({ span, parts: below(span.spanId) }));
  return below(null);
}

/** Returns one line for each span, with name, process, duration and attributes. */
export function linesOf(trees: SpanTree[], depth = 0): string[] {
  return trees.flatMap(({ span, parts }) => {
    const ms = Number((span.endNs - span.startNs) / 10_000n) / 100;
    const attributes = Object.entries(span.attributes).map(
      ([key, value]) => `${key.replace('topup.', '')}=${value}`,
    );
    return [
      `${'  '.repeat(depth)}${span.name} [${span.process}] ${ms} ms ${attributes.join(' ')}`,
      ...linesOf(parts, depth + 1),
    ];
  });
}
