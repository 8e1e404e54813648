/** Every setting of the service. config/env.ts validates them and .env.example explains them. */
export interface Env {
  NODE_ENV: 'development' | 'test' | 'production';
  /**
   * `sandbox` checks orders on a short schedule and uses the simulator. `live` uses the schedule of
   * real providers.
   */
  APP_MODE: 'sandbox' | 'live';
  PORT: number;
  /** Address on which the web process listens. Null means every address. */
  LISTEN_ADDRESS: string | null;
  /** Public root URL, used in links for clients. If null, it is derived from PORT. */
  BASE_URL: string | null;
  MONGODB_URI: string;
  MONGODB_POOL_SIZE: number;
  /**
   * Account ids at which the next shard begins, as `migrate --sharded` prints them. Empty if there
   * is only one shard.
   */
  MONGODB_SHARD_SPLITS: string[];
  /**
   * One server, or several separated by commas. With REDIS_CLUSTER they are Cluster nodes, with
   * REDIS_SENTINEL they are Sentinels.
   */
  REDIS_URL: string;
  REDIS_CLUSTER: boolean;
  /** Name of the master that the Sentinels know. Null without Sentinels. */
  REDIS_SENTINEL: string | null;
  /** Password of the Sentinels themselves. */
  REDIS_SENTINEL_PASSWORD: string | null;
  /**
   * CA certificates for Redis in PEM, or the path of a PEM file. If null, the system's certificates
   * apply.
   */
  REDIS_TLS_CA: string | null;
  /** True to accept any certificate from Redis. Other connections are not affected. */
  REDIS_TLS_SELF_SIGNED: boolean;
  /**
   * Prefix of every Redis key, so that two installations can share a server. If it contains a hash
   * tag, all keys are on one Cluster node.
   */
  QUEUE_PREFIX: string;
  /**
   * A key of 32 random bytes in base64 that encrypts API keys and secrets (see config/keyring.ts).
   */
  ENCRYPTION_KEY: string | null;
  /** Keys for rotation, as `id:base64,id:base64`. The first key encrypts; every key decrypts. */
  ENCRYPTION_KEYS: string | null;
  SESSION_SECRET: string;
  /**
   * Port of a separate server for `/metrics`, `/healthz` and `/readyz`. If null, there is no such
   * server.
   */
  METRICS_PORT: number | null;
  /** Address on which the metrics server listens. */
  METRICS_HOST: string;
  /**
   * URL that receives alarms in Slack's format, `{"text": …}`. It is a secret, because it permits
   * posting. If null, no alarms are sent.
   */
  ALERT_WEBHOOK_URL: string | null;
  /**
   * URL that receives traces by OTLP over HTTP as JSON, at `/v1/traces`. If null, tracing is off.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: string | null;
  /** Fraction of client calls that are traced, from 0 to 1. They are chosen at random. */
  OTEL_TRACES_SAMPLER_ARG: number;
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug';
  /**
   * Number of proxy hops, or comma-separated proxy addresses and subnets. Never `true`, because
   * clients could then forge their address.
   */
  TRUST_PROXY: string;
  BUSINESS_TIMEZONE: string;
  DEPOSIT_MODE: 'instant' | 'confirm';
  /**
   * Secret that signs payment notifications. If null, the endpoint does not exist, and operators
   * confirm deposits.
   */
  PAYMENT_NOTIFY_SECRET: string | null;
  SIMULATOR_URL: string | null;
  RESELLER_SYNC_WAIT_MS: number;
  REPORT_SYNC_WAIT_MS: number;
  REPORTS_PER_DAY: number;
  /** Hours for which an account can read its own calls. With 0, no calls are kept. */
  REQUEST_LOG_HOURS: number;
  /** Milliseconds after which a purchase with an unknown outcome goes under review. */
  UNKNOWN_REVIEW_AFTER: number;
  /** Flat fee per settlement in rupiah. */
  SETTLEMENT_FEE: number;
  /** Path of the bank holidays file. If null, config/holidays.json is used. */
  HOLIDAYS_FILE: string | null;
  SETTLEMENT_NEW_ACCOUNT_REVIEW: boolean;
  PAYOUT_MODE: 'simulated' | 'manual';
  /**
   * Amount in rupiah from which a wallet adjustment needs a second operator. With 0, every
   * adjustment needs one.
   */
  ADJUSTMENT_APPROVAL_FROM: number;
  /** Fraction of a sale that the platform keeps, for sellers without a rate of their own. */
  COMMISSION_RATE: number;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  /** Timeout in milliseconds for the whole response of a webhook receiver. */
  WEBHOOK_TIMEOUT_MS: number;
  /** Proxy for outgoing webhooks and callbacks. If null, none is used. */
  WEBHOOK_PROXY_URL: string | null;
  /**
   * Source addresses and networks of webhooks and callbacks, as clients see them. If empty, clients
   * are shown none.
   */
  OUTGOING_ADDRESSES: string[];
  /** Number of concurrent purchases per fulfilment process. */
  FULFILMENT_CONCURRENCY: number;
  /** Months after which a customer number is masked. With 0, numbers are never masked. */
  CUSTOMER_NUMBER_MONTHS: number;
  /**
   * Ed25519 private key that signs closed days, in PEM or as the path of a PEM file. Only follow-up
   * processes and the CLI read this setting.
   */
  LEDGER_CLOSE_KEY: string | null;
  /** Names of the `refusedSettings` that the operator accepts. */
  ACCEPTED_RISKS: string[];
}

/** Settings before the check of required settings. The fields listed here may still be null. */
export type GivenEnv = Omit<Env, 'SESSION_SECRET' | 'PAYOUT_MODE'> & {
  [Name in 'SESSION_SECRET' | 'PAYOUT_MODE']: Env[Name] | null;
};
