import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { developmentKey, developmentSecret } from '../../config/keyring.js';
import { parseEnv } from '../../config/env.js';
import { acceptableRisks, refusedSettings } from '../../config/refused-settings.js';
import { readTableUnder } from '../support/docs-table.js';

const key = Buffer.from(Array.from({ length: 32 }, (_, n) => n)).toString('base64');
const repeatedKey = Buffer.alloc(32, 7).toString('base64');
const good: Record<string, string> = {
  NODE_ENV: 'production',
  BASE_URL: 'https://topup.example',
  MONGODB_URI: 'mongodb://topup:secret@one:27017,two:27017,three:27017/topup?replicaSet=rs0&authSource=admin',
  REDIS_URL: 'rediss://:secret@redis.example:6379',
  ENCRYPTION_KEY: key,
  SESSION_SECRET: 'a session secret of more than 32 characters',
  PAYOUT_MODE: 'manual',
};

/** Each entry is one change that makes the settings invalid. `undefined` removes a setting. */
const bad: Record<string, string | undefined>[] = [
  { ENCRYPTION_KEY: undefined },
  { ENCRYPTION_KEY: developmentKey },
  { ENCRYPTION_KEY: repeatedKey },
  { SESSION_SECRET: 'shorter than 32' + ' chars' },
  { SESSION_SECRET: developmentSecret },
  { PAYMENT_NOTIFY_SECRET: 'x'.repeat(40) },
  { PAYOUT_MODE: undefined },
  { PAYOUT_MODE: 'simulated' },
  { DEPOSIT_MODE: 'instant' },
  { WEBHOOK_ALLOW_PRIVATE: 'true' },
  { APP_MODE: 'sandbox' },
  { SIMULATOR_URL: 'http://127.0.0.1:4000' },
  { BASE_URL: undefined },
  { BASE_URL: 'http://topup.example' },
  { MONGODB_URI: 'mongodb://one:27017/topup?replicaSet=rs0' },
  { REDIS_URL: 'redis://redis.example:6379' },
];

