import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';

describe('METRICS_PORT and METRICS_HOST', () => {
  const required = { MONGODB_URI: 'mongodb://host/topup?replicaSet=rs0', REDIS_URL: 'redis://host' };
  const parsed = (settings: object, processes: string[] | null) =>
    parseEnv({ ...required, ...settings }, processes);

  it('METRICS_PORT must differ from PORT in a web process, unless it is 0', () => {
    const same = { PORT: '4000', METRICS_PORT: '4000' };
    const refused = /"METRICS_PORT" must differ from PORT/;
    expect(() => parsed(same, ['web'])).to.throw(refused);
    expect(() => parsed(same, null)).to.throw(refused);
    expect(() => parsed(same, ['fulfilment'])).not.to.throw();
    expect(() => parsed({ PORT: '0', METRICS_PORT: '0' }, ['web'])).not.to.throw();
    expect(() => parsed({ PORT: '4000', METRICS_PORT: '4001' }, ['web'])).not.to.throw();
  });

  it('refuses a METRICS_HOST that is no IP address', () => {
    expect(() => parsed({ METRICS_HOST: 'localhost' }, null)).to.throw(
      /"METRICS_HOST" must be an IP address of this machine, such as 127\.0\.0\.1, not a name/,
    );
  });
});
