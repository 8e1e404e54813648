import { createHmac } from 'node:crypto';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { createIakAdapter } from '../../src/providers/iak.js';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { setClock } from '../../src/shared/clock.js';
import { startSimulator } from '../support/simulator.js';
import { eventually } from '../support/eventually.js';
import { describeConformance, orderOf, type Harness } from './conformance.js';
import { startDigiflazzServer } from './digiflazz-server.js';
import { startIakServer } from './iak-server.js';

const phone = (ending: string) => ({ productCode: 'S10', customerNumber: `08123456${ending}` });
const bill = (ending: string) => ({ productCode: 'PLNPASCA', customerNumber: `53000000${ending}` });

function h2h(kind: 'h2h' | 'simulator', signWith: 'hmac' | 'md5') {
  return async (): Promise<Harness> => {
    const simulator = await startSimulator();
    const adapter = createH2hAdapter(kind);
    const connection: ProviderConnection = {
      sellerId: 'seller',
      baseUrl: kind === 'h2h' ? `${simulator.url}/api/reseller` : simulator.url,
      username: `conformance-${kind}-${signWith}`,
      secret: simulator.secret,
      signWith,
    };
    await simulator.control({ pending_ms: 300 });
    return {
      adapter,
      connection,
      prepaid: {
        success: phone('1230'),
        refused: phone('1232'),
        pendingSuccess: phone('1233'),
        pendingRefused: phone('1234'),
        silent: phone('1235'),
      },
      postpaid: { success: bill('1240'), noBill: bill('1243'), changed: bill('1244') },
      executions: async (providerRef) => (await simulator.log({ ref_id: providerRef })).length,
      async finish() {
        const order = orderOf(phone('1233'));
        await adapter.buy(connection, order);
        await eventually('the pending order is final', async () => {
          return (await adapter.inquire(connection, order)).outcome === 'success';
        });
      },
      callback(providerRef) {
        const raw = Buffer.from(JSON.stringify({ ref_id: providerRef, status: 'success', sn: '1' }));
        const hex = createHmac('sha256', simulator.secret).update(raw).digest('hex');
        return Promise.resolve({ raw, headers: { 'x-signature': `sha256=00 sha256=${hex}` } });
      },
      async stop() {
        await simulator.stop();
      },
    };
  };
}

describeConformance('h2h', h2h('h2h', 'hmac'));
describeConformance('h2h, signing with md5', h2h('h2h', 'md5'));
describeConformance('simulator', h2h('simulator', 'hmac'));

describeConformance('digiflazz', async () => {
  const server = await startDigiflazzServer();
  const xl = (customerNumber: string) => ({ productCode: 'xld10', customerNumber });
  const pln = (customerNumber: string) => ({ productCode: 'pln', customerNumber });
  server.silentFor.add('087800001299');
  return {
    adapter: createDigiflazzAdapter(() => undefined),
    connection: {
      sellerId: 'seller',
      baseUrl: server.url,
      username: server.username,
      secret: server.apiKey,
      callbackSecret: server.webhookSecret,
    },
    prepaid: {
      success: xl('087800001230'),
      refused: xl('087800001232'),
      pendingSuccess: xl('087800001233'),
      pendingRefused: xl('087800001234'),
      silent: xl('087800001299'),
    },
    postpaid: { success: pln('530000000001'), noBill: pln('530000000003'), changed: pln('530000000002') },
    executions: (providerRef) => Promise.resolve(server.executions(providerRef)),
    finish() {
      server.finish();
      return Promise.resolve();
    },
    callback: (providerRef) => Promise.resolve(server.webhook(providerRef)),
    async stop() {
      setClock(null);
      await server.stop();
    },
  };
});

describeConformance('iak', async () => {
  const server = await startIakServer();
  const xl = (customerNumber: string) => ({ productCode: 'xld25000', customerNumber });
  const pln = (customerNumber: string) => ({ productCode: 'PLNPOSTPAID', customerNumber });
  server.silentFor.add('0817777299');
  for (const customerNumber of ['0817777233', '0817777234']) {
    server.slowFor.add(customerNumber);
  }
  return {
    adapter: createIakAdapter(() => undefined),
    connection: {
      sellerId: 'seller',
      baseUrl: server.url,
      username: server.username,
      secret: server.apiKey,
    },
    prepaid: {
      success: xl('0817777230'),
      refused: xl('0817777232'),
      pendingSuccess: xl('0817777233'),
      pendingRefused: xl('0817777234'),
      silent: xl('0817777299'),
    },
    postpaid: { success: pln('530000000001'), noBill: pln('530000000010'), changed: pln('530000000002') },
    executions: (providerRef) => Promise.resolve(server.executions(providerRef)),
    finish() {
      server.slowFor.clear();
      return Promise.resolve();
    },
    callback: (providerRef) => Promise.resolve({ raw: server.callback(providerRef), headers: {} }),
    isAsynchronous: true,
    signsOnlyReference: true,
    stop: () => server.stop(),
  };
});
