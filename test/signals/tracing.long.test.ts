/** The trace of one purchase across several processes, as a collector receives it. */
import { expect } from 'chai';
import { extractCause, buildTracesUrl } from '../../src/signals/start-tracing.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import {
  linesOf,
  startOtlpReceiver,
  treeOf,
  type OtlpReceiver,
  type SpanTree,
} from '../support/otlp-receiver.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';

const isResult = ({ headers }: { headers: Record<string, unknown> }) =>
  headers['x-event'] === 'transaction.success';
const kinds = { internal: 1, server: 2, client: 3, consumer: 5 };

describe('trace of a purchase', function () {
  this.timeout(120_000);
  let stack: Stack;
  let collector: OtlpReceiver;
  let accounts: Record<string, SeededAccount>;
  let web: RunningProgram;
  let workers: RunningProgram[];
  const number = '081234567231';
  const refId = uniqueRef('traced');

  before(async () => {
    collector = await startOtlpReceiver();
    stack = await startStack({
      web: false,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
        OTEL_TRACES_SAMPLER_ARG: '1',
        LOG_LEVEL: 'info',
      },
    });
    accounts = await stack.seed();
    [web, ...workers] = await Promise.all([
      stack.startWeb(),
      stack.startWorker('fulfilment'),
      stack.startWorker('webhooks'),
    ]);
  });
  after(async () => {
    await stack.stop();
    await collector.stop();
  });

  it('contains call, postings, job, provider order and webhook, of three processes', async () => {
    const buyer = apiClient(web.url, accounts['buyer']?.api_key ?? '');
    await deposit(buyer, 100_000);
    const bought = await buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: number,
      ref_id: refId,
    });
    expect(bought.status, JSON.stringify(bought.body)).to.equal(200);
    const id = bought.body.data.transaction_id as string;
    await stack.inbox.waitFor(isResult);

    const trace = await eventually(
      'the spans of the call and of its webhook',
      () => {
        const call = collector.spans.find(({ name }) => name === 'call createBuyerTransaction');
        const hasWebhookSpan = collector.spans.some(
          ({ name, traceId }) => name === 'webhook transaction.success' && traceId === call?.traceId,
        );
        return call && hasWebhookSpan ? treeOf(collector.spans, call.traceId) : null;
      },
      30_000,
    );
    process.stdout.write(
      `${linesOf(trace)
        .map((line) => `      ${line}`)
        .join('\n')}\n`,
    );

    expect(trace, 'roots').to.have.length(1);
    const call = findOnlyTree(trace, 'call createBuyerTransaction');
    expect(call.span).to.include({ process: 'web', kind: kinds.server, failed: false });
    const requestId = call.span.attributes['topup.request_id'];
    expect(requestId).to.equal(bought.headers['x-request-id']);
    const inTrace = collector.spans.filter(({ traceId }) => traceId === call.span.traceId);
    inTrace.forEach(({ name, attributes }) => {
      expect(attributes['topup.request_id'], name).to.equal(requestId);
    });
    expect(call.span.attributes).to.include({ 'http.response.status_code': 200, 'topup.code': '00' });
    const stored = await stack.db
      .collection<{ _id: string; traceId?: string }>('transactions')
      .findOne({ _id: id });
    expect(stored?.traceId, 'trace id of the stored purchase').to.equal(call.span.traceId);
    const debit = findOnlyTree(call.parts, 'posting purchase');
    expect(debit.span.attributes).to.include({ 'topup.subject_id': id, 'topup.outcome': 'posted' });
    const job = findOnlyTree(call.parts, 'job fulfil-purchase');
    expect(job.span).to.include({ process: 'fulfilment', kind: kinds.consumer });
    expect(job.span.attributes['topup.outcome']).to.equal('done');
    const steps = job.parts.filter(({ span }) => span.process === 'fulfilment').map(({ span }) => span.name);
    expect(steps, 'claim, call, conclusion').to.deep.equal([
      'posting claim',
      'provider call',
      'posting success',
    ]);
    expect(findOnlyTree(job.parts, 'provider call').span.attributes).to.include({
      'http.response.status_code': 200,
    });
    const webhook = findOnlyTree(job.parts, 'webhook transaction.success');
    expect(webhook.span).to.include({ process: 'webhooks', kind: kinds.client, failed: false });
    expect(webhook.span.attributes).to.include({ 'topup.outcome': 'delivered', 'topup.attempt': 1 });
  });

  it('is sent with the webhook and is in the log lines', async () => {
    const { traceId } = collector.spans.find(({ name }) => name === 'call createBuyerTransaction') ?? {};
    const message = await stack.inbox.waitFor(isResult);
    expect(message.headers['traceparent']).to.match(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    const { requestId } = JSON.parse(
      web
        .output()
        .split('\n')
        .find((each) => each.includes(`"traceId":"${traceId}"`)) ?? '{}',
    ) as { requestId?: string };
    expect(requestId).to.be.a('string');
    for (const [program, line] of [
      [web, '"message":"request"'],
      [workers[1], '"message":"webhook attempt"'],
    ] as const) {
      const found = program
        ?.output()
        .split('\n')
        .filter((each) => each.includes(`"traceId":"${traceId}"`));
      expect(
        found?.every((each) => each.includes(`"requestId":"${requestId}"`)),
        line,
      ).to.equal(true);
      expect(
        found?.filter((each) => each.includes(line)),
        line,
      ).to.have.length.of.at.least(1);
    }
  });

  it('contains no key, secret, customer number, client reference or address', () => {
    const exported = collector.bodies.join('\n');
    const hidden = [
      ...Object.values(accounts).flatMap(({ api_key, webhook_secret }) => [api_key, webhook_secret]),
      number,
      number.slice(1),
      refId,
      stack.simulator.secret,
      stack.simulator.url,
      stack.inbox.url,
    ];
    hidden
      .filter((each) => each !== '')
      .forEach((each) => {
        expect(exported).not.to.include(each);
      });
  });

  it("does not continue a client's trace", async () => {
    const theirs = '0af7651916cd43dd8448eb211c80319c';
    await fetch(`${web.url}/v1/wallet/balance`, {
      headers: {
        authorization: `Bearer ${accounts['buyer']?.api_key ?? ''}`,
        traceparent: `00-${theirs}-b7ad6b7169203331-01`,
      },
    });
    await eventually('its span', () => collector.spans.some(({ name }) => name === 'call getWalletBalance'));
    expect(collector.spans.some(({ traceId }) => traceId === theirs)).to.equal(false);
  });

  it('is not recorded for a call that was not sampled', async () => {
    const quiet = await stack.startWeb({ OTEL_TRACES_SAMPLER_ARG: '0' });
    const at = collector.bodies.length;
    const buyer = apiClient(quiet.url, accounts['buyer']?.api_key ?? '');
    await buyer.post('/api/buyer/transaction', { code: 'S10', customer_number: number, ref_id: uniqueRef() });
    expect(await quiet.stop()).to.equal(0);
    const exported = collector.bodies.slice(at).join('\n');
    expect(exported).not.to.include('createBuyerTransaction');
  });
});

