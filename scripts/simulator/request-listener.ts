/** HTTP interface of the simulator: provider calls, control and logs. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createHeldResponses, type HeldResponses } from '../support/held-responses.js';
import { parseUrl, readJson, send, sendJson, sendMistake, sendPage } from '../support/http.js';
import { helpPage } from './help-page.js';
import type { Execution, OrderBook } from './order-book.js';
import { callNames, createProviderCalls, type CallName, type ProviderCallParts } from './provider-calls.js';
import type { Reply } from './reply.js';
import type { SettingsHolder } from './settings.js';

const controlBytesMax = 100_000;
const rowsPerChunk = 1_000;

export interface SimulatorListener {
  handle: RequestListener;
  /** Closes the connections on which no response is sent. */
  endSilences: () => void;
}

export function createRequestListener(parts: ProviderCallParts & { book: OrderBook }): SimulatorListener {
  const callProvider = createProviderCalls(parts);
  const heldResponses = createHeldResponses();

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = parseUrl(request);
    const name = callNameOf(url.pathname);
    if (name === null) {
      await handleControl(request, response, { url, ...parts });
    } else if (request.method === 'GET') {
      const { reply, delayMs } = callProvider(name, url.searchParams);
      runAfter(delayMs, () => sendReply(reply, response, heldResponses));
    } else {
      notAllowed(response, 'GET');
    }
  };

  return {
    handle: (request, response) => {
      route(request, response).catch((error: unknown) => sendMistake(response, error));
    },
    endSilences: () => heldResponses.endAll(),
  };
}

/**
 * Accepts `/request` and `/api/reseller/request`, so that simulator and service have the same
 * paths.
 */
function callNameOf(pathname: string): CallName | null {
  const path = pathname.replace(/^\/api\/reseller(?=\/)/, '');
  return callNames.find((name) => path === `/${name}`) ?? null;
}

function runAfter(delayMs: number, action: () => void): void {
  if (delayMs === 0) {
    action();
  } else {
    setTimeout(action, delayMs);
  }
}

function sendReply(reply: Reply, response: ServerResponse, heldResponses: HeldResponses): void {
  switch (reply.kind) {
    case 'answer':
      sendJson(response, 200, reply.body);
      return;
    case 'unavailable':
      // Not JSON, because this is the response of a provider's proxy while its backend is down.
      send(response, { status: 503, type: 'text/plain', body: 'Service Unavailable' });
      return;
    case 'cut':
      response.destroy();
      return;
    case 'silence':
      heldResponses.hold(response);
  }
}

interface ControlContext {
  url: URL;
  book: OrderBook;
  settings: SettingsHolder;
}

async function handleControl(
  request: IncomingMessage,
  response: ServerResponse,
  { url, book, settings }: ControlContext,
): Promise<void> {
  switch (`${request.method ?? ''} ${url.pathname}`) {
    case 'GET /':
      sendPage(response, helpPage);
      return;
    case 'GET /healthz':
      sendJson(response, 200, { status: 'ok' });
      return;
    case 'GET /log':
      await sendLog(response, book.executions(), url.searchParams);
      return;
    case 'POST /control':
      settings.change(await readJson(request, controlBytesMax));
      sendJson(response, 200, settings.show());
      return;
    case 'DELETE /control':
      settings.reset();
      sendJson(response, 200, settings.show());
      return;
    case 'GET /control':
      sendJson(response, 200, settings.show());
      return;
    default:
      refuse(response, url.pathname);
  }
}

function refuse(response: ServerResponse, pathname: string): void {
  if (['/', '/healthz', '/log'].includes(pathname)) {
    notAllowed(response, 'GET');
  } else if (pathname === '/control') {
    notAllowed(response, 'GET, POST, DELETE');
  } else {
    sendJson(response, 404, { error: 'not found; GET / lists the paths' });
  }
}

function notAllowed(response: ServerResponse, allow: string): void {
  response.setHeader('allow', allow);
  sendJson(response, 405, { error: `only ${allow} is allowed` });
}

/** Streams the log, because it can exceed the maximum length of a string. */
async function sendLog(
  response: ServerResponse,
  executions: readonly Execution[],
  filter: URLSearchParams,
): Promise<void> {
  const provider = filter.get('provider');
  const refId = filter.get('ref_id');
  const since = filter.get('since') ?? '';
  const until = filter.get('until') ?? '9999';
  const rows = executions.filter(
    (row) =>
      (provider === null || row.provider === provider) &&
      (refId === null || row.ref_id === refId) &&
      row.at >= since &&
      row.at < until,
  );
  function* streamRows(): Generator<string> {
    yield '[';
    for (let from = 0; from < rows.length; from += rowsPerChunk) {
      const piece = rows.slice(from, from + rowsPerChunk).map((row) => JSON.stringify(row));
      yield `${from === 0 ? '' : ','}${piece.join(',\n')}`;
    }
    yield ']\n';
  }
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  await pipeline(Readable.from(streamRows()), response);
}
