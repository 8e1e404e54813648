/** Keeps the newest deliveries in memory, bounded by number and size. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Verification } from './verify-signatures.js';

/** A row of GET /messages. */
export interface Message {
  /** Number from 1, ascending within a process. */
  id: number;
  /** ISO 8601 time in UTC. */
  at: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body exactly as received. */
  raw: string;
  /** Null if no secret is known for the path. */
  verified: boolean | null;
  verification: Verification | null;
  /** The response to the sender: an HTTP status, or `hang` for no response. */
  answered: number | 'hang';
}

export interface MessageFilter {
  ref_id?: string | undefined;
  /** Matches this path and all paths below it. */
  path?: string | undefined;
  /** Lower bound in milliseconds since 1970, inclusive. */
  since?: number | undefined;
  /** Only messages with a higher id. */
  after?: number | undefined;
}

export interface MessageStore {
  add(message: Omit<Message, 'id'>): void;
  /** Returns the matching messages, oldest first. */
  find(filter: MessageFilter): Message[];
  clear(): void;
  /** Resolves when the next message arrives or after `timeoutMs`. */
  nextMessage(timeoutMs: number): Promise<void>;
  /** A number that changes with every change of the store. */
  version(): number;
}

const messagesMax = 10_000;
const bytesMax = 64 * 1024 * 1024;

interface StoredMessage {
  message: Message;
  refId: string | null;
}

export function createMessageStore(): MessageStore {
  let stored: StoredMessage[] = [];
  let bytes = 0;
  let lastId = 0;
  let version = 0;
  const waiting = new Set<() => void>();
  return {
    add(message) {
      lastId += 1;
      version += 1;
      stored.push({ message: { id: lastId, ...message }, refId: refIdOf(message.raw) });
      bytes += message.raw.length;
      while (stored.length > messagesMax || bytes > bytesMax) {
        bytes -= stored.shift()?.message.raw.length ?? 0;
      }
      waiting.forEach((wake) => wake());
    },
    find: (filter) => stored.filter((one) => matches(one, filter)).map(({ message }) => message),
    clear() {
      stored = [];
      bytes = 0;
      version += 1;
    },
    nextMessage: (timeoutMs) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(wake);
      }),
    version: () => version,
  };
}

function matches(
  { message, refId }: StoredMessage,
  { ref_id: wanted, path, since, after }: MessageFilter,
): boolean {
  return (
    (wanted === undefined || refId === wanted) &&
    (path === undefined || message.path === path || message.path.startsWith(path.replace(/\/?$/, '/'))) &&
    (since === undefined || Date.parse(message.at) >= since) &&
    (after === undefined || message.id > after)
  );
}

/**
 * Reads the ref_id of a body. It is at the top level of callbacks and in `data` of webhooks. Null
 * for other bodies.
 */
function refIdOf(raw: string): string | null {
  try {
    const body = JSON.parse(raw) as { ref_id?: unknown; data?: { ref_id?: unknown } | null } | null;
    const refId = body?.data?.ref_id ?? body?.ref_id;
    return typeof refId === 'string' ? refId : null;
  } catch {
    return null;
  }
}
