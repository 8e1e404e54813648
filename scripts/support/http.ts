/** HTTP helpers of the simulator and the inbox, on plain node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A client error. The response has its status and message. */
export class HttpMistake extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'HttpMistake';
  }
}

/** @throws HttpMistake 400 if the request target is invalid. */
export function parseUrl(request: IncomingMessage): URL {
  const target = request.url ?? '/';
  // A path such as `//x` would otherwise parse as a host name.
  const address = `http://localhost${target.startsWith('/') ? target : '/'}`;
  if (!URL.canParse(address)) {
    throw new HttpMistake(400, 'the address is not valid');
  }
  return new URL(address);
}

/** @throws HttpMistake 413 if the body exceeds `bytesMax`. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) {
      throw new HttpMistake(413, `the body is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws HttpMistake 400 if the body is not JSON. */
export async function readJson(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const text = (await readBody(request, bytesMax)).toString('utf8');
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    throw new HttpMistake(400, 'the body is not JSON');
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, { status, type: 'application/json', body: JSON.stringify(body) });
}

export function sendPage(response: ServerResponse, html: string): void {
  // Allows only the page's own inline style and script.
  response.setHeader(
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
  );
  send(response, { status: 200, type: 'text/html; charset=utf-8', body: html });
}

export function send(
  response: ServerResponse,
  { status, type, body }: { status: number; type: string; body: string },
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

/** Sends the response for an error that a handler did not catch. */
export function sendMistake(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = error instanceof HttpMistake ? error.status : 500;
  if (status === 500) {
    console.error(error);
  }
  // Closes the connection instead of reading the rest of the body.
  response.setHeader('connection', 'close');
  sendJson(response, status, { error: error instanceof HttpMistake ? error.message : 'unexpected error' });
}
