import type { ResponseCode } from '../shared/errors.js';

/** An order for a provider. `providerRef` is `<purchase>-<n>`, never the client's reference. */
export interface ProviderOrder {
  providerRef: string;
  productCode: string;
  customerNumber: string;
  /** Maximum cost of this order, in rupiah. */
  costMax: number;
  /** Postpaid: the total in rupiah that the buyer accepted. Absent or null: a prepaid order. */
  billTotal?: number | null;
  /**
   * When the order was first sent. A status check does not resend an order that is too old or too
   * recent.
   */
  sentAt?: Date | null;
  lastCheckAt?: Date | null;
  /**
   * The lease of the order ends at this time, and other processes rely on it. After it neither the
   * order nor a status check that can buy may be sent.
   */
  sendBefore?: Date | null;
}

/**
 * The outcome of an order. Final only if the adapter knows the status as final; any unreadable
 * answer is `unknown`.
 */
export type ProviderOutcome =
  | { outcome: 'success'; code: string; message: string; serialNumber: string | null; cost: number | null }
  | {
      outcome: 'refused';
      code: string;
      message: string;
      /**
       * yes: another seller may serve it. no: the customer's fault. confirm: check the status
       * first. A status check never returns `confirm`.
       */
      failover: 'yes' | 'no' | 'confirm';
      /**
       * The code (docs/reference/errors.md#codes) that the client sees if no other seller serves
       * it.
       */
      clientCode: ResponseCode;
      /**
       * configuration, float: the operator must fix it; the circuit opens. outage: the provider
       * serves no order; counts as a failure of its circuit. Absent: the refusal concerns this
       * order only.
       */
      fault?: 'configuration' | 'float' | 'outage';
    }
  | { outcome: 'pending'; code: string; message: string; serialNumber: string | null }
  /**
   * The request may have been executed: time-out, lost connection, 5xx, unreadable or unlisted
   * answer.
   */
  | { outcome: 'unknown'; code: string; message: string }
  /**
   * Status checks only: the provider does not know the reference. Accepted only after a repeated
   * check; see fulfil-purchase.ts.
   */
  | { outcome: 'not-found'; code: string; message: string }
  /**
   * Certainly not sent (no connection, no TLS) or not taken (too many requests). The same order may
   * be sent again later.
   */
  | { outcome: 'not-sent'; code: string; message: string }
  /** The provider reversed a successful sale. */
  | { outcome: 'reversed'; code: string; message: string }
  /** The operator must decide. Never send it again. */
  | { outcome: 'review'; code: string; message: string };

/**
 * The outcome of a bill inquiry (docs/reference/api/bills.md). It moves no money, so anything
 * uncertain is `unavailable`.
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

/**
 * The outcome of a meter inquiry. `power`: tariff and power as the provider writes them. It moves
 * no money.
 */
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

/** An answer that does not concern an order: its value, or why it could not be read. */
export type Reading<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

/** A row of a provider's price list. `cost` in rupiah, `cutOff` in business time HH:MM. */
export interface ProviderProduct {
  code: string;
  cost: number;
  /** Switched on at the provider, enabled for us, and in stock. */
  available: boolean;
  cutOff: { start: string; end: string } | null;
}

/** A row of a provider's own record of our orders. */
export interface ProviderRecordRow {
  providerRef: string;
  at: Date;
  status: 'success' | 'failed' | 'pending';
  /** Null if the record does not contain it. */
  serialNumber: string | null;
}

/**
 * An inbound callback. It only triggers a status check, and that check moves the money (decision
 * 018).
 */
export type ProviderCallback =
  { kind: 'ping' } | { kind: 'result'; providerRef: string; status: 'success' | 'failed' | 'pending' };

/** Connection settings of a seller's provider. Secrets are in clear text: never log it. */
export interface ProviderConnection {
  sellerId: string;
  baseUrl: string;
  username: string;
  secret: string;
  /** Signing secret of the provider's callbacks, if it differs from `secret`. */
  callbackSecret?: string | null;
  /** h2h only. md5 is for engines without HMAC. */
  signWith?: 'hmac' | 'md5';
  /** Limit of the whole fleet; absent or null: none. */
  callsPerSecond?: number | null;
  /** Concurrent calls of the whole fleet; absent or null: no limit of the provider's own. */
  concurrency?: number | null;
}

/** Parameters of the status-check and retry rules, in milliseconds. */
export interface ProviderTraits {
  timeoutMs: number;
  /** A "not found" proves nothing until this time has passed since the order was sent. */
  longestLatencyMs: number;
  inquiryMinIntervalMs: number;
  inquiryMaxAgeMs: number;
  /** The status check sends the same reference again. */
  resendIsInquiry: boolean;
}

/** Outcomes that the simulator can give an order. `reversed`: a success that is reversed. */
export type PlayedEnd = 'success' | 'failed' | 'reversed';

/**
 * One provider protocol. Every method answers within the time-out and never throws for a provider's
 * behaviour.
 */
export interface ProviderAdapter {
  readonly kind: string;
  readonly traits: ProviderTraits;
  buy(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /** Checks the status of an order or bill payment that was sent before. */
  inquire(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /**
   * Asks for a bill; buys nothing.
   * @param query.providerRef A new reference, not that of an order.
   */
  inquireBill(connection: ProviderConnection, query: BillQuery): Promise<BillOutcome>;
  /**
   * Pays the bill if its total is still `billTotal`. A changed bill is refused without a payment.
   */
  payBill(
    connection: ProviderConnection,
    order: ProviderOrder & { billTotal: number },
  ): Promise<ProviderOutcome>;
  /** Returns our balance at the provider, in rupiah. */
  balance(connection: ProviderConnection): Promise<Reading<number>>;
  /**
   * Reads the price list while it arrives, and keeps only the products that `wants` accepts.
   * @param wants Called with each product code; absent: all products.
   */
  priceList(
    connection: ProviderConnection,
    wants?: (code: string) => boolean,
  ): Promise<Reading<ProviderProduct[]>>;
  /**
   * Returns the owner of a prepaid PLN meter, if the protocol supports it
   * (docs/reference/api/bills.md#meters).
   */
  inquireMeter?: (connection: ProviderConnection, meterNumber: string) => Promise<MeterOutcome>;
  /**
   * Returns the provider's record of our orders in a period, if the protocol supports it. Other
   * records come as files.
   */
  record?: (
    connection: ProviderConnection,
    period: { since: Date; until: Date },
  ) => Promise<Reading<ProviderRecordRow[]>>;
  /**
   * Simulator only: gives an order this outcome; the next status check returns it. refused: the
   * order already has another outcome, or is unknown.
   */
  endOrder?: (
    connection: ProviderConnection,
    asked: { providerRef: string; end: PlayedEnd },
  ) => Promise<'ended' | 'refused' | 'unavailable'>;
  /** Parses an inbound callback without trusting it. Null if it does not match this protocol. */
  readCallback(raw: Buffer): ProviderCallback | null;
  /**
   * True if the raw body was signed with the secret of this connection. Header names are in lower
   * case.
   */
  isCallbackSigned(
    connection: ProviderConnection,
    raw: Buffer,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): boolean;
}

export type BillQuery = Pick<ProviderOrder, 'providerRef' | 'productCode' | 'customerNumber'>;
