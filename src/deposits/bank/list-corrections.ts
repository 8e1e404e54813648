import type { BankLineStatus } from './bank-line.model.js';
import type { Corrections } from './find-taken-back.js';

/** A correction by the bank, as operators see it. */
export interface ListedCorrection {
  /** Line in the statement. Null for a correction of an earlier statement. */
  line: number | null;
  day: string | null;
  amount: number;
  description: string;
  /** The payment that it takes back. Null if no statement has contained it yet. */
  payment: {
    line: number | null;
    day: string;
    description: string;
    status: BankLineStatus;
    depositId: string | null;
  } | null;
}

/** Lists the corrections that are not stored yet. Those of credited payments come first. */
export function listCorrections({ pairs, unpaired }: Corrections): ListedCorrection[] {
  const paired = pairs.map(({ correction, payment }): ListedCorrection => {
    const { line, day, amount, description } = correction;
    const { status, depositId } = payment;
    return {
      line,
      day,
      amount,
      description,
      payment: { line: payment.line, day: payment.day, description: payment.description, status, depositId },
    };
  });
  const rank = ({ payment }: ListedCorrection) => (payment?.depositId ? 0 : 1);
  const alone = unpaired.map(({ line, day, amount, description }): ListedCorrection => {
    return { line, day, amount, description, payment: null };
  });
  return [...paired, ...alone].sort((a, b) => rank(a) - rank(b));
}
