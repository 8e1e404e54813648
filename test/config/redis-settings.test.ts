import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';
import { readRedisUrl } from '../../config/server-addresses.js';

describe('REDIS_URL', () => {
  const nothing = { username: null, password: null, db: 0, isTls: false };

  for (const [url, address] of [
    ['redis://host', { ...nothing, nodes: [{ host: 'host', port: 6_379 }] }],
    [
      'redis://:secret@host:7000/3',
      { ...nothing, nodes: [{ host: 'host', port: 7_000 }], password: 'secret', db: 3 },
    ],
    [
      'rediss://user:a%40b:c@one:1,two:2,[::1]:3',
      {
        nodes: [
          { host: 'one', port: 1 },
          { host: 'two', port: 2 },
          { host: '::1', port: 3 },
        ],
        username: 'user',
        password: 'a@b:c',
        db: 0,
        isTls: true,
      },
    ],
  ] as const) {
    it(`parses ${url}`, () => {
      expect(readRedisUrl(url, 6_379)).to.deep.equal(address);
    });
  }

  for (const url of [
    'host:6379',
    'http://host',
    'redis://',
    'redis://a,,b',
    'redis://host:port',
    'redis://host:99999',
    'redis://host:0',
    'redis://:%zz@host',
  ]) {
    it(`refuses ${url}`, () => {
      expect(readRedisUrl(url, 6_379)).to.equal(null);
    });
  }

  const required = { MONGODB_URI: 'mongodb://host/topup?replicaSet=rs0', REDIS_URL: 'redis://host' };
  for (const [name, settings] of [
    ['REDIS_URL', { REDIS_URL: 'redis://one,two' }],
    ['REDIS_URL', { REDIS_URL: 'redis://one/1', REDIS_CLUSTER: 'true' }],
    ['REDIS_SENTINEL', { REDIS_SENTINEL: 'mymaster', REDIS_CLUSTER: 'true' }],
    ['REDIS_SENTINEL_PASSWORD', { REDIS_SENTINEL_PASSWORD: 'secret' }],
    ['REDIS_TLS_SELF_SIGNED', { REDIS_TLS_SELF_SIGNED: 'true' }],
    ['REDIS_TLS_CA', { REDIS_URL: 'rediss://one', REDIS_TLS_CA: '/no/such/file' }],
    ['QUEUE_PREFIX', { QUEUE_PREFIX: '{a}{b}' }],
    ['QUEUE_PREFIX', { QUEUE_PREFIX: '{}' }],
    ['REDIS_URL', { REDIS_URL: 'redis://:secret@host:99999' }],
    ['MONGODB_URI', { MONGODB_URI: 'mongodb://user:secret@host:1,' }],
    ['MONGODB_URI', { MONGODB_URI: 'mongodb://user:secret@host:99999/topup' }],
    ['MONGODB_URI', { MONGODB_URI: 'mongodb://user:%zz-secret@host' }],
    ['MONGODB_URI', { MONGODB_URI: 'mongodb+srv://user:secret@one,two' }],
  ] as const) {
    it(`refuses ${JSON.stringify(settings)}, naming ${name} and no secret`, () => {
      expect(() => parseEnv({ ...required, ...settings })).to.throw(name);
      expect(() => parseEnv({ ...required, ...settings })).not.to.throw('secret');
    });
  }

  it('shows an example of a hash tag in the message', () => {
    expect(() => parseEnv({ ...required, QUEUE_PREFIX: '{a' })).to.throw('with at most one {hash-tag}');
  });

  for (const uri of [
    'mongodb://user:p%40ss@one:1,two:2,[::1]:3/topup?replicaSet=rs0',
    'mongodb+srv://user:pass@cluster.example/topup',
    'mongodb://%2Ftmp%2Fmongodb-27017.sock',
  ]) {
    it(`accepts ${uri} as MONGODB_URI`, () => {
      expect(parseEnv({ ...required, MONGODB_URI: uri }).MONGODB_URI).to.equal(uri);
    });
  }

  it('accepts a hash tag in QUEUE_PREFIX', () => {
    expect(parseEnv({ ...required, QUEUE_PREFIX: 'top-{up}-1' }).QUEUE_PREFIX).to.equal('top-{up}-1');
  });
});
