/** Every setting of the service; config/env.ts reads them, .env.example explains them. */
export interface Env {
  NODE_ENV: 'development' | 'test' | 'production';
  /** `sandbox` polls on a short schedule and uses the simulator; `live` keeps the providers' real schedule. */
  APP_MODE: 'sandbox' | 'live';
  PORT: number;
  /** Where the web process listens. Null: on every address. */
  LISTEN_ADDRESS: string | null;
  /** Public root address, used in links that we hand out. Null: derived from PORT. */
  BASE_URL: string | null;
  MONGODB_URI: string;
  MONGODB_POOL_SIZE: number;
  /** Where one shard's accounts end and the next one's begin, as `migrate --sharded` prints it. Empty: one shard. */
  MONGODB_SHARD_SPLITS: string[];
  /** One server; with REDIS_CLUSTER nodes of a Cluster, with REDIS_SENTINEL Sentinels, with commas between them. */
  REDIS_URL: string;
  REDIS_CLUSTER: boolean;
  /** What the Sentinels call the master. Null: there are none. */
  REDIS_SENTINEL: string | null;
  /** Of the Sentinels themselves. */
  REDIS_SENTINEL_PASSWORD: string | null;
  /** Certificates in PEM, or the path of them, that Redis's is signed by. Null: those of the system. */
  REDIS_TLS_CA: string | null;
  /** Takes any certificate of Redis, and of nothing else. */
  REDIS_TLS_SELF_SIGNED: boolean;
  /** Prefix of every Redis key, so that two copies can share a server. A hash tag in it keeps all on one node. */
  QUEUE_PREFIX: string;
  /** 32 random bytes in base64: API keys and secrets are stored encrypted with it. See config/keyring.ts. */
  ENCRYPTION_KEY: string | null;
  /** `id:base64,id:base64`, where keys are rotated: the first one seals, all of them open. */
  ENCRYPTION_KEYS: string | null;
  SESSION_SECRET: string;
  /** Port of `/metrics`, `/healthz` and `/readyz` of this process, on a server of its own. Null: there is none. */
  METRICS_PORT: number | null;
  /** Where that server listens. */
  METRICS_HOST: string;
  /** Takes alarms as Slack does, `{"text": …}`. A secret: whoever has it can write there. Null: nobody is told. */
  ALERT_WEBHOOK_URL: string | null;
  /** Takes traces, by OTLP over HTTP as JSON, at `/v1/traces` below it. Null: there are none. */
  OTEL_EXPORTER_OTLP_ENDPOINT: string | null;
  /** The part of clients' calls that are traced, by chance. */
  OTEL_TRACES_SAMPLER_ARG: number;
  LOG_LEVEL: 'error' | 'warn' | 'info' | 'debug';
  /** Hop count, or a comma-separated list of proxy addresses and subnets. Never `true`: clients could then forge their address. */
  TRUST_PROXY: string;
  BUSINESS_TIMEZONE: string;
  DEPOSIT_MODE: 'instant' | 'confirm';
  /** Signs the notifications of payments. Null: there is no such call, and deposits are confirmed by hand. */
  PAYMENT_NOTIFY_SECRET: string | null;
  SIMULATOR_URL: string | null;
  RESELLER_SYNC_WAIT_MS: number;
  REPORT_SYNC_WAIT_MS: number;
  REPORTS_PER_DAY: number;
  /** Hours for which an account can read its own calls. 0: none are kept. */
  REQUEST_LOG_HOURS: number;
  /** Milliseconds after which an unknown outcome goes to the operator's review list. */
  UNKNOWN_REVIEW_AFTER: number;
  /** Rupiah, flat. */
  SETTLEMENT_FEE: number;
  /** Path of the holidays of the banks. Null: config/holidays.json. */
  HOLIDAYS_FILE: string | null;
  SETTLEMENT_NEW_ACCOUNT_REVIEW: boolean;
  PAYOUT_MODE: 'simulated' | 'manual';
  /** Rupiah: from here on an adjustment of a wallet needs a second operator. 0: each does. */
  ADJUSTMENT_APPROVAL_FROM: number;
  /** Fraction of a sale kept by the platform where a seller has no rate of its own. */
  COMMISSION_RATE: number;
  WEBHOOK_ALLOW_PRIVATE: boolean;
  /** Milliseconds that a receiver of webhooks has for its whole answer. */
  WEBHOOK_TIMEOUT_MS: number;
  /** A proxy that webhooks and callbacks go out through. Null: there is none. */
  WEBHOOK_PROXY_URL: string | null;
  /** Addresses and networks that webhooks and callbacks come from, as clients are told. Empty: they are told nothing. */
  OUTGOING_ADDRESSES: string[];
  /** Purchases that one fulfilment process handles at the same time. */
  FULFILMENT_CONCURRENCY: number;
  /** Months after which a customer number is masked. 0: never. */
  CUSTOMER_NUMBER_MONTHS: number;
  /** Ed25519 private key (PEM, or the path of one) that signs closed days. Only for follow-up processes. */
  LEDGER_CLOSE_KEY: string | null;
  /** Which of `refusedSettings` are meant, by their names. */
  ACCEPTED_RISKS: string[];
}

/** As it was given: what is missing is refused before anybody reads it. */
export type GivenEnv = Omit<Env, 'SESSION_SECRET' | 'PAYOUT_MODE'> & {
  [Name in 'SESSION_SECRET' | 'PAYOUT_MODE']: Env[Name] | null;
};
