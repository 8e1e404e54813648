import { randomUUID } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { languages } from '../client/support/drivers.js';
import { hmacSign, md5Sign } from '../api/support/reseller.js';
import { textOfPages } from '../support/docs-pages.js';
import { requireTool } from '../support/require-tool.js';

const signers = [
  { name: 'js', file: 'sign.mjs', command: [process.execPath], needs: null },
  { name: 'php', file: 'sign.php', command: ['php'], needs: 'php' },
  { name: 'python', file: 'sign.py', command: ['python3'], needs: 'python3' },
  { name: 'go', file: 'sign.go', command: ['go', 'run'], needs: 'go' },
] as const;

describe('docs/guides/integrate', () => {
  const document = describedInterface();
  let text: string;
  let directory: string;

  before(async () => {
    text = textOfPages('guides/integrate');
    directory = await mkdtemp(join(tmpdir(), 'integration-docs-'));
  });
  after(() => rm(directory, { recursive: true }));

  const programOf = (marker: string, language: string): string => {
    const found = new RegExp(`<!-- ${marker} -->\\n\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
    expect(found, `${marker} in ${language}`).to.be.a('string');
    return found ?? '';
  };

  for (const { name, file, command, needs } of signers) {
    it(`the ${name} example makes both signs`, async function () {
      const [program = '', ...args] = command;
      const source = programOf('sign', name);
      requireTool(this, needs);
      const path = join(directory, file);
      await writeFile(path, source);
      const signsOf = (...values: string[]) => {
        const ran = spawnSync(program, [...args, path, ...values], {
          encoding: 'utf8',
          env: { ...process.env, GOCACHE: join(projectRoot, 'node_modules/.cache/go') },
        });
        expect(ran.status, ran.stderr).to.equal(0);
        return ran.stdout.trim().split('\n');
      };
      expect(signsOf('username', 'apikey', 'S10', '081234561230', 'some1d')[0]).to.equal(
        'e116257bcba6185d963a62f9d05d240e',
      );
      const signing = { username: 'toko-maju', key: 'bk_test_abc' };
      expect(signsOf(signing.username, signing.key, 'ML86', '12345678|2001', 'a.b:c-1')).to.deep.equal([
        md5Sign(signing, 'a.b:c-1'),
        hmacSign(signing, 'ML86|12345678|2001|a.b:c-1'),
      ]);
    });
  }

  /**
   * Runs the retry example against a server that returns these responses in order and repeats the
   * last one. Null closes the connection. Returns the output, the exit code and the number of
   * attempts.
   */
  const retried = async (answers: ({ status: number; body: string } | null)[]) => {
    // Each run gets its own file: runs are concurrent, and a run could otherwise read a file that
    // another is writing.
    const path = join(directory, `retry-${randomUUID()}.mjs`);
    await writeFile(path, programOf('retry', 'js'));
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      void (async () => {
        let body = '';
        for await (const chunk of request) {
          body += String(chunk);
        }
        const answer = answers[Math.min(bodies.length, answers.length - 1)];
        bodies.push(body);
        if (answer) {
          response.writeHead(answer.status, { 'retry-after': '0' }).end(answer.body);
        } else {
          request.socket.destroy();
        }
      })();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const child = spawn(process.execPath, [path, url, 'key', 'S10', '081234561230', 'order-7']);
    let [printed, complained] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()));
    const [exitCode] = (await once(child, 'close')) as [number];
    server.close();
    const purchase = { product_code: 'S10', destination: '081234561230', ref_id: 'order-7' };
    expect(bodies.map((each) => JSON.parse(each) as unknown)).to.deep.equal(bodies.map(() => purchase));
    return { exitCode, printed, complained, tries: bodies.length };
  };
  const refusal = (status: number, reason: string) => ({
    status,
    body: JSON.stringify({ status: 'error', code: '04', reason, data: null }),
  });
  const bought = {
    status: 200,
    body: '{"status":"success","code":"05","data":{"ref_id":"order-7","status":"PENDING"}}',
  };

  it('the retry example retries temporary refusals and stops at a final one', async () => {
    const ended = await retried([
      refusal(503, 'product_busy'),
      refusal(429, 'rate_limited'),
      refusal(422, 'invalid_customer_number'),
    ]);
    expect(ended).to.include({ exitCode: 0, tries: 3 });
    expect(JSON.parse(ended.printed)).to.include({ reason: 'invalid_customer_number' });
  });

  it('the retry example retries an unknown outcome and trusts no later refusal', async () => {
    const open = [
      null,
      refusal(503, 'service_unavailable'),
      refusal(500, 'internal_error'),
      { status: 403, body: '{"status":"error","message":"blocked"}' },
      { status: 200, body: '<h1>Hello</h1>' },
    ];
    const ended = await Promise.all(
      open.map(async (each) => {
        const again = await retried([each, bought]);
        expect(again).to.include({ exitCode: 0, tries: 2 });
        expect(JSON.parse(again.printed)).to.have.nested.property('data.ref_id', 'order-7');
        return retried([each, refusal(402, 'insufficient_balance')]);
      }),
    );
    for (const each of ended) {
      expect(each).to.include({ exitCode: 1, printed: '', tries: 2 });
      expect(each.complained).to.include('The outcome of order-7 is not known yet');
    }
  });

  it('names no call that does not exist', () => {
    const templates = Object.keys(document.paths).map(
      (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    );
    const named = [...text.matchAll(/(?<![\w/])\/(?:v1|api\/(?:buyer|seller|reseller))\/[\w/<>-]+/g)].map(
      ([path]) => path,
    );
    expect(named.length).to.be.greaterThan(10);
    for (const path of named) {
      expect(
        templates.some((each) => each.test(path)),
        path,
      ).to.equal(true);
    }
  });

  it('names every code that a call can return', () => {
    const statuses = Object.values(document.components.responses).map(({ content }) => content);
    for (const { 'application/json': json } of statuses) {
      expect(text).to.include(`\`${String(json?.schema.allOf?.[1]?.properties?.['code']?.const)}\``);
    }
  });
});

describe('docs/tutorials', () => {
  it('shows the programs that test/client runs', async () => {
    const text = textOfPages('tutorials');
    const shown = [...text.matchAll(/<!-- (\S+) -->\n```\w+\n([\s\S]*?)```/g)];
    expect(shown.map(([, file]) => file)).to.have.members(languages.map(({ quickStart }) => quickStart.file));
    for (const [, file = '', program] of shown) {
      expect(program, file).to.equal(await readFile(file, 'utf8'));
    }
  });
});

describe('topup.http', () => {
  it('has every operation', async () => {
    const text = await readFile(getBuiltProgramPath('generated/topup.http'), 'utf8');
    for (const item of Object.values(describedInterface().paths)) {
      for (const { operationId } of Object.values(item)) {
        expect(text).to.include(`# @name ${operationId}\n`);
      }
    }
  });
});
