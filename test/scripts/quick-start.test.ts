/**
 * Follows the tutorial from a fresh copy of the repository to a verified webhook: `npm start`, its
 * API key, and the quick starts in docs/tutorials/first-webhook-node.md. The packages are copied
 * instead of installed, because a test must not need a network.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { languages } from '../client/support/drivers.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import { startCopy, type ServiceCopy } from './service-copy.js';
import { hasTool } from '../support/require-tool.js';

const run = promisify(execFile);
const { isPlayed, limitMs } = sizes.quickStart;
/**
 * Names that are not copied, at any depth, because a clone does not contain them. Links between
 * packages point into the copy.
 */
const notCloned = ['.git', '.local', '.cache', 'coverage', 'dist'];

(isPlayed ? describe : describe.skip)('the quick start from a fresh copy', function () {
  this.timeout(2 * limitMs);
  let folder: string;
  let copy: ServiceCopy | null = null;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'topup-fresh-'));
    cpSync(projectRoot, folder, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => {
        const [top = '', ...below] = relative(projectRoot, from).split(sep);
        const names =
          top === 'node_modules' ? below.slice(0, 1).filter((each) => each === '.cache') : [top, ...below];
        return !names.some((each) => notCloned.includes(each));
      },
    });
  });
  after(async () => {
    await copy?.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('verifies a webhook with each client within five minutes of npm start', async () => {
    const startedAt = performance.now();
    expect(existsSync(join(folder, 'dist'))).to.equal(false);
    copy = startCopy(
      {
        LOCAL_DIR: join(folder, '.local'),
        // Let the copy use its own databases, ports and names.
        MONGODB_URI: undefined,
        REDIS_URL: undefined,
        QUEUE_PREFIX: undefined,
        SIMULATOR_URL: undefined,
        SIMULATOR_PORT: '0',
        INBOX_PORT: '0',
      },
      { byNpm: true, cwd: folder, waitMs: limitMs },
    );
    const demo = await copy.ready();
    const key = demo.accounts['buyer']?.api_key ?? '';
    expect(key).to.match(/^bk_test_/);
    const here = languages.filter(({ needs }) => hasTool(needs));
    expect(here.map(({ name }) => name)).to.include('packages/client-node');
    for (const { name, quickStart } of here) {
      const [program = '', ...options] = quickStart.command;
      const file = join(folder, quickStart.file);
      const { stdout } = await run(program, [...options, file, demo.base_url, key, uniqueRef('fresh')]);
      const result = JSON.parse(stdout) as { status: string; sn: unknown };
      expect(result.status, name).to.equal('success');
      expect(result.sn, name).to.be.a('string');
    }
    expect(performance.now() - startedAt).to.be.below(limitMs);
  });
});
