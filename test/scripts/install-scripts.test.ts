import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { installScriptMistakes, type Lock } from '../../scripts/install-scripts.js';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  allowScripts: Record<string, boolean>;
};
const npmrc = readFileSync('.npmrc', 'utf8');

describe('install scripts of dependencies', () => {
  it('are disabled, and every package with one is listed', () => {
    expect(installScriptMistakes(lock, manifest, npmrc)).to.deep.equal([]);
  });

  it('are reported if new, stale, allowed or enabled', () => {
    const packages = { ...lock.packages, 'node_modules/a/node_modules/@x/miner': { hasInstallScript: true } };
    const [found, ...more] = installScriptMistakes({ packages }, manifest, npmrc);
    expect(found).to.match(/^@x\/miner has an install script/);
    expect(more).to.deep.equal([]);
    const listed = { allowScripts: { ...manifest.allowScripts, gone: false } };
    expect(installScriptMistakes(lock, listed, npmrc)).to.have.length(1);
    const allowed = { allowScripts: { ...manifest.allowScripts, esbuild: true } };
    expect(installScriptMistakes(lock, allowed, npmrc)).to.have.length(1);
    expect(installScriptMistakes(lock, manifest, 'fund=false')).to.have.length(1);
  });
});
