/**
 * HTTP interface of the inbox. A POST to any path except /control is a delivery. Other calls read
 * messages or change settings.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createHeldResponses, type HeldResponses } from '../support/held-responses.js';
import {
  HttpMistake,
  parseUrl,
  readBody,
  readJson,
  send,
  sendJson,
  sendMistake,
  sendPage,
} from '../support/http.js';
import type { Message, MessageFilter, MessageStore } from './message-store.js';
import { inboxPage } from './page.js';
import type { AnswerRule, InboxSettings } from './settings.js';
import { isVerified, verifySignatures } from './verify-signatures.js';

const deliveryBytesMax = 1_000_000;
const controlBytesMax = 1_000_000;
const waitMaxMs = 30_000;

export interface InboxParts {
  settings: InboxSettings;
  messages: MessageStore;
  random: () => number;
}

export interface InboxListener {
  handle: RequestListener;
  /** Ends the connections of deliveries that hang. */
  endHanging: () => void;
}

export function createRequestListener(parts: InboxParts): InboxListener {
  const heldResponses = createHeldResponses();
  // Differs per process, so that a browser never uses the cached response of another process.
  const startedAt = Date.now();

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = parseUrl(request);
    switch (`${request.method ?? ''} ${url.pathname}`) {
      case 'GET /':
        sendPage(response, inboxPage);
        return;
      case 'GET /healthz':
        sendJson(response, 200, { status: 'ok' });
        return;
      case 'GET /messages':
        await sendMessages(request, response, {
          messages: parts.messages,
          query: url.searchParams,
          startedAt,
        });
        return;
      case 'DELETE /messages':
        parts.messages.clear();
        sendJson(response, 200, { status: 'cleared' });
        return;
      case 'GET /control':
        sendJson(response, 200, parts.settings.show());
        return;
      case 'POST /control':
        parts.settings.change(await readJson(request, controlBytesMax));
        sendJson(response, 200, parts.settings.show());
        return;
      case 'DELETE /control':
        parts.settings.resetAnswers();
        sendJson(response, 200, parts.settings.show());
        return;
      default:
        if (request.method === 'POST') {
          await receive(request, response, { ...parts, path: url.pathname, held: heldResponses });
        } else {
          response.setHeader('allow', 'POST');
          sendJson(response, 405, { error: 'send deliveries by POST; GET / shows them' });
        }
    }
  };

  return {
    handle: (request, response) => {
      route(request, response).catch((error: unknown) => sendMistake(response, error));
    },
    endHanging: () => heldResponses.endAll(),
  };
}

type ReceiveContext = InboxParts & { path: string; held: HeldResponses };

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { settings, messages, random, path, held }: ReceiveContext,
): Promise<void> {
  const raw = await readBody(request, deliveryBytesMax);
  const secrets = settings.secretsFor(path);
  const verification =
    secrets.length === 0
      ? null
      : verifySignatures({
          headers: request.headers,
          raw,
          secrets,
          nowMs: Date.now(),
          toleranceMs: settings.toleranceMs(),
        });
  const rule = settings.takeAnswer(path);
  const answered = decide(rule, random());
  messages.add({
    at: new Date().toISOString(),
    path,
    headers: request.headers,
    raw: raw.toString('utf8'),
    verified: verification === null ? null : isVerified(verification),
    verification,
    answered,
  });
  if (answered === 'hang') {
    held.hold(response);
    return;
  }
  if (rule.delay_ms > 0) {
    await wait(rule.delay_ms);
  }
  answer(response, answered, rule);
}

/** Uses one random draw with adjacent ranges, so that both rates are shares of all deliveries. */
function decide(rule: AnswerRule, chance: number): Message['answered'] {
  if (chance < rule.hang_rate) {
    return 'hang';
  }
  return chance < rule.hang_rate + rule.fail_rate ? rule.fail_status : 200;
}

function answer(response: ServerResponse, status: number, rule: AnswerRule): void {
  if (status !== 200) {
    for (const [name, value] of Object.entries(rule.fail_headers)) {
      response.setHeader(name, value);
    }
    sendJson(response, status, { error: `the inbox is set to return ${status}` });
  } else if (rule.ack === null) {
    send(response, { status, type: 'text/plain', body: '' });
  } else {
    sendJson(response, status, { status: rule.ack });
  }
}

/** With `wait_ms`, the response waits for the first matching message. */
async function sendMessages(
  request: IncomingMessage,
  response: ServerResponse,
  { messages, query, startedAt }: { messages: MessageStore; query: URLSearchParams; startedAt: number },
): Promise<void> {
  const filter = readFilter(query);
  const limit = readNumber(query, 'limit') ?? Infinity;
  const deadline = Date.now() + Math.min(readNumber(query, 'wait_ms') ?? 0, waitMaxMs);
  let found = messages.find(filter);
  while (found.length === 0 && Date.now() < deadline && !response.closed) {
    await messages.nextMessage(deadline - Date.now());
    found = messages.find(filter);
  }
  const tag = `"${startedAt}-${messages.version()}"`;
  response.setHeader('etag', tag);
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304).end();
    return;
  }
  sendJson(response, 200, found.slice(Math.max(0, found.length - limit)));
}

function readFilter(query: URLSearchParams): MessageFilter {
  const sinceText = query.get('since');
  const since = sinceText === null ? undefined : Date.parse(sinceText);
  if (Number.isNaN(since)) {
    throw new HttpMistake(400, 'since must be a time such as 2026-01-31T10:00:00Z');
  }
  return {
    ref_id: query.get('ref_id') ?? undefined,
    path: query.get('path') ?? undefined,
    since,
    after: readNumber(query, 'after'),
  };
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(text)) {
    throw new HttpMistake(400, `${name} must be a whole number`);
  }
  return Number(text);
}
