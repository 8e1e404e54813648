/** The server refused a request. `message` comes from the response. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** True if the same request may succeed later. */
    readonly isOutage: boolean,
  ) {
    super(message);
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal;
}

/**
 * True if the same request may succeed later, because the service is unavailable or could not be
 * reached.
 */
export function isOutage(error: Error | null): boolean {
  return error !== null && (!isRefusal(error) || error.isOutage);
}

/** HTTP statuses of an outage. They come from the service, or from a proxy in front of it. */
const outages = new Set([502, 503, 504]);

/**
 * Returns the message of a failure envelope. Returns an empty string for the error page of a proxy.
 */
function getMessage(error: unknown): string {
  const isKnown = typeof error === 'object' && error !== null && 'message' in error && 'request_id' in error;
  return isKnown ? `${String(error.message)} (${String(error.request_id)})` : '';
}

/**
 * Returns the `data` of a response.
 * @throws Refusal with the message of the failure envelope if the request was refused.
 */
export async function unwrapData<T>(
  call: Promise<{ data?: { data: T }; error?: { message: string; request_id: string }; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) {
    throw new Refusal(getMessage(error), outages.has(response.status));
  }
  return data.data;
}
