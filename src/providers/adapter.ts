import type { ResponseCode } from '../shared/errors.js';

/** An order for a provider. `providerRef` is `<purchase>-<n>`, never the client's reference. */
export interface ProviderOrder {
  providerRef: string;
  /** The product's code at the provider. */
  productCode: string;
  customerNumber: string;
  /** Maximum cost of this order, in rupiah. */
  costMax: number;
  /** The total of a bill in rupiah that the buyer accepted. Absent or null for a prepaid order. */
  billTotal?: number | null;
  /**
   * When the order was first sent. No status check is sent if the order is too old or too recent.
   */
  sentAt?: Date | null;
  lastCheckAt?: Date | null;
  /**
   * The lease of the order ends at this time, and then other processes may check the order. After
   * it, neither the order nor a status check that can buy may be sent.
   */
  sendBefore?: Date | null;
}

/**
 * The outcome of an order. It is final only if the adapter knows the provider's status as final. An
 * unreadable response is `unknown`.
 */
export type ProviderOutcome =
  | {
      outcome: 'success';
      code: string;
      message: string;
      serialNumber: string | null;
      cost: number | null;
      /** True if the provider did not state the success, so that only the serial number proves it. */
      needsSerialNumber?: true;
    }
  | {
      outcome: 'refused';
      code: string;
      message: string;
      /**
       * Whether another seller may serve the order.
       *
       * - yes: another seller may.
       * - no: the customer made a mistake, so no seller can.
       * - confirm: check the status first. A status check never returns `confirm`.
       */
      failover: 'yes' | 'no' | 'confirm';
      /**
       * The code (docs/reference/errors.md#codes) for the client if no other seller serves the
       * order.
       */
      clientCode: ResponseCode;
      /**
       * The cause, if it affects more than this order. Absent if it affects only this order.
       *
       * - configuration, float: the operator must fix it, so the circuit opens.
       * - outage: the provider serves no orders. This counts as a failure of its circuit.
       */
      fault?: 'configuration' | 'float' | 'outage';
    }
  | { outcome: 'pending'; code: string; message: string; serialNumber: string | null }
  /**
   * The request may have been executed: timeout, lost connection, 5xx, or an unreadable or
   * unlisted response.
   */
  | { outcome: 'unknown'; code: string; message: string }
  /**
   * Only from status checks: the provider does not know the reference. It is believed only after
   * repeated checks (src/purchases/fulfil/apply-outcome.ts).
   */
  | { outcome: 'not-found'; code: string; message: string }
  /**
   * The request was certainly not sent (no connection, no TLS) or not accepted (too many requests).
   * The same order may be sent again later.
   */
  | { outcome: 'not-sent'; code: string; message: string }
  /** The provider reversed a successful sale. */
  | { outcome: 'reversed'; code: string; message: string }
  /** The operator must decide. Never send the order again. */
  | { outcome: 'review'; code: string; message: string };

/**
 * The outcome of a bill inquiry (docs/reference/api/bills.md). An inquiry moves no money, so every
 * uncertain outcome is `unavailable`.
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
 * The outcome of a meter inquiry, which moves no money. `power` is the tariff and power as the
 * provider writes them.
 */
export type MeterOutcome =
  | { outcome: 'meter'; name: string; power: string | null }
  | { outcome: 'wrong-number'; code: string; message: string }
  | { outcome: 'unavailable'; code: string; message: string };

/** A bill as the provider returns it, with amounts in rupiah. */
export interface ProviderBill {
  customerName: string;
  /** Newest month of the bill, YYYY-MM. Null if the provider's text was not understood. */
  billPeriod: string | null;
  totalBill: number;
  adminFee: number;
  totalAmount: number;
  details: BillDetails | null;
}

/** Facts about a bill that decide nothing. A fact is absent if the provider does not state it. */
export interface BillDetails {
  /** Months of the bill, YYYY-MM, oldest first. */
  periods?: string[];
  /** The period as the provider writes it, if it was not understood. */
  periodText?: string;
  tariff?: string;
  power?: string;
  /** Number of unpaid months or instalments. */
  sheets?: number;
  /** Rupiah. */
  penalty?: number;
  sheetDetails?: BillSheet[];
}

/** One month or instalment of a bill, with amounts in rupiah. */
export interface BillSheet {
  period?: string;
  amount?: number;
  penalty?: number;
  meterStart?: string;
  meterEnd?: string;
}

/** The result of a call that does not concern an order: its value, or why it could not be read. */
export type Reading<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

/** A row of a provider's price list. `cost` is in rupiah. `cutOff` is in business time, HH:MM. */
export interface ProviderProduct {
  code: string;
  /** Name, category and brand in the words of the provider. Absent if its list has none. */
  name?: string;
  group?: string;
  brand?: string;
  /** Only for a bill: its admin fee in rupiah. `cost` is the part that the provider keeps. */
  adminFee?: number;
  cost: number;
  /** True if the product is active at the provider, enabled for us, and in stock. */
  available: boolean;
  cutOff: { start: string; end: string } | null;
}

