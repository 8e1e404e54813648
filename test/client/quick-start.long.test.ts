/** The quick start of each client, run as its page describes. */
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
import { startFaultyNetwork } from './support/faulty-network.js';
import { languages, type Language } from './support/drivers.js';
import { describeWith, hasTool } from '../support/require-tool.js';

describe('quick starts', () => {
  let stack: Stack;
  let key: string;
  let client: Client;
  /** The account's webhook URL before the run. */
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
  const isAsBefore = async () => {
    expect((await client.call('getBuyerConfig')).webhook_url).to.equal(webhookUrl);
    expect((await client.call('listBuyerEndpoints')).map(({ id }) => id)).to.deep.equal(['default']);
  };
  const endOf = (started: ReturnType<typeof run>) =>
    started.catch((error: unknown) => error as { stdout: string; stderr: string; code: number });

  it('can run concurrently in one account', async () => {
    const here = [...languages, ...languages].filter(({ needs }) => hasTool(needs));
    const ended = await Promise.all(
      here.map((language) => run(language, [stack.baseUrl, key, uniqueRef('quick')])),
    );
    expect(ended.map(({ stdout }) => (JSON.parse(stdout) as { status: string }).status)).to.deep.equal(
      here.map(() => 'success'),
    );
    await isAsBefore();
  });

  for (const language of languages) {
    describeWith(language.needs, language.name, () => {
      it('goes from a key to a verified webhook and restores the account', async () => {
        const { stdout, stderr } = await run(language, [stack.baseUrl, key, uniqueRef('quick')]);
        expect(JSON.parse(stdout))
          .to.include({ status: 'success' })
          .and.to.have.property('sn')
          .that.is.a('string');
        expect(stderr).to.equal('');
        await isAsBefore();
      });

      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        it(`removes its endpoint on ${signal} despite a second Ctrl-C and lost responses`, async () => {
          const onCall = (body: string, line: string) => {
            if (body.includes('deposit-')) {
              quickStart.child.kill(signal);
            } else if (line.startsWith('DELETE')) {
              quickStart.child.kill('SIGINT');
            }
          };
          // The signal must arrive in the pause before the deposit is retried. The first three
          // calls check the key, create the endpoint and send the deposit, whose response is lost.
          // Afterwards the quick start makes three attempts to find and remove the endpoint. At the
          // last one the endpoint is gone.
          const untilThen = ['answered', 'answered', 'lost'] as const;
          const fates = [...untilThen, 'answered', 'silent', 'answered', 'proxy page', 'answered'] as const;
          const network = await startFaultyNetwork(stack.baseUrl, [...fates], onCall);
          const refId = uniqueRef('quick');
          const quickStart = run(language, [network.url, key, refId]);
          const ended = await endOf(quickStart);
          network.close();
          expect(ended).to.be.an('error').and.to.include({ stdout: '' });
          expect(ended.stderr).to.equal('Interrupted.\n');
          await isAsBefore();
          expect(network.seen).to.have.length(fates.length);
          expect(
            await stack.db.collection('transactions').countDocuments({ refId }),
            'purchases after the signal',
          ).to.equal(0);
        });
      }

      it('buys nothing after Ctrl-C during a purchase whose response is lost', async () => {
        const onCall = (body: string) => body.includes('081234561230') && quickStart.child.kill('SIGINT');
        const network = await startFaultyNetwork(
          stack.baseUrl,
          ['answered', 'answered', 'answered', 'silent', 'answered'],
          onCall,
        );
        const refId = uniqueRef('quick');
        const quickStart = run(language, [network.url, key, refId]);
        await endOf(quickStart);
        network.close();
        await isAsBefore();
        expect(network.seen, 'calls: key, endpoint, deposit, purchase, lookup, removal').to.have.length(6);
        expect(await stack.db.collection('transactions').countDocuments({ refId })).to.equal(0);
      });

      it('removes its endpoint if Ctrl-C arrives while it is created', async () => {
        for (const fate of ['answered', 'lost'] as const) {
          let resolveNext: () => void = () => undefined;
          const next = new Promise<void>((resolve) => (resolveNext = resolve));
          const onCall = (body: string) => {
            if (body.includes('127.0.0.1')) {
              quickStart.child.kill('SIGINT');
              // Respond late: a quick start that aborts the creation and immediately looks for the
              // endpoint would not find it.
              return Promise.race([next, delay(1_500)]);
            }
            if (network.seen.length > 2) {
              resolveNext();
            }
            return undefined;
          };
          const network = await startFaultyNetwork(stack.baseUrl, ['answered', fate, 'answered'], onCall);
          const quickStart = run(language, [network.url, key, uniqueRef('quick')]);
          expect(await endOf(quickStart), fate).to.be.an('error');
          await eventually('every call has ended', () => Promise.resolve(network.isIdle()));
          network.close();
          await isAsBefore();
        }
      });

      it('prints its usage', async () => {
        const ended = await endOf(run(language, [stack.baseUrl, key]));
        expect(ended).to.include({ code: 1, stdout: '' });
        expect(ended.stderr)
          .to.match(/<buyer key> <ref_id>/)
          .and.to.have.length.below(150);
      });

      it('explains a wrong key in one sentence', async () => {
        for (const wrong of ['bk_test_wrong', '<API_KEY>']) {
          const ended = await endOf(run(language, [stack.baseUrl, wrong, uniqueRef('quick')]));
          expect(ended).to.include({ code: 1, stdout: '' });
          expect(ended.stderr).to.match(/^Give a buyer's key \(bk_test_…\) of this service: .+\n$/);
        }
      });
    });
  }
});
