/**
 * The clients at /docs/clients, downloaded and run without the repository, as a reader of /docs
 * does.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { clientFiles } from '../../src/api/docs/client-files.js';
import { listDocPages } from '../../src/api/docs/doc-pages.js';
import { languages } from '../client/support/drivers.js';
import { uniqueRef } from '../support/api-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { requireTool } from '../support/require-tool.js';

const run = promisify(execFile);

describe('/docs/clients', function () {
  this.timeout(120_000);
  let stack: Stack;
  let key: string;
  let folder: string;

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'webhooks'] });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    folder = await mkdtemp(join(tmpdir(), 'topup-reader-'));
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  const served = async (path: string) => {
    const answer = await fetch(`${stack.baseUrl}${path}`);
    expect(answer.status, path).to.equal(200);
    return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  /** Returns the code blocks of a page, in the form that a reader copies. */
  const snippetsOf = async (path: string, baseUrl = stack.baseUrl): Promise<string[]> =>
    [...(await (await fetch(`${baseUrl}${path}`)).text()).matchAll(/<pre[^>]*><code>([^]*?)<\/code>/g)].map(
      ([, text = '']) =>
        text
          .replace(/&lt;/g, '<')
          .replace(/&gt;/g, '>')
          .replace(/&quot;/g, '"')
          .replace(/&#0?39;|&#x27;/g, "'")
          .replace(/&amp;/g, '&'),
    );

  it("serves each file as in the repository, with this service's URL in call files", async () => {
    const behind = await stack.startWeb({ BASE_URL: 'https://pulsa.example/' });
    for (const [name, file] of Object.entries(clientFiles)) {
      const { type, bytes } = await served(`/docs/clients/${name}`);
      const own = await readFile(join(projectRoot, file));
      if (['topup.http', 'topup.postman_collection.json'].includes(name)) {
        const text = own.toString();
        expect(text.match(/http:\/\/127\.0\.0\.1:3000/g), name).to.have.length(1);
        const at = (address: string) => text.replace('http://127.0.0.1:3000', address);
        expect(bytes.toString(), name).to.equal(at(stack.baseUrl));
        const there = await fetch(`${behind.url}/docs/clients/${name}`);
        expect(await there.text(), name).to.equal(at('https://pulsa.example'));
      } else {
        expect(bytes.equals(own), name).to.equal(true);
      }
      expect(type, name).to.match(/^(text\/plain; charset=utf-8|application\/(json|gzip).*)$/);
    }
    expect((await fetch(`${stack.baseUrl}/docs/clients/..%2f..%2fpackage.json`)).status).to.equal(404);
    expect((await fetch(`${stack.baseUrl}/docs/clients/constructor`)).status).to.equal(404);
  });

  it('the guides link to the call files and the clients', async () => {
    for (const name of ['topup.http', 'topup.postman_collection.json']) {
      for (const guide of ['tutorials/first-webhook-node', 'tutorials/first-purchase']) {
        const page = (await served(`/docs/${guide}`)).bytes.toString();
        expect(page, guide).to.include(`href="/docs/clients/${name}"`);
      }
    }
  });

  it('the package contains exactly the files of the client', async () => {
    await writeFile(join(folder, 'package.tgz'), (await served('/docs/clients/topup-client.tgz')).bytes);
    await run('tar', ['-xzf', 'package.tgz'], { cwd: folder });
    const source = join(projectRoot, 'packages/client-node');
    const built = (await readdir(join(source, 'dist'))).map((file) => join('dist', file));
    const wanted = ['README.md', 'package.json', ...built].sort();
    const found = await readdir(join(folder, 'package'), { recursive: true, withFileTypes: true });
    expect(found.filter((each) => each.isFile()).length).to.equal(wanted.length);
    for (const file of wanted) {
      const packed = await readFile(join(folder, 'package', file));
      expect(packed.equals(await readFile(join(source, file))), file).to.equal(true);
    }
  });

  it("every example call uses the reader's URL or BASE_URL", async () => {
    const behind = await stack.startWeb({ BASE_URL: 'https://pulsa.example/' });
    const foundAt = async (baseUrl: string, wanted: string) => {
      let calls = 0;
      for (const { name } of listDocPages()) {
        const snippets = (await snippetsOf(`/docs/${name}`, baseUrl)).join('\n');
        expect(snippets, name).to.not.match(/127\.0\.0\.1:3000|topup\.example/);
        for (const [line] of snippets.matchAll(/^.*(?:curl -|^BASE=|<API_KEY> order).*$/gm)) {
          calls++;
          const named = /https?:\/\/[^/\s]+/.exec(line.replace(/\$BASE\b/, wanted))?.[0];
          expect(named, line).to.equal(wanted);
        }
      }
      return calls;
    };
    expect(await foundAt(stack.baseUrl, stack.baseUrl)).to.be.above(15);
    expect(await foundAt(behind.url, 'https://pulsa.example')).to.be.above(15);
  });

  for (const { name, needs, quickStart } of languages) {
    it(`${name}: the quick start's commands run as copied from the page`, async function () {
      requireTool(this, needs);
      const program = quickStart.file.split('/').at(-1) ?? '';
      const pages = listDocPages().filter((page) => page.name.startsWith('tutorials/'));
      const snippets = (await Promise.all(pages.map((page) => snippetsOf(`/docs/${page.name}`)))).flat();
      const commands = snippets.find((each) => each.includes('curl -fsO') && each.includes(program)) ?? '';
      const own = await mkdtemp(join(folder, 'empty-'));
      const ref = uniqueRef('reader');
      const { stdout } = await run(
        'sh',
        ['-e', '-c', commands.replace('<API_KEY>', key).replace(/order-\d/, ref)],
        { cwd: own, env: { ...process.env, npm_config_offline: 'true', npm_config_loglevel: 'silent' } },
      );
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).to.include({ status: 'success' });
    });
  }

  it('the image contains every served file', async () => {
    const [image = ''] = (await readFile(join(projectRoot, 'Dockerfile'), 'utf8')).split(/^FROM /m).slice(-1);
    const copied = [...image.matchAll(/^COPY (?:--from=build )?(?:\/app\/)?(\S+) \S+$/gm)].map(
      ([, from = '']) => from,
    );
    for (const file of Object.values(clientFiles)) {
      expect(
        copied.some((from) => file === from || file.startsWith(`${from}/`)),
        file,
      ).to.equal(true);
    }
  });
});
