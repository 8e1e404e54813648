import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseEnv } from '../../config/env.js';

const lines = readFileSync('.env.example', 'utf8').split('\n');
const required = { MONGODB_URI: 'mongodb://host/topup?replicaSet=rs0', REDIS_URL: 'redis://host' };
/** Only the start scripts read these variables. The configuration does not contain them. */
const ofScripts = ['INSTALL_REDIS', 'LOCAL_DIR'];

function variables(): Record<string, string> {
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

describe('.env.example', () => {
  it('contains exactly the variables of the configuration', () => {
    const known = Object.keys(parseEnv(required));
    expect(Object.keys(variables())).to.have.members([...known, ...ofScripts]);
  });

  it('shows the default of every variable', () => {
    expect(parseEnv({ ...variables(), ...required })).to.deep.equal(parseEnv(required));
  });

  it('explains each variable in the line above it', () => {
    lines.forEach((line, index) => {
      if (/^[A-Z_]+=/.test(line)) {
        expect(lines[index - 1], line).to.match(/^# \S/);
      }
    });
  });
});
