import type { Message } from '../../scripts/inbox/message-store.js';
import type { InboxChange, ShownInboxSettings } from '../../scripts/inbox/settings.js';
import { fetchJson } from './fetch-json.js';
import { startProgram } from './start-program.js';

export interface InboxOptions {
  /** The webhook secrets (`whsec_…`) by account or path. `control()` can add more later. */
  secrets?: Record<string, string | string[]>;
  /** Seed for random responses. Default: 1, so that they are the same in each run. */
  seed?: number;
  /** The port. Default: any free port. */
  port?: number;
  /** The address to listen on. Default: 127.0.0.1. */
  host?: string;
}

export interface MessageQuery {
  ref_id?: string;
  path?: string;
  /** Returns only messages received since this time (ISO 8601). */
  since?: string;
  /** Returns only messages with a higher id. */
  after?: string;
  /** How long to wait for the first message, in milliseconds. */
  wait_ms?: string;
}

export interface RunningInbox {
  url: string;
  port: number;
  /** Returns the received messages, oldest first. */
  messages(query?: MessageQuery): Promise<Message[]>;
  /**
   * Returns the first matching message. If there is none yet, waits for one for up to `timeoutMs`
   * (default 10,000).
   */
  waitFor(predicate: (message: Message) => boolean, timeoutMs?: number): Promise<Message>;
  /** Returns the first `count` matching messages. */
  waitForCount(
    count: number,
    predicate: (message: Message) => boolean,
    timeoutMs?: number,
  ): Promise<Message[]>;
  control(change: InboxChange): Promise<ShownInboxSettings>;
  clear(): Promise<void>;
  /** Stops the inbox with this signal (default: SIGTERM). Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the built inbox in its own process. Deliveries go to `<url>/hooks/<anything>`. */
export async function startInbox(options: InboxOptions = {}): Promise<RunningInbox> {
  const { port = 0, seed = 1, host = '127.0.0.1', secrets } = options;
  const args = { '--port': port, '--host': host, '--seed': seed };
  const program = await startProgram('scripts/inbox/main.js', Object.entries(args).flat().map(String));
  const read = (query: Record<string, string>): Promise<Message[]> =>
    fetchJson<Message[]>(`${program.url}/messages?${new URLSearchParams(query).toString()}`, 'GET');

  const waitForCount: RunningInbox['waitForCount'] = async (count, predicate, timeoutMs = 10_000) => {
    const deadline = Date.now() + timeoutMs;
    const found: Message[] = [];
    let seen = 0;
    let lastId = 0;
    while (found.length < count) {
      const remainingMs = deadline - Date.now();
      if (remainingMs <= 0) {
        throw new Error(
          `${found.length} of ${count} awaited messages came in ${timeoutMs} ms (${seen} in all)`,
        );
      }
      const newer = await read({ after: String(lastId), wait_ms: String(Math.min(remainingMs, 5_000)) });
      seen += newer.length;
      lastId = newer.at(-1)?.id ?? lastId;
      found.push(...newer.filter(predicate));
    }
    return found.slice(0, count);
  };
  const control = (change: InboxChange): Promise<ShownInboxSettings> =>
    fetchJson<ShownInboxSettings>(`${program.url}/control`, 'POST', change);
  if (secrets) {
    await control({ secrets });
  }
  return {
    url: program.url,
    port: program.port,
    messages: (query = {}) => read({ ...query }),
    async waitFor(predicate, timeoutMs) {
      const [message] = await waitForCount(1, predicate, timeoutMs);
      if (message === undefined) {
        throw new Error('waitForCount returned fewer messages than requested');
      }
      return message;
    },
    waitForCount,
    control,
    async clear() {
      await fetchJson(`${program.url}/messages`, 'DELETE');
    },
    stop: (signal) => program.stop(signal),
  };
}
