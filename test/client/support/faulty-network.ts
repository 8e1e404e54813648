import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fate of a call. Every call except a `silent` one reaches the service. */
export type NetworkFault = 'answered' | 'lost' | 'silent' | keyof typeof answers;

const answers = {
  'proxy page': { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' },
  busy: {
    status: 503,
    type: 'application/json',
    body: '{"status":"error","code":"03","reason":"try_again","data":null}',
  },
  unauthorized: {
    status: 401,
    type: 'application/json',
    body: '{"status":"error","code":"07","reason":"invalid_key","message":"…","data":null,"request_id":"x"}',
  },
  'refusal as a success': {
    status: 200,
    type: 'application/json',
    body: '{"status":"error","code":"01","reason":"invalid_request","message":"…","data":null,"request_id":"x"}',
  },
  'success without data': { status: 200, type: 'application/json', body: '{"status":"success","code":"00"}' },
  'success of nothing': {
    status: 200,
    type: 'application/json',
    body: '{"status":"success","code":"00","data":null}',
  },
  "another's refusal": { status: 403, type: 'application/json', body: '{"status":403,"error":"Forbidden"}' },
  "another's error": {
    status: 408,
    type: 'application/json',
    body: '{"status":"error","message":"Request Timeout"}',
  },
  "another's busy": {
    status: 503,
    type: 'application/json',
    body: '{"status":"error","message":"upstream timed out"}',
  },
  "another's code": {
    status: 403,
    type: 'application/json',
    body: '{"status":"error","code":403,"reason":"blocked"}',
  },
  'reseller limit': {
    status: 200,
    type: 'application/json',
    body: '{"status":"06","reason":"rate_limited","message":"…"}',
  },
};

/**
 * Starts a proxy in front of the service. It applies the faults to successive calls and repeats the
 * last fault.
 *
 * `seen` contains the bodies. `onCall` gets the body and the request line (`GET /…`) of each call,
 * and is awaited before the call is forwarded.
 */
export async function startFaultyNetwork(
  serviceUrl: string,
  fates: NetworkFault[],
  onCall?: (body: string, line: string) => unknown,
) {
  const seen: string[] = [];
  let underWay = 0;
  const saw = async (sent: string, line: string) => {
    seen.push(sent);
    await onCall?.(sent, line);
  };
  const { server, url } = await listen((request, response) => {
    const fate = fates[Math.min(seen.length, fates.length - 1)] ?? 'answered';
    underWay += 1;
    void forward(fate === 'silent' ? null : serviceUrl, request, saw).then((answer) => {
      underWay -= 1;
      if (fate === 'lost' || fate === 'silent') {
        request.socket.destroy();
        return;
      }
      const { status, type, body } = fate === 'answered' ? answer : answers[fate];
      const file = fate === 'answered' && answer.attached;
      response.writeHead(status, {
        'content-type': type,
        'retry-after': '0',
        ...(file && { 'content-disposition': file }),
      });
      response.end(body);
    });
  });
  return { url, seen, isIdle: () => underWay === 0, close: () => server.close() };
}

export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; url: string }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function forward(
  serviceUrl: string | null,
  request: IncomingMessage,
  saw: (sent: string, line: string) => Promise<void>,
) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const sent = Buffer.concat(chunks).toString();
  await saw(sent, `${request.method ?? ''} ${request.url ?? ''}`);
  if (serviceUrl === null) {
    return { status: 500, type: 'text/plain', body: Buffer.alloc(0), attached: null };
  }
  const answer = await fetch(`${serviceUrl}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
    ...(sent !== '' && { body: sent }),
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const attached = answer.headers.get('content-disposition');
  return { status: answer.status, type: 'application/json', body, attached };
}
