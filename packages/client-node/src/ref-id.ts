/** Words that mean something else where an address has a ref_id; the service refuses them as well. */
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

/** Types are gone when it runs: without a ref_id a repeat would buy again. */
export function requireRefId(order: { ref_id: string }): void {
  const refId = refIdOf(order);
  if (refId === null) {
    throw new TypeError('ref_id is missing: make one for the order and store it before you call');
  }
  if (taken.includes(refId)) {
    throw new TypeError(`ref_id cannot be "${refId}", which means something else in an address`);
  }
}
