/** Result of one check of the system. */
export interface Diagnosis {
  name: string;
  /**
   * `fail` means that something does not work, or that money is at risk. `warn` means that it works
   * but needs attention.
   */
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Action to take. Null if all is well. */
  advice: string | null;
}

export function ok(name: string, detail: string): Diagnosis {
  return { name, status: 'ok', detail, advice: null };
}

export function warn(name: string, detail: string, advice: string): Diagnosis {
  return { name, status: 'warn', detail, advice };
}

export function fail(name: string, detail: string, advice: string): Diagnosis {
  return { name, status: 'fail', detail, advice };
}
