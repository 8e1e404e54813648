/** Words with another meaning in a URL path. The service also refuses them as ref_id. */
const taken = ['.', '..', 'lookup'];

export function refIdOf(body: unknown): string | null {
  return typeof body === 'object' &&
    body !== null &&
    'ref_id' in body &&
    typeof body.ref_id === 'string' &&
    body.ref_id !== ''
    ? body.ref_id
    : null;
}

/**
 * Checked at run time, where types do not exist: without a ref_id, a repeated call would buy again.
 */
export function requireRefId(order: { ref_id: string }): void {
  const refId = refIdOf(order);
  if (refId === null) {
    throw new TypeError('ref_id is missing: create one for the order and store it before the call');
  }
  if (taken.includes(refId)) {
    throw new TypeError(`ref_id cannot be "${refId}", which has another meaning in a URL`);
  }
}
