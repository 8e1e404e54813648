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

/** The `data` of an answer. @throws Refusal with the words of the failure envelope. */
export async function dataOf<T>(
  call: Promise<{ data?: { data: T }; error?: { message: string; request_id: string }; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) {
    throw new Refusal(error ? `${error.message} (${error.request_id})` : '', response.status >= 500);
  }
  return data.data;
}
