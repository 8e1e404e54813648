import type { OnPart } from './ledger-report.js';

/** How much of what is looked at by its time a run looks at. */
export interface Part {
  /** YYYY-MM-DD; null: from the beginning. */
  fromDay: string | null;
  onPart: OnPart;
}
