import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { findService } from '../../scripts/topup/find-service.js';

describe('service lookup of the command line', () => {
  it('uses demo.json if settings are empty, as in .env.example', () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'find-service-'));
    const demo = { mongodb_uri: 'mongodb://m/t', redis_url: 'redis://r', simulator_url: 'http://s' };
    fs.writeFileSync(path.join(dir, 'demo.json'), JSON.stringify(demo));
    const environment: NodeJS.ProcessEnv = { LOCAL_DIR: dir, SIMULATOR_URL: '', MONGODB_URI: '' };
    findService(environment);
    expect(environment).to.include({
      MONGODB_URI: demo.mongodb_uri,
      REDIS_URL: demo.redis_url,
      SIMULATOR_URL: demo.simulator_url,
    });
    fs.rmSync(dir, { recursive: true });
  });
});
