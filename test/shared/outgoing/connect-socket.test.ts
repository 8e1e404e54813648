/** Connections to names with several addresses, on networks that lose packets. */
import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { connectSocket, type SocketTarget } from '../../../src/shared/outgoing/connect-socket.js';
import { startStoppedServer, type StoppedServer } from '../../support/stopped-server.js';

const v4 = (address: string): LookupAddress[] => [{ address, family: 4 }];
const answerLater = (address: string) =>
  new Promise<LookupAddress[]>((resolve) => {
    setTimeout(() => resolve(v4(address)), 400);
  });
const never = new Promise<LookupAddress[]>(() => undefined);

describe('connecting to a name with several addresses', () => {
  let stopped: StoppedServer;
  let other: Server;

  beforeEach(async () => {
    stopped = await startStoppedServer();
    other = createServer((socket) => socket.on('error', () => undefined));
    other.listen(stopped.port, '127.0.0.2');
    await once(other, 'listening');
  });
  afterEach(async () => {
    other.close();
    await stopped.close();
  });

  const connect = async (target: Pick<SocketTarget, 'lookups' | 'requireAllowed'>) => {
    const startedMs = performance.now();
    const socket = await connectSocket({ port: stopped.port, ...target });
    const result = { address: socket.remoteAddress, tookMs: performance.now() - startedMs };
    socket.destroy();
    return result;
  };

  it('waits for an address over 250 ms away when the others are unreachable', async () => {
    const lookups = [Promise.resolve(v4('127.0.0.1')), Promise.resolve(v4('127.0.0.3'))];
    setTimeout(() => stopped.resume(), 400);
    expect(await connect({ lookups })).to.have.property('address', '127.0.0.1');
  });

  it('tries the next address after 250 ms if the first one does not answer', async () => {
    const lookups = [Promise.resolve(v4('127.0.0.1')), Promise.resolve(v4('127.0.0.2'))];
    const { address, tookMs } = await connect({ lookups });
    expect(address).to.equal('127.0.0.2');
    expect(tookMs).to.be.within(240, 1_500);
  });

  it('connects at once if one family is not answered at all', async () => {
    const { address, tookMs } = await connect({ lookups: [Promise.resolve(v4('127.0.0.2')), never] });
    expect(address).to.equal('127.0.0.2');
    expect(tookMs).to.be.below(1_000);
  });

  it('uses addresses that arrive after the first attempt has started', async () => {
    for (const first of ['127.0.0.1', '127.0.0.3']) {
      const late = answerLater('127.0.0.2');
      const { address } = await connect({ lookups: [Promise.resolve(v4(first)), late] });
      expect(address, `after ${first}`).to.equal('127.0.0.2');
    }
  });

  it('gives each address 5 s', async () => {
    const startedMs = performance.now();
    const error: unknown = await connect({ lookups: [Promise.resolve(v4('127.0.0.1'))] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property('code', 'UND_ERR_CONNECT_TIMEOUT');
    expect(performance.now() - startedMs).to.be.within(4_900, 6_000);
  });

  it('refuses the name if a late address must not be called', async () => {
    const forbidden = new Error('forbidden');
    const error: unknown = await connect({
      lookups: [Promise.resolve(v4('127.0.0.1')), answerLater('127.0.0.2')],
      requireAllowed: (addresses) => {
        if (addresses.some(({ address }) => address === '127.0.0.2')) {
          throw forbidden;
        }
      },
    }).catch((thrown: unknown) => thrown);
    expect(error).to.equal(forbidden);
  });

  it('two calls can share one lookup', async () => {
    const lookup = Promise.resolve(v4('127.0.0.2'));
    const [first, second] = await Promise.all([
      connect({ lookups: [lookup] }),
      connect({ lookups: [lookup] }),
    ]);
    expect([first.address, second.address]).to.deep.equal(['127.0.0.2', '127.0.0.2']);
  });

  it('reports the error of the receiver, not the missing IPv6 of this machine', async () => {
    const noAddress = Promise.reject<LookupAddress[]>(Object.assign(new Error(), { code: 'ENODATA' }));
    noAddress.catch(() => undefined);
    const lookups = [noAddress, Promise.resolve(v4('127.0.0.3'))];
    const error: unknown = await connect({ lookups }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'ECONNREFUSED');
  });
});
