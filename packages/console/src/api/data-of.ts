/** A call that the server refused, in its own words. */
export class Refusal extends Error {
  constructor(
    message: string,
    /** It may be answered in a while. */
    readonly isOutage: boolean,
  ) {
    super(message);
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal;
}

/** It may be answered in a while: the service cannot just now, or the call did not get there. */
export function isOutage(error: Error | null): boolean {
  return error !== null && (!isRefusal(error) || error.isOutage);
}

/** Ours, and those of a proxy in front of a service that does not answer. */
const outages = new Set([502, 503, 504]);

/** Of a proxy's page nothing is repeated. */
function saidBy(error: unknown): string {
  const isOurs = typeof error === 'object' && error !== null && 'message' in error && 'request_id' in error;
  return isOurs ? `${String(error.message)} (${String(error.request_id)})` : '';
}

/** The `data` of an answer. @throws Refusal with the words of the failure envelope. */
export async function dataOf<T>(
  call: Promise<{ data?: { data: T }; error?: { message: string; request_id: string }; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) {
    throw new Refusal(saidBy(error), outages.has(response.status));
  }
  return data.data;
}
