/** The quick-start of each client, run as its reader does. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createClient, type Client } from '../../packages/client-node/src/client.js';
import { projectRoot } from '../../config/project-file.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';
import { badNetwork } from './support/bad-network.js';
import { languages, type Language } from './support/drivers.js';

describe('The quick-starts', function () {
  this.timeout(60_000);
  let stack: Stack;
  let key: string;
  let client: Client;
  /** What the account had before. */
  const webhookUrl = 'https://shop.example/hooks/topup';

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'webhooks'] });
    key = (await stack.seed())['buyer']?.api_key ?? '';
    client = createClient({ baseUrl: stack.baseUrl, apiKey: key });
  });
  beforeEach(() => client.call('updateBuyerConfig', { body: { webhook_url: webhookUrl } }));
  after(() => stack.stop());

  const run = ({ quickStart: { file, command } }: Language, args: string[]) => {
    const [program = '', ...options] = command;
    return promisify(execFile)(program, [...options, join(projectRoot, file), ...args]);
  };
  const isPutBack = async (stderr: string) => {
    expect(stderr).to.include(`webhook_url is ${webhookUrl} again.\n`);
    expect((await client.call('getBuyerConfig')).webhook_url).to.equal(webhookUrl);
  };

  for (const language of languages) {
    (language.isHere ? describe : describe.skip)(language.name, () => {
      it('comes from a key to a verified webhook, and puts the webhook_url of the account back', async () => {
        const { stdout, stderr } = await run(language, [stack.baseUrl, key, uniqueRef('quick')]);
        expect(JSON.parse(stdout))
          .to.include({ status: 'success' })
          .and.to.have.property('sn')
          .that.is.a('string');
        await isPutBack(stderr);
      });

      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        it(`puts it back on ${signal} as well, over a second Ctrl-C and lost answers`, async () => {
          const onCall = (body: string) => {
            if (body.includes('deposit-')) {
              quickStart.child.kill(signal);
            } else if (body.includes(webhookUrl)) {
              quickStart.child.kill('SIGINT');
            }
          };
          // Key, webhook_url, deposit; then it is put back, at the third try.
          const untilThen = ['answered', 'answered', 'answered'] as const;
          const fates = [...untilThen, 'silent', 'proxy page', 'answered'] as const;
          const network = await badNetwork(stack.baseUrl, [...fates], onCall);
          const refId = uniqueRef('quick');
          const quickStart = run(language, [network.url, key, refId]);
          const ended = await quickStart.catch(
            (error: unknown) => error as { stdout: string; stderr: string },
          );
          network.close();
          expect(ended).to.be.an('error').and.to.include({ stdout: '' });
          await isPutBack(ended.stderr);
          expect(network.seen).to.have.length(fates.length);
          expect(
            await stack.db.collection('transactions').countDocuments({ refId }),
            'bought after it',
          ).to.equal(0);
        });
      }

      it('buys nothing after Ctrl-C in the middle of the purchase, whose answer is lost', async () => {
        const onCall = (body: string) => body.includes('081234561230') && quickStart.child.kill('SIGINT');
        const network = await badNetwork(
          stack.baseUrl,
          ['answered', 'answered', 'answered', 'silent', 'answered'],
          onCall,
        );
        const refId = uniqueRef('quick');
        const quickStart = run(language, [network.url, key, refId]);
        const ended = await quickStart.catch((error: unknown) => error as { stderr: string });
        network.close();
        await isPutBack(ended.stderr);
        expect(network.seen, 'key, webhook_url, deposit, purchase, put back').to.have.length(5);
        expect(await stack.db.collection('transactions').countDocuments({ refId })).to.equal(0);
      });

      it('puts it back behind its own first change, when Ctrl-C comes in the middle of that', async () => {
        let toldNext: () => void = () => undefined;
        const next = new Promise<void>((resolve) => (toldNext = resolve));
        const onCall = (body: string) => {
          if (body.includes('127.0.0.1')) {
            quickStart.child.kill('SIGINT');
            // Who breaks it off and puts back at once is overtaken by it.
            return Promise.race([next, delay(1_500)]);
          }
          if (body.includes(webhookUrl)) {
            toldNext();
          }
          return undefined;
        };
        const network = await badNetwork(stack.baseUrl, ['answered'], onCall);
        const quickStart = run(language, [network.url, key, uniqueRef('quick')]);
        const ended = await quickStart.catch((error: unknown) => error as { stderr: string });
        await eventually('every call to be through', () => Promise.resolve(network.isIdle()));
        network.close();
        await isPutBack(ended.stderr);
      });

      it('says how it is used', async () => {
        const ended = await run(language, [stack.baseUrl, key]).catch(
          (error: unknown) => error as { stdout: string; stderr: string; code: number },
        );
        expect(ended).to.include({ code: 1, stdout: '' });
        expect(ended.stderr)
          .to.match(/<buyer key> <ref_id>/)
          .and.to.have.length.below(150);
      });

      it('says in one sentence what to do about a wrong key', async () => {
        for (const wrong of ['bk_test_wrong', '<API_KEY>']) {
          const ended = await run(language, [stack.baseUrl, wrong, uniqueRef('quick')]).catch(
            (error: unknown) => error as { stdout: string; stderr: string; code: number },
          );
          expect(ended).to.include({ code: 1, stdout: '' });
          expect(ended.stderr).to.match(/^Give a buyer's key \(bk_test_…\) of this service: .+\n$/);
        }
      });
    });
  }
});
