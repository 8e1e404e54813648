import type { ResponseCode } from '../shared/errors.js';

/** What a provider is asked to do. `providerRef` is `<transaction>-<n>`, never the client's reference. */
export interface ProviderOrder {
  providerRef: string;
  productCode: string;
  customerNumber: string;
  /** Rupiah; the most that this order may cost us. */
  costMax: number;
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
      /** yes: another seller may serve it. no: the customer's fault. confirm: ask the status before believing it. */
      failover: 'yes' | 'no' | 'confirm';
      /** The code of interface part 7 that the client sees if this is the end. */
      clientCode: ResponseCode;
    }
  | { outcome: 'pending'; code: string; message: string; serialNumber: string | null }
  /** The request may have been executed: time-out, lost connection, 5xx, unreadable or unlisted answer. */
  | { outcome: 'unknown'; code: string; message: string }
  /** Status checks only: the provider does not know the reference. Believed only when repeated; see fulfil-purchase.ts. */
  | { outcome: 'not-found'; code: string; message: string }
  /** Certainly never left us (connection refused, name not resolved): the same attempt may be sent again later. */
  | { outcome: 'not-sent'; code: string; message: string }
  /** A sale that the provider took back after success. */
  | { outcome: 'reversed'; code: string; message: string }
  /** The operator must decide; never send it again. */
  | { outcome: 'review'; code: string; message: string };

/** How a seller's system is reached. Secrets are in clear here: never log it. */
export interface ProviderConnection {
  sellerId: string;
  baseUrl: string;
  username: string;
  secret: string;
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

export interface ProviderAdapter {
  readonly kind: string;
  readonly traits: ProviderTraits;
  buy(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
  inquire(connection: ProviderConnection, order: ProviderOrder): Promise<ProviderOutcome>;
}
