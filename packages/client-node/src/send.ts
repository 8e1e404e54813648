import { setTimeout as wait } from 'node:timers/promises';

export interface SendOptions {
  /** Of one attempt. */
  timeoutMs: number;
  attemptsMax: number;
  /** The longest wait between two attempts, whatever the service asks for. */
  waitMaxMs: number;
}

export const usual: SendOptions = { timeoutMs: 20_000, attemptsMax: 6, waitMaxMs: 60_000 };

/** A body of JSON that says its `status`. */
export type Answer = { status: unknown } & Record<string, unknown>;

export interface Sent {
  status: number;
  body: Answer;
  /**
   * Why an attempt before had no answer, null where each had one. That attempt may have been done, whatever this answer refuses:
   * a refusal is believed only where this is null.
   */
  lostBefore: unknown;
}

type IsAnswer = (httpStatus: number, body: Answer) => boolean;

interface Expected {
  isAnswer: IsAnswer;
  /** A success may be a file, whose bytes stand as its `data` then. */
  maybeFile?: boolean;
}

/**
 * Sends a request until it is answered. 429 and 503 made nothing, so they are repeated whatever was sent; no answer, and an
 * answer that is not the service's own, only what may be done twice.
 * @param options.isRepeatable Whether the same request again does the same once: reads, and what carries a ref_id.
 * @param options.isAnswer Whether the service itself answers so on this surface.
 * @returns the last answer, or the last reason why there was none.
 */
export async function send(
  url: string,
  init: RequestInit,
  {
    isRepeatable,
    isAnswer,
    maybeFile = false,
    ...options
  }: SendOptions & Expected & { isRepeatable: boolean },
): Promise<{ answer: Sent } | { lost: unknown }> {
  let result: { answer: Sent } | { lost: unknown } = { lost: new Error('attemptsMax is 0') };
  let lostBefore: unknown = null;
  for (let attempt = 1; attempt <= options.attemptsMax; attempt++) {
    const { retryAfterMs, ...found } = await sendOnce(url, init, {
      ...{ isAnswer, maybeFile, timeoutMs: options.timeoutMs },
    });
    if ('lost' in found) {
      lostBefore = found.lost;
      result = found;
    } else {
      result = { answer: { ...found.answer, lostBefore } };
    }
    const isRefusedForNow = 'answer' in found && [429, 503].includes(found.answer.status);
    if (!isRefusedForNow && ('answer' in found || !isRepeatable)) {
      break;
    }
    if (attempt < options.attemptsMax) {
      await wait(Math.min(retryAfterMs ?? 500 * 2 ** (attempt - 1), options.waitMaxMs));
    }
  }
  return result;
}

async function sendOnce(
  url: string,
  init: RequestInit,
  { isAnswer, maybeFile, timeoutMs }: Required<Expected> & { timeoutMs: number },
): Promise<({ answer: Omit<Sent, 'lostBefore'> } | { lost: unknown }) & { retryAfterMs: number | null }> {
  const timeout = deadline(timeoutMs);
  try {
    const response = await timeout.orEnds(fetch(url, { ...init, redirect: 'error', signal: timeout.signal }));
    const after = response.headers.get('retry-after') ?? '';
    const retryAfterMs = /^\d{1,6}$/.test(after) ? Number(after) * 1_000 : null;
    const bytes = await bytesOf(response, timeout);
    const body =
      response.ok && isAttached(response)
        ? maybeFile && response.status === 200 // 206 is a part of one.
          ? { status: 'success', data: bytes }
          : null
        : parsed(bytes.toString());
    // Of a proxy, whatever HTTP status it has, or a fault of the service itself: whether it was done is not known.
    return body === null ||
      (response.status >= 500 && response.status !== 503) ||
      !isAnswer(response.status, body)
      ? { lost: new Error(`HTTP ${response.status}: ${bytes.toString('utf8', 0, 200)}`), retryAfterMs }
      : { answer: { status: response.status, body }, retryAfterMs };
  } catch (error) {
    return { lost: error, retryAfterMs: null };
  } finally {
    timeout.stop();
  }
}

type Deadline = ReturnType<typeof deadline>;

/**
 * A limit of time that holds until the last byte. `AbortSignal.timeout` is forgotten when Node collects memory, and so is a signal
 * whose request has its headers: the body of an answer had no end then.
 */
function deadline(ms: number) {
  const controller = new AbortController();
  const error = new DOMException(`Not within ${ms} ms`, 'TimeoutError');
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort(error);
      reject(error);
    }, ms);
  });
  // It may end while nobody waits for it.
  ended.catch(() => undefined);
  return {
    signal: controller.signal,
    orEnds: <T>(work: Promise<T>): Promise<T> => Promise.race([work, ended]),
    stop: () => {
      clearTimeout(timer);
    },
  };
}

async function bytesOf({ body }: Response, { orEnds }: Deadline): Promise<Buffer> {
  const reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
  const chunks: Uint8Array[] = [];
  try {
    while (reader) {
      const { done, value } = await orEnds(reader.read());
      if (done) {
        break;
      }
      chunks.push(value);
    }
  } catch (error) {
    // Nobody reads what still comes.
    void reader?.cancel().catch(() => undefined);
    throw error;
  }
  return Buffer.concat(chunks);
}

/**
 * A refusal of the service has one of its codes and a reason. What calls itself an error without them is of somebody in between, who
 * may have sent the call on.
 */
export function isServiceRefusal({ status, code, reason }: Answer): boolean {
  return status === 'error' && typeof code === 'string' && /^\d\d$/.test(code) && typeof reason === 'string';
}

/** The service sends its files as attachments; the page of a proxy is none. */
function isAttached({ headers }: Response): boolean {
  return /^attachment\b/i.test(headers.get('content-disposition') ?? '');
}

/** The answer, or null for what is not one of the service. */
function parsed(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? { ...value } : null;
  } catch {
    return null;
  }
}
