/**
 * Postpaid bills, one per customer number. The ending of the number selects an exception
 * (docs/reference/api/sandbox.md).
 */
import { createHash } from 'node:crypto';
import { findScenario } from '../../config/sandbox-scenarios.js';

export interface Bill {
  customer_number: string;
  customer_name: string;
  /** YYYY-MM. */
  bill_period: string;
  /** Amount in rupiah, as are the next two fields. */
  total_bill: number;
  admin_fee: number;
  total_amount: number;
}

/** Reason why no bill is due. `status` is the response code. */
export interface NoBill {
  status: '01' | '02' | '03' | '04';
  message: string;
}

export interface BillDesk {
  /** Returns the bill for an inquiry by this provider's client. */
  inquire(asked: BillRequest): Bill | NoBill;
  /**
   * Returns null if the bill may be paid, and otherwise the reason for the refusal. `agreed` is the
   * total that the payer expects. Null means the total that was shown last.
   */
  refusePayment(asked: BillRequest, agreed: number | null): string | null;
}

interface BillRequest {
  provider: string;
  code: string;
  customer: string;
}

const adminFee = 2_500;
/** Amount in rupiah by which a growing bill increases before payment. */
const lateFee = 5_000;
const names = ['BUDI SANTOSO', 'SITI AMINAH', 'AGUS WIJAYA', 'DEWI LESTARI', 'RINA HARTONO', 'JOKO PRASETYO'];

/**
 * A growing bill (ending 1244) increases between inquiry and payment. Payment of the old total is
 * refused, and the next inquiry shows the new one. A payment resets the bill. The state is kept
 * only in memory.
 */
export function createBillDesk(now: () => number): BillDesk {
  const grown = new Set<string>();
  const keyOf = ({ provider, code, customer }: BillRequest): string => `${provider}\n${code}\n${customer}`;
  const billNow = (asked: BillRequest, extra: number): Bill | NoBill =>
    noBill(asked.customer) ?? billOf(asked, { now: now(), extra });

  return {
    inquire: (asked) => billNow(asked, grown.has(keyOf(asked)) ? lateFee : 0),
    refusePayment(asked, agreed) {
      const grows = findScenario(asked.customer)?.grows === true;
      const key = keyOf(asked);
      const shown = billNow(asked, grown.has(key) ? lateFee : 0);
      const due = billNow(asked, grows ? lateFee : 0);
      if ('message' in due || 'message' in shown) {
        return 'message' in due ? due.message : null;
      }
      if ((agreed ?? shown.total_amount) !== due.total_amount) {
        if (grows) {
          grown.add(key);
        }
        return `Bill amount has changed to ${due.total_amount}`;
      }
      grown.delete(key);
      return null;
    },
  };
}

function noBill(customer: string): NoBill | null {
  switch (findScenario(customer)?.bill) {
    case 'paid':
      return { status: '01', message: 'Bill already paid' };
    case 'unknown':
      return { status: '04', message: 'Invalid customer number' };
    case 'none':
      return { status: '02', message: 'No bill found' };
    case 'away':
      return { status: '03', message: 'Biller unavailable' };
    case undefined:
      return null;
  }
}

function billOf({ code, customer }: BillRequest, { now, extra }: { now: number; extra: number }): Bill {
  const digest = createHash('sha256').update(`${code}\n${customer}`).digest();
  const totalBill = 50_000 + (digest.readUInt16BE(0) % 450) * 1_000 + extra;
  return {
    customer_number: customer,
    customer_name: names[digest.readUInt8(2) % names.length] ?? '',
    bill_period: lastMonth(now),
    total_bill: totalBill,
    admin_fee: adminFee,
    total_amount: totalBill + adminFee,
  };
}

/** The previous month in Jakarta (UTC+7, no daylight saving time). */
function lastMonth(now: number): string {
  const jakarta = new Date(now + 7 * 3_600_000);
  return new Date(Date.UTC(jakarta.getUTCFullYear(), jakarta.getUTCMonth() - 1)).toISOString().slice(0, 7);
}