/**
 * A price list. Rows that cannot be read are counted, with their codes where these can be read. They
 * say nothing about their products.
 */
export type PriceListReading =
  | { ok: true; value: ProviderProduct[]; unreadable?: { rows: number; codes: string[] } }
  | { ok: false; code: string; message: string };

/** A row of a provider's own record of our orders. */
export interface ProviderRecordRow {
  providerRef: string;
  at: Date;
  status: 'success' | 'failed' | 'pending';
  /** Null if the provider's record has no serial number. */
  serialNumber: string | null;
}

/** A callback from a provider, before its order is known (decision 018). */
export type ProviderCallback =
  { kind: 'ping' } | { kind: 'result'; providerRef: string; status: 'success' | 'failed' | 'pending' };

/**
 * Connection settings of a seller's provider. Secrets are in clear text, so never log a connection.
 */
export interface ProviderConnection {
  sellerId: string;
  baseUrl: string;
  username: string;
  secret: string;
  /**
   * Signing secret of the provider's callbacks. If null or absent, callbacks are signed with
   * `secret`.
   */
  callbackSecret?: string | null;
  /** The signing algorithm, for h2h only. md5 is for reseller engines without HMAC. */
  signWith?: 'hmac' | 'md5';
  /** Limit for all processes together. Absent or null means no limit. */
  callsPerSecond?: number | null;
  /** Further texts that this provider writes where it has no serial number. */
  serialPlaceholders?: readonly string[] | null;
  /**
   * Concurrent calls of all processes together. Absent or null means that this provider has no
   * limit.
   */
  concurrency?: number | null;
}

/** Parameters of the status-check and retry rules, in milliseconds. */
export interface ProviderTraits {
  timeoutMs: number;
  /** A "not found" response proves nothing until this time has passed since the order was sent. */
  longestLatencyMs: number;
  inquiryMinIntervalMs: number;
  inquiryMaxAgeMs: number;
  /** True if the status check sends the order again under the same reference. */
  resendIsInquiry: boolean;
}

/**
 * Outcomes that the simulator can give to an order. `reversed` is a success that is then reversed.
 */
export type SimulatedEnd = 'success' | 'failed' | 'reversed';

/**
 * One provider protocol. Every method resolves within the timeout. No behaviour of a provider
 * makes a method throw.
 */
export interface ProviderAdapter {
  readonly kind: string;
  readonly traits: ProviderTraits;
  buy(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /** Checks the status of an order or bill payment that was sent before. */
  inquire(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  /**
   * Makes a bill inquiry, without paying the bill.
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
   * Reads the price list as a stream and keeps only the products that `wants` accepts.
   * @param wants Called with the code of each row, without blanks around it. If absent, all products
   *   are kept.
   */
  priceList(connection: ProviderConnection, wants?: (code: string) => boolean): Promise<PriceListReading>;
  /**
   * Returns the owner of a prepaid PLN meter, if the protocol supports it
   * (docs/reference/api/bills.md#meters).
   */
  inquireMeter?: (connection: ProviderConnection, meterNumber: string) => Promise<MeterOutcome>;
  /**
   * Returns the provider's record of our orders in a period, if the protocol supports it. Records
   * of other protocols come as files.
   */
  record?: (
    connection: ProviderConnection,
    period: { since: Date; until: Date },
  ) => Promise<Reading<ProviderRecordRow[]>>;
  /**
   * Returns our reference for the form that this provider knows it by. Absent if it takes ours as it
   * is.
   */
  fromProviderRef?: (reference: string) => string;
  /**
   * Simulator only. Gives an order this outcome, which the next status check returns. The result is
   * `refused` if the order has another outcome or is unknown.
   */
  endOrder?: (
    connection: ProviderConnection,
    asked: { providerRef: string; end: SimulatedEnd },
  ) => Promise<'ended' | 'refused' | 'unavailable'>;
  /**
   * Sends one order in the provider's own test mode, if it has one. Product, number and test flag
   * are fixed here, so that it can never be a real order.
   */
  sendTestOrder?: (connection: ProviderConnection, reference: string) => Promise<ProviderOutcome>;
  /** Parses a callback without trusting it. Returns null if it does not match this protocol. */
  readCallback(raw: Buffer): ProviderCallback | null;
  /**
   * Returns the final outcome that a callback states about this order. Call it only for a signed
   * callback.
   *
   * Null if the callback is not final, is incomplete, or is not about this order: it then only
   * triggers a status check. An adapter has this method only if the signature covers all fields and
   * the provider documents them (decision 018).
   */
  readCallbackOutcome?: (
    raw: Buffer,
    order: ProviderOrder,
    connection: ProviderConnection,
  ) => ProviderOutcome | null;
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
