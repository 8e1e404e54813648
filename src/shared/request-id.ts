/**
 * A client may say what its request is called (`x-request-id`): one without any letter could be somebody's number, which is masked
 * elsewhere after a time. It stays in the one log line of its call.
 */
const hasLetter = /[A-Za-z]/;

/** A request's id where it may go further than its call: onto the purchase, into jobs, log lines and traces. */
export function getStorableRequestId(requestId: string | undefined): string | undefined {
  return requestId !== undefined && hasLetter.test(requestId) ? requestId : undefined;
}
