/** A call that the server refused, in its own words. */
export class Refusal extends Error {}

export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal;
}

/** The `data` of an answer. @throws Refusal with the words of the failure envelope. */
export async function dataOf<T>(
  call: Promise<{ data?: { data: T }; error?: { message: string; request_id: string } }>,
): Promise<T> {
  const { data, error } = await call;
  if (data === undefined) {
    throw new Refusal(error ? `${error.message} (${error.request_id})` : '');
  }
  return data.data;
}
