/** Words that have a different meaning in a URL path. The service also refuses them as ref_id. */
const reservedRefIds = ['.', '..', 'lookup'];

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
 * Checks the ref_id at run time, because callers in plain JS are not type-checked. A call without a
 * ref_id would buy again if it is repeated.
 */
export function requireRefId(order: { ref_id: string }): void {
  const refId = refIdOf(order);
  if (refId === null) {
    throw new TypeError('ref_id is missing: create one for the order and store it before the call');
  }
  if (reservedRefIds.includes(refId)) {
    throw new TypeError(`ref_id cannot be "${refId}", which has another meaning in a URL`);
  }
}
