/** Every setting of the service. config/env.ts validates them and .env.example explains them. */
export interface Env {
  NODE_ENV: 'development' | 'test' | 'production';
  /**
   * `sandbox` polls on a short schedule and uses the simulator. `live` keeps the providers' real
   * schedule.
   */
  APP_MODE: 'sandbox' | 'live';
  PORT: number;
  /** Address on which the web process listens. Null: every address. */
  LISTEN_ADDRESS: string | null;
  /** Public root URL, used in links for clients. Null: derived from PORT. */
  BASE_URL: string | null;
  MONGODB_URI: string;
  MONGODB_POOL_SIZE: number;
  /**
   * Account ids at which the next shard begins, as `migrate --sharded` prints them. Empty: one
   * shard.
   */
  MONGODB_SHARD_SPLITS: string[];
  /**
   * One server, or several separated by commas: Cluster nodes with REDIS_CLUSTER, Sentinels with
   * REDIS_SENTINEL.
   */
  REDIS_URL: string;
  REDIS_CLUSTER: boolean;
  /** Name of the master at the Sentinels. Null: no Sentinels. */
  REDIS_SENTINEL: string | null;
  /** Password of the Sentinels themselves. */
  REDIS_SENTINEL_PASSWORD: string | null;
  /** CA certificates for Redis in PEM, or the path of a PEM file. Null: those of the system. */
  REDIS_TLS_CA: string | null;
  /** Accepts any certificate from Redis. Other connections are not affected. */
  REDIS_TLS_SELF_SIGNED: boolean;
  /**
   * Prefix of every Redis key, so that two installations can share a server. A hash tag in it keeps
   * all keys on one node.
   */
  QUEUE_PREFIX: string;
  /** 32 random bytes in base64 that encrypt API keys and secrets. See config/keyring.ts. */
  ENCRYPTION_KEY: string | null;
  /** `id:base64,id:base64` for key rotation. The first key encrypts; every key decrypts. */
  ENCRYPTION_KEYS: string | null;
  SESSION_SECRET: string;
  /** Port of a separate server for `/metrics`, `/healthz` and `/readyz`. Null: no such server. */
  METRICS_PORT: number | null;
  /** Address on which the metrics server listens. */
  METRICS_HOST: string;
  /**
   * Receives alarms in Slack's format, `{"text": …}`. Secret, because it permits posting. Null: no
   * alarms are sent.
   */
  ALERT_WEBHOOK_URL: string | null;
  /** Receives traces by OTLP over HTTP as JSON, at `/v1/traces`. Null: no tracing. */
  OTEL_EXPORTER_OTLP_ENDPOINT: string | null;
  /** Fraction of client calls that are traced, chosen at random. */
  OTEL_TRACES_SAMPLER_ARG: number;
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug';
  /**
   * Hop count, or comma-separated proxy addresses and subnets. Never `true`: clients could then
   * forge their address.
   */
  TRUST_PROXY: string;
  BUSINESS_TIMEZONE: string;
  DEPOSIT_MODE: 'instant' | 'confirm';
  /**
   * Secret that signs payment notifications. Null: the call does not exist and operators confirm
   * deposits.
   */
  PAYMENT_NOTIFY_SECRET: string | null;
  SIMULATOR_URL: string | null;
  RESELLER_SYNC_WAIT_MS: number;
  REPORT_SYNC_WAIT_MS: number;
  REPORTS_PER_DAY: number;
  /** Hours for which an account can read its own calls. 0: no calls are kept. */
  REQUEST_LOG_HOURS: number;
  /** Milliseconds after which an unknown outcome goes to the operator's review list. */
  UNKNOWN_REVIEW_AFTER: number;
  /** Flat fee in rupiah. */
  SETTLEMENT_FEE: number;
  /** Path of the bank holidays file. Null: config/holidays.json. */
  HOLIDAYS_FILE: string | null;
  SETTLEMENT_NEW_ACCOUNT_REVIEW: boolean;
  PAYOUT_MODE: 'simulated' | 'manual';
  /**
   * Rupiah from which a wallet adjustment needs a second operator. 0: every adjustment needs one.
   */
  ADJUSTMENT_APPROVAL_FROM: number;
  /** Fraction of a sale that the platform keeps from sellers without a rate of their own. */
  COMMISSION_RATE: number;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  /** Milliseconds that a webhook receiver has for its whole response. */
  WEBHOOK_TIMEOUT_MS: number;
  /** Proxy for outgoing webhooks and callbacks. Null: no proxy. */
  WEBHOOK_PROXY_URL: string | null;
  /**
   * Source addresses and networks of webhooks and callbacks, as clients see them. Empty: none are
   * shown.
   */
  OUTGOING_ADDRESSES: string[];
  /** Concurrent purchases per fulfilment process. */
  FULFILMENT_CONCURRENCY: number;
  /** Months after which a customer number is masked. 0: never. */
  CUSTOMER_NUMBER_MONTHS: number;
  /**
   * Ed25519 private key (PEM, or the path of one) that signs closed days. Only follow-up processes
   * and the CLI read it.
   */
  LEDGER_CLOSE_KEY: string | null;
  /** Names of the `refusedSettings` that the operator accepts. */
  ACCEPTED_RISKS: string[];
}

/** Settings before required ones are checked. These may still be null. */
export type GivenEnv = Omit<Env, 'SESSION_SECRET' | 'PAYOUT_MODE'> & {
  [Name in 'SESSION_SECRET' | 'PAYOUT_MODE']: Env[Name] | null;
};
