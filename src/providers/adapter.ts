import type { ResponseCode } from '../shared/errors.js';

/** What a provider is asked to do. `providerRef` is `<purchase>-<n>`, never the client's reference. */
export interface ProviderOrder {
  providerRef: string;
  productCode: string;
  customerNumber: string;
  /** Rupiah; the most that this order may cost us. */
  costMax: number;
  /** Postpaid: the total in rupiah that the buyer accepted. Absent or null: a prepaid order. */
  billTotal?: number | null;
  /** When the order first went out. A status check refuses to resend what is too old or too fresh for it. */
  sentAt?: Date | null;
  /** When its status was last asked. */
  lastCheckAt?: Date | null;
  /** Nothing that can buy may be sent after this, a status check as little: its lease is over, and others go by what it has not done. */
  sendBefore?: Date | null;
}

/**
 * A certain or uncertain answer. Only a status that the adapter knows as final is final: whatever it cannot
 * read is `unknown`.
 */
export type ProviderOutcome =
  | { outcome: 'success'; code: string; message: string; serialNumber: string | null; cost: number | null }
  | {
      outcome: 'refused';
      code: string;
      message: string;
      /**
       * yes: another seller may serve it. no: the customer's fault. confirm: ask the status before believing it.
       * An answer to a status check is never `confirm`.
       */
      failover: 'yes' | 'no' | 'confirm';
      /** The code (docs/reference/errors.md#codes) that the client sees if this is the end. */
      clientCode: ResponseCode;
      /**
       * configuration, float: ours to repair; the operator is told and the circuit opens. outage: the provider
       * serves nobody, which counts for its circuit. Absent: the refusal is about this order.
       */
      fault?: 'configuration' | 'float' | 'outage';
    }
  | { outcome: 'pending'; code: string; message: string; serialNumber: string | null }
  /** The request may have been executed: time-out, lost connection, 5xx, unreadable or unlisted answer. */
  | { outcome: 'unknown'; code: string; message: string }
  /** Status checks only: the provider does not know the reference. Believed only when repeated; see fulfil-purchase.ts. */
  | { outcome: 'not-found'; code: string; message: string }
  /**
   * Certainly never left us (no connection, no TLS), or was certainly not taken (too many requests): the same order
   * may be sent again later.
   */
  | { outcome: 'not-sent'; code: string; message: string }
  /** A sale that the provider took back after success. */
  | { outcome: 'reversed'; code: string; message: string }
  /** The operator must decide; never send it again. */
  | { outcome: 'review'; code: string; message: string };

/**
 * The answer to a bill inquiry (docs/reference/api/bills.md). It moves no money, so everything uncertain is
 * `unavailable`.
 */
export type BillOutcome =
  | { outcome: 'bill'; bill: ProviderBill }
  | {
      outcome: 'refused';
      code: string;
      message: string;
      reason: 'already-paid' | 'wrong-number' | 'no-bill' | 'not-sold';
      clientCode: ResponseCode;
    }
  | { outcome: 'unavailable'; code: string; message: string };

/** The answer about a meter. `power`: tariff and power as the provider writes them. It moves no money, as a bill inquiry. */
export type MeterOutcome =
  | { outcome: 'meter'; name: string; power: string | null }
  | { outcome: 'wrong-number'; code: string; message: string }
  | { outcome: 'unavailable'; code: string; message: string };

/** Amounts in rupiah. `billPeriod` is YYYY-MM. */
export interface ProviderBill {
  customerName: string;
  billPeriod: string;
  totalBill: number;
  adminFee: number;
  totalAmount: number;
}

/** An answer that says nothing about an order: read, or the reason why not. */
export type Reading<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

/** A row of a provider's price list; `cost` in rupiah, cut-off as business time HH:MM. */
export interface ProviderProduct {
  code: string;
  cost: number;
  /** Switched on at the provider, for us, and in stock. */
  available: boolean;
  cutOff: { start: string; end: string } | null;
}

