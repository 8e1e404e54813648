/** Settings in the form that operators see. No value of a secret is ever shown. */
import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';
import type { Env } from '../../config/settings.js';
import { shownAs, listShownSettings } from '../../config/shown-settings.js';

const marker = 'mark3r';

/**
 * The settings that operators may see. All others must be hidden, even if the code would show them.
 */
const visibleSettings: (keyof Env)[] = [
  ...([
    'NODE_ENV',
    'APP_MODE',
    'PORT',
    'LISTEN_ADDRESS',
    'MONGODB_POOL_SIZE',
    'MONGODB_SHARD_SPLITS',
  ] as const),
  ...(['REDIS_CLUSTER', 'REDIS_SENTINEL', 'REDIS_TLS_SELF_SIGNED', 'QUEUE_PREFIX', 'METRICS_PORT'] as const),
  ...(['METRICS_HOST', 'OTEL_TRACES_SAMPLER_ARG', 'LOG_LEVEL', 'TRUST_PROXY', 'BUSINESS_TIMEZONE'] as const),
  ...(['DEPOSIT_MODE', 'RESELLER_SYNC_WAIT_MS', 'REPORT_SYNC_WAIT_MS', 'REPORTS_PER_DAY'] as const),
  ...(['REQUEST_LOG_HOURS', 'UNKNOWN_REVIEW_AFTER', 'SETTLEMENT_FEE', 'HOLIDAYS_FILE'] as const),
  ...(['SETTLEMENT_NEW_ACCOUNT_REVIEW', 'PAYOUT_MODE', 'ADJUSTMENT_APPROVAL_FROM'] as const),
  ...(['COMMISSION_RATE', 'WEBHOOK_ALLOW_PRIVATE', 'WEBHOOK_TIMEOUT_MS', 'OUTGOING_ADDRESSES'] as const),
  ...(['FULFILMENT_CONCURRENCY', 'CUSTOMER_NUMBER_MONTHS', 'ACCEPTED_RISKS'] as const),
];

const databases = { MONGODB_URI: 'mongodb://h:27017/db', REDIS_URL: 'redis://h:6379' };

describe('settings shown to operators', () => {
  const none = new Set<string>();
  const shownOf = (env: Env) => new Map(listShownSettings(env, none).map((each) => [each.name, each]));

  it('show no secret in any part of a value', () => {
    const names = Object.keys(shownAs) as (keyof Env)[];
    const env = parseEnv(databases);
    expect(names.toSorted(), 'all settings').to.deep.equal(Object.keys(env).toSorted());
    for (const name of names) {
      for (const value of [
        marker,
        `https://${marker}@host/x`,
        `https://user:${marker}@host`,
        `https://host/${marker}`,
        `https://host/x?key=${marker}`,
        `https://host#${marker}`,
        `mongodb://user:${marker}@a:1,b:2/db?authSource=${marker}`,
        `mongodb://user:pa/${marker}@host/db`,
        `redis://:${marker}@host:6379/2?x=${marker}`,
        `redis://us@er:${marker}@host`,
      ]) {
        const shown = shownOf({ ...env, [name]: value }).get(name);
        expect(shown?.isSet, name).to.equal(true);
        const hasMarker = JSON.stringify(shown).includes(marker);
        expect(hasMarker && !visibleSettings.includes(name), `${name} ${value}`).to.equal(false);
      }
    }
  });

  it('show the host of a URL without credentials', () => {
    const shown = shownOf({
      ...parseEnv(databases),
      MONGODB_URI: 'mongodb+srv://user:secret@cluster.example/topup?retryWrites=true',
      REDIS_URL: 'rediss://:secret@a:1,b:2/3',
      WEBHOOK_PROXY_URL: 'http://user:secret@proxy:3128',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318/key',
      BASE_URL: 'https://topup.example',
    });
    expect(
      ['MONGODB_URI', 'REDIS_URL', 'WEBHOOK_PROXY_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'BASE_URL'].map(
        (name) => shown.get(name)?.value,
      ),
    ).to.deep.equal([
      'mongodb+srv://…@cluster.example/topup…',
      'rediss://…@a:1,b:2/3',
      'http://…@proxy:3128',
      'https://collector:4318…',
      'https://topup.example',
    ]);
  });

  it('show which settings are given, unset or read only by other processes', () => {
    const env = parseEnv({ ...databases, SETTLEMENT_FEE: '3000', LEDGER_CLOSE_KEY: 'secret' }, ['web']);
    const shown = new Map(
      listShownSettings(env, new Set(['SETTLEMENT_FEE', 'LEDGER_CLOSE_KEY'])).map((each) => [
        each.name,
        each,
      ]),
    );
    expect(shown.get('SETTLEMENT_FEE')).to.include({ isGiven: true, value: '3000' });
    expect(shown.get('BUSINESS_TIMEZONE')).to.include({ isGiven: false, value: 'Asia/Jakarta' });
    expect(shown.get('SIMULATOR_URL')).to.include({ isRead: true, isSet: false, value: null });
    expect(shown.get('LEDGER_CLOSE_KEY')).to.include({
      isRead: false,
      isGiven: false,
      isSet: false,
      value: null,
    });
    expect(shown.get('SESSION_SECRET')).to.include({ isRead: true, isSet: true, value: null });
  });
});