describe('an unreachable collector', () => {
  let stack: Stack;

  before(async () => {
    const nobody = await startOtlpReceiver();
    await nobody.stop();
    stack = await startStack({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: nobody.url, OTEL_TRACES_SAMPLER_ARG: '1', PORT: '0' },
      web: false,
    });
  });
  after(() => stack.stop());

  it('does not affect calls, is logged once, and the process stops in order', async () => {
    const web = await stack.startWeb();
    const countMessages = () => web.output().split('traces could not be sent').length - 1;
    const why = /"code":"ECONNREFUSED".*traces could not be sent/;
    await eventually('the outage is logged', async () => {
      await apiClient(web.url, 'nobody').get('/v1/wallet/balance');
      return countMessages() > 0;
    });
    expect(await web.stop()).to.equal(0);
    expect(countMessages()).to.equal(1);
    expect(web.output()).to.match(why);
  });
});

describe('trace exporter', () => {
  it('logs only the code of an error, without address, header or response', () => {
    const refused = {
      stack: 'E: http://user:secret@host/',
      message: 'secret',
      code: '401',
      data: '{"code":"SECRET_X"}',
    };
    expect(extractCause(JSON.stringify(refused))).to.equal('401');
    expect(extractCause(JSON.stringify({ data: refused.data, name: 'OTLPExporterError' }))).to.equal('OTLP');
    expect(extractCause('{"message":"Export failed with retryable status"}')).to.equal(
      '429, 502, 503 or 504',
    );
  });

  it('sends to /v1/traces once, however the address ends', () => {
    for (const end of ['', '/', '/v1/traces', '/v1/traces/']) {
      expect(buildTracesUrl(`http://host:4318${end}`)).to.equal('http://host:4318/v1/traces');
    }
    expect(buildTracesUrl('https://host/otlp/')).to.equal('https://host/otlp/v1/traces');
  });
});

describe('OpenTelemetry SDK', () => {
  it('is required by the web and worker bundles and not contained in them', async () => {
    const { readFile } = await import('node:fs/promises');
    for (const program of ['src/server', 'workers/run']) {
      const text = await readFile(`dist/${program}.bundle.cjs`, 'utf8');
      expect(text, program).not.to.match(/class (BatchSpanProcessor|OTLPTraceExporter|TracerProvider)\b/);
      expect(text, program).to.include('require("@opentelemetry/sdk-trace")');
    }
  });
});

function findOnlyTree(trees: SpanTree[], name: string): SpanTree {
  const found = trees.filter(({ span }) => span.name === name);
  expect(found, name).to.have.length(1);
  return found[0] as SpanTree;
}