function getRefusal(change: Record<string, string | undefined>): string | null {
  try {
    parseEnv({ ...good, ...change });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('settings refused in production', () => {
  it('do not include a good configuration, whose other defaults are safe', () => {
    expect(getRefusal({})).to.equal(null);
    expect(parseEnv(good)).to.include({
      APP_MODE: 'live',
      DEPOSIT_MODE: 'confirm',
      SETTLEMENT_NEW_ACCOUNT_REVIEW: true,
      WEBHOOK_ALLOW_PRIVATE: false,
      LISTEN_ADDRESS: null,
    });
    expect(getRefusal({ SETTLEMENT_NEW_ACCOUNT_REVIEW: 'false' })).to.equal(null);
    const keys = `new:${Buffer.from(key, 'base64').reverse().toString('base64')}`;
    expect(getRefusal({ ENCRYPTION_KEY: undefined, ENCRYPTION_KEYS: keys })).to.equal(null);
  });

  refusedSettings.forEach(({ setting, value, acceptedAs }, row) => {
    it(`${setting}: ${value}`, () => {
      const change = bad[row] ?? {};
      const message = getRefusal(change);
      expect(message).to.include(`"${setting}" is refused in production (${value.replaceAll('`', '')})`);
      expect(message?.match(/ {2}- /g), message ?? '').to.have.length(1);
      for (const given of [
        change['ENCRYPTION_KEY'],
        change['SESSION_SECRET'],
        'secret@',
        good['SESSION_SECRET'],
      ]) {
        expect(given === undefined || !message?.includes(given)).to.equal(true);
      }
      // Settings without NODE_ENV=production are refused as well. APP_MODE=sandbox alone never
      // selects live mode.
      if (change['APP_MODE'] === undefined) {
        expect(getRefusal({ NODE_ENV: undefined, APP_MODE: 'live', ...change })).to.include(`"${setting}"`);
        expect(getRefusal({ NODE_ENV: 'test', APP_MODE: 'live', ...change })).to.include(`"${setting}"`);
      }
      const others = acceptableRisks.filter((name) => name !== acceptedAs).join(',');
      expect(getRefusal({ ...change, ACCEPTED_RISKS: others })).to.include(`"${setting}"`);
      if (acceptedAs !== null) {
        expect(message).to.include(`ACCEPTED_RISKS=${acceptedAs}`);
        expect(getRefusal({ ...change, ACCEPTED_RISKS: acceptedAs })).to.equal(null);
      }
    });
  });

  it('are all reported together', () => {
    const message = getRefusal({
      PAYOUT_MODE: 'simulated',
      DEPOSIT_MODE: 'instant',
      REDIS_URL: 'redis://host',
    });
    expect(message?.match(/ {2}- /g)).to.have.length(3);
  });

  it('also include the development key or a repeated one in ENCRYPTION_KEYS', () => {
    for (const each of [developmentKey, repeatedKey]) {
      expect(getRefusal({ ENCRYPTION_KEYS: `new:${each}` })).to.match(/ENCRYPTION_KEY/);
    }
  });

  it('include no database without a password if its authMechanism has none', () => {
    expect(getRefusal({ MONGODB_URI: 'mongodb://host/topup?authMechanism=MONGODB-X509&tls=true' })).to.equal(
      null,
    );
    expect(getRefusal({ MONGODB_URI: 'mongodb://user@host/topup' })).to.include('MONGODB_URI');
    expect(getRefusal({ REDIS_URL: 'redis://user:secret@host' })).to.equal(null);
    expect(getRefusal({ REDIS_URL: 'redis://host/0?x=:y@z' })).to.include('REDIS_URL');
  });

  it('include an unknown name in ACCEPTED_RISKS', () => {
    expect(getRefusal({ ACCEPTED_RISKS: 'open-mongodb,simulated' })).to.include('ACCEPTED_RISKS');
  });

  it('do not apply to a trial configuration', () => {
    const trial = { MONGODB_URI: 'mongodb://host/topup', REDIS_URL: 'redis://host' };
    expect(parseEnv(trial)).to.include({
      PAYOUT_MODE: 'simulated',
      SETTLEMENT_NEW_ACCOUNT_REVIEW: false,
      LISTEN_ADDRESS: '127.0.0.1',
    });
  });

  it('match the table in docs/reference/refused-settings.md', () => {
    expect(
      readTableUnder('The list', readFileSync('docs/reference/refused-settings.md', 'utf8')),
    ).to.deep.equal(
      refusedSettings.map(({ setting, value, why, instead, acceptedAs }) => [
        `\`${setting}\``,
        value,
        why,
        instead,
        acceptedAs === null ? '' : `\`${acceptedAs}\``,
      ]),
    );
  });
});

describe('ENCRYPTION_KEYS', () => {
  const other = Buffer.from(key, 'base64').reverse().toString('base64');
  const keys = (value: string, single?: string) =>
    getRefusal({ ENCRYPTION_KEY: single, ENCRYPTION_KEYS: value });

  it('is a list of id:key with unique ids and keys of 32 bytes', () => {
    expect(keys(`b:${other},a:${key}`)).to.equal(null);
    for (const wrong of [
      key,
      `b:${other},`,
      `b c:${other}`,
      `:${other}`,
      'b:short',
      `b:${other},b:${key}`,
      `b:${key},a:${key}`,
    ]) {
      expect(keys(wrong), wrong).to.include('ENCRYPTION_KEYS').and.not.include(key).and.not.include(other);
    }
  });

  it('ENCRYPTION_KEY has the reserved id 0', () => {
    expect(keys(`b:${other}`, key)).to.equal(null);
    expect(keys(`b:${other},0:${key}`, key)).to.equal(null);
    expect(keys(`0:${other}`, key)).to.include('ENCRYPTION_KEYS');
    expect(keys(`b:${key}`, key)).to.include('ENCRYPTION_KEYS');
  });
});
