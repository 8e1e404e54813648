/**
 * From nothing to a verified webhook, as a newcomer goes: the files of the repository in a folder of their own, `npm start`, the key
 * that it leaves, the quick-starts of docs/tutorials/first-webhook-node.md. The packages are copied beside them, for a test must not need a network.
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
import { startCopy, type Copy } from './copy.js';
import { hasTool } from '../support/require-tool.js';

const run = promisify(execFile);
const { isPlayed, limitMs } = sizes.quickStart;
/** What a clone does not have, at any depth. Links among the packages lead into the copy's own. */
const notCloned = ['.git', '.local', '.cache', 'coverage', 'dist'];

(isPlayed ? describe : describe.skip)('the quick-start, from nothing', function () {
  this.timeout(2 * limitMs);
  let folder: string;
  let copy: Copy | null = null;

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

  it('npm start, and a verified webhook with each client that runs here, within five minutes', async () => {
    const startedAt = performance.now();
    expect(existsSync(join(folder, 'dist'))).to.equal(false);
    copy = startCopy(
      {
        LOCAL_DIR: join(folder, '.local'),
        // Databases, ports and names of its own, whatever this test runs on.
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
      const told = JSON.parse(stdout) as { status: string; sn: unknown };
      expect(told.status, name).to.equal('success');
      expect(told.sn, name).to.be.a('string');
    }
    expect(performance.now() - startedAt).to.be.below(limitMs);
  });
});
