import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { retrySchedule, scheduleSpanMs } from '../../src/webhooks/deliver/retry-schedule.js';
import { buildDeliveryHeaders, decodeSigningKey } from '../../src/webhooks/deliver/sign-delivery.js';
import { textOfPages } from '../support/docs-pages.js';
import { requireTool } from '../support/require-tool.js';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
const hourMs = 3_600_000;
const languages = [
  { name: 'js', file: 'verify.mjs', command: process.execPath, needs: null },
  { name: 'python', file: 'verify.py', command: 'python3', needs: 'python3' },
  { name: 'php', file: 'verify.php', command: 'php', needs: 'php' },
  { name: 'go', file: 'verify.go', command: 'go', needs: 'go' },
] as const;

describe('webhook guides', () => {
  let text: string;
  let directory: string;

  before(async () => {
    text = textOfPages('guides/integrate');
    directory = await mkdtemp(join(tmpdir(), 'webhook-docs-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('show the retry schedule of the code', () => {
    const table = /<!-- schedule -->([\s\S]*?)<!-- \/schedule -->/.exec(text)?.[1] ?? '';
    const documented = [...table.matchAll(/^\| *(\d+) *\| *(.+?) *\|$/gm)].map(
      ([, n, wait]) => `${n} ${wait}`,
    );
    expect(documented).to.deep.equal(retrySchedule.map(({ words }, index) => `${index + 1} ${words}`));
    expect(text).to.include(`about ${Math.round(scheduleSpanMs / hourMs)} hours`);
    for (const { waitMs, words } of retrySchedule.slice(1)) {
      const [, amount, unit = ''] = /^(\d+) (s|min|h)$/.exec(words) ?? [];
      expect(Number(amount) * ({ s: 1_000, min: 60_000, h: hourMs }[unit] ?? 0), words).to.equal(waitMs);
    }
  });

  for (const { name, file, command, needs } of languages) {
    it(`the ${name} example accepts a genuine message and refuses a changed, foreign or old one`, async function () {
      requireTool(this, needs);
      const code = new RegExp(`<!-- verify -->\\n\`\`\`${name}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
      expect(code).to.be.a('string');
      const path = join(directory, file);
      await writeFile(path, code ?? '');
      // Only the Go example is compiled before it runs.
      const program = name === 'go' ? join(directory, 'verify') : command;
      if (name === 'go') {
        const env = { ...process.env, GOCACHE: join(projectRoot, 'node_modules/.cache/go') };
        const built = spawnSync(command, ['build', '-o', program, path], { env, encoding: 'utf8' });
        expect(built.status, built.stderr).to.equal(0);
      }
      const raw = JSON.stringify({ event: 'ping', data: { name: 'Wärung 🍜' } });
      const keys = [otherSecret, secret].map(decodeSigningKey);
      const headers = buildDeliveryHeaders({ _id: 'm1', event: 'ping', body: raw, attemptCount: 0 }, keys);
      const exitCode = (message: object, using = secret) =>
        spawnSync(program, [...(name === 'go' ? [] : [path]), using], {
          input: JSON.stringify(message),
        }).status;
      expect(exitCode({ headers, raw })).to.equal(0);
      expect(exitCode({ headers, raw: raw.replace('ping', 'pong') })).to.equal(1);
      expect(exitCode({ headers, raw }, `whsec_${Buffer.alloc(32, 9).toString('base64')}`)).to.equal(1);
      const old = String(Math.floor(Date.now() / 1_000) - 301);
      expect(exitCode({ headers: { ...headers, 'webhook-timestamp': old }, raw })).to.equal(1);
    });
  }
});