/** A line of a provider's own record of what it did for us. */
export interface ProviderRecordRow {
  providerRef: string;
  at: Date;
  status: 'success' | 'failed' | 'pending';
  /** Null where the record does not tell it. */
  serialNumber: string | null;
}

/** What a provider tells by itself. It only says where to look: money moves by the status check that follows. */
export type ProviderCallback =
  { kind: 'ping' } | { kind: 'result'; providerRef: string; says: 'success' | 'failed' | 'pending' };

/** How a seller's system is reached. Secrets are in clear here: never log it. */
export interface ProviderConnection {
  sellerId: string;
  baseUrl: string;
  username: string;
  secret: string;
  /** Signs the provider's callbacks, if that is not `secret`. */
  callbackSecret?: string | null;
  /** h2h: md5 for engines that know nothing better. */
  signWith?: 'hmac' | 'md5';
  /** From all workers together; absent or null: no limit. */
  callsPerSecond?: number | null;
  /** At once from all workers together; absent or null: no limit of its own. */
  concurrency?: number | null;
}

/** Facts that the polling and retry rules need, in milliseconds. */
export interface ProviderTraits {
  timeoutMs: number;
  /** "Not found" says nothing before this much time has passed since the order was sent. */
  longestLatencyMs: number;
  inquiryMinIntervalMs: number;
  inquiryMaxAgeMs: number;
  /** Sending the same reference again is the status check. */
  resendIsInquiry: boolean;
}

/** What an order at the simulator can be ended as. `reversed`: a success that is taken back. */
export type PlayedEnd = 'success' | 'failed' | 'reversed';

/** One protocol. Every method answers within the adapter's time-out and never throws for what a provider does. */
export interface ProviderAdapter {
  readonly kind: string;
  readonly traits: ProviderTraits;
  buy(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /** The status of an order or of a bill payment that was sent before. */
  inquire(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /** @param query `providerRef` is a fresh reference of its own: an inquiry buys nothing. */
  inquireBill(connection: ProviderConnection, query: BillQuery): Promise<BillOutcome>;
  /** Pays the bill if it still is `billTotal`; a bill that has changed is refused, and nothing is paid. */
  payBill(
    connection: ProviderConnection,
    order: ProviderOrder & { billTotal: number },
  ): Promise<ProviderOutcome>;
  /** Our money at the provider, in rupiah. */
  balance(connection: ProviderConnection): Promise<Reading<number>>;
  /**
   * The list is read as it comes in, and only what `wants` says yes to is kept.
   * @param wants Asked with the code of each product; absent: all of them.
   */
  priceList(
    connection: ProviderConnection,
    wants?: (code: string) => boolean,
  ): Promise<Reading<ProviderProduct[]>>;
  /** Whose prepaid PLN meter it is, where the provider can tell (docs/reference/api/bills.md#meters). */
  inquireMeter?: (connection: ProviderConnection, meterNumber: string) => Promise<MeterOutcome>;
  /** The provider's own record of our orders in a time, where it can be asked for; other records come as a file. */
  record?: (
    connection: ProviderConnection,
    period: { since: Date; until: Date },
  ) => Promise<Reading<ProviderRecordRow[]>>;
  /**
   * The simulator alone: an order gets this end now, of which the next status check tells. refused: it has another, or was never
   * taken.
   */
  endOrder?: (
    connection: ProviderConnection,
    asked: { providerRef: string; end: PlayedEnd },
  ) => Promise<'ended' | 'refused' | 'unavailable'>;
  /** What an inbound callback is about, before anything in it is believed; null if it is none of this protocol. */
  readCallback(raw: Buffer): ProviderCallback | null;
  /** True if the raw body was signed with the secret of this connection. Header names are in lower case. */
  isCallbackSigned(
    connection: ProviderConnection,
    raw: Buffer,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): boolean;
}

export type BillQuery = Pick<ProviderOrder, 'providerRef' | 'productCode' | 'customerNumber'>;
