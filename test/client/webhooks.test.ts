/** The clients of all languages accept webhooks of the service and refuse forged ones. */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import { expect } from 'chai';
import { projectRoot } from '../../config/project-file.js';
import { verifyWebhook, WebhookError, webhookReceiver } from '../../packages/client-node/src/webhooks.js';
import { languages, type Driver } from './support/drivers.js';
import { toExpectedEvent, vectors, toVerifyInput } from './support/vectors.js';
import { describeWith } from '../support/require-tool.js';

describe('clients and webhooks', () => {
  for (const language of languages) {
    describeWith(language.needs, language.name, () => {
      let driver: Driver;

      before(() => {
        driver = language.start();
      });
      after(() => driver.stop());

      it('accepts or refuses each of clients/webhook-vectors.json, for the right reason', async () => {
        const words = {
          signature: 'Wrong signature',
          time: 'was not signed within',
          header: 'is missing',
        };
        for (const vector of vectors) {
          const result = await driver.play({ do: 'verify', with: toVerifyInput(vector) });
          if (vector.refused === null) {
            expect(result, vector.name).to.have.property('ok').that.deep.includes(toExpectedEvent(vector));
          } else {
            expect(result, vector.name).to.include({ error: 'forged' });
            const wanted = words[vector.refused];
            expect(result, vector.name).to.have.property('message').that.includes(wanted);
          }
        }
      });

      it('refuses a correctly signed body that is not a JSON object', async () => {
        const [genuine] = vectors.filter(({ refused }) => refused === null);
        const { headers, ...message } = toVerifyInput(genuine ?? expect.fail('no genuine vector'));
        const key = Buffer.from(message.secret.slice('whsec_'.length), 'base64');
        for (const body of [
          '[1]',
          ' [{"event":"ping"}]',
          'null',
          '1',
          '"text"',
          '',
          '{"event":',
          '['.repeat(100_000),
        ]) {
          const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
          const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
          const result = await driver.play({
            do: 'verify',
            with: { ...message, body, headers: { ...headers, 'webhook-signature': signature } },
          });
          expect(result, body.slice(0, 20)).to.include({
            error: 'forged',
            message: 'The body is not a JSON object.',
          });
        }
      });

      it('accepts headers in any case and as lists of values', async () => {
        const [genuine] = vectors.filter(({ refused }) => refused === null);
        const { headers, ...message } = toVerifyInput(genuine ?? expect.fail('no genuine vector'));
        const capital = (name: string) => name.replace(/(^|-)[a-z]/g, (each) => each.toUpperCase());
        const shapes: Record<string, (name: string, value: string) => [string, string | string[]]> = {
          'Webhook-Id': (name, value) => [capital(name), value],
          'WEBHOOK-ID': (name, value) => [name.toUpperCase(), value],
          lists: (name, value) => [name, [value]],
          'lists under Webhook-Id': (name, value) => [capital(name), [value]],
        };
        for (const [shape, of] of Object.entries(shapes)) {
          const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => of(name, value)));
          const result = await driver.play({ do: 'verify', with: { ...message, headers: given } });
          expect(result, shape).to.have.nested.property('ok.id', headers['webhook-id']);
          const [name] = of('webhook-id', '');
          const twice = { ...given, [name]: [headers['webhook-id'], 'another'] };
          const forged = await driver.play({ do: 'verify', with: { ...message, headers: twice } });
          expect(forged, `${shape}, two ids`).to.include({ error: 'forged' });
        }
      });
    });
  }
});

describeWith('go', 'clients/go', function () {
  this.timeout(120_000);

  it('passes its tests, which use clients/webhook-vectors.json', async () => {
    const env = { ...process.env, GOCACHE: join(projectRoot, 'node_modules/.cache/go') };
    const cwd = join(projectRoot, 'clients/go');
    const { stdout } = await promisify(execFile)('go', ['test', '-count=1', './...'], { cwd, env });
    expect(stdout).to.match(/^ok/);
  });
});

describe('packages/client-node/src/webhooks.ts', () => {
  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes !!!').toString('base64')}`;
  const body = JSON.stringify({
    event: 'ping',
    data: { message: 'é' },
    timestamp: '2024-03-01T05:06:07.000Z',
  });
  const signed = (at = Date.now() / 1_000, over: Record<string, string> = {}) => {
    const [id, timestamp] = ['msg_1', String(Math.floor(at))];
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    return { headers: { ...headers, 'x-event': 'ping', ...over }, body };
  };

  it('accepts bytes and text, and refuses an empty secret', () => {
    const message = signed();
    expect(verifyWebhook(message, { secret })).to.include({ id: 'msg_1', name: 'ping' });
    expect(verifyWebhook({ ...message, body: Buffer.from(body) }, { secret }).name).to.equal('ping');
    expect(() => verifyWebhook(signed(), { secret: '' })).to.throw(TypeError);
  });

  it('accepts fetch headers, a Map and pairs', () => {
    const { headers } = signed();
    const capital = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value] as const);
    for (const given of [new Headers(headers), new Map(capital), capital]) {
      expect(verifyWebhook({ headers: given, body }, { secret })).to.include({ id: 'msg_1', name: 'ping' });
    }
    expect(() => verifyWebhook({ headers: new Headers(), body }, { secret })).to.throw(
      WebhookError,
      'The header webhook-id is missing.',
    );
  });

  it('Express: 401 for a forgery or a parsed body, 500 if the handler throws', async () => {
    const app = express();
    const failing = () => Promise.reject(new Error('the database is away'));
    app.post('/late', express.json(), webhookReceiver({ secret, onEvent: () => undefined }));
    app.post('/raw', express.raw({ type: '*/*' }), webhookReceiver({ secret, onEvent: () => undefined }));
    app.post('/failing', webhookReceiver({ secret, onEvent: failing }));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const send = async (path: string, { headers, body: text } = signed()) => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: text,
      });
      return `${answer.status} ${await answer.text()}`;
    };
    try {
      expect(await send('/raw')).to.equal('200 {"status":"received"}');
      expect(await send('/raw', { ...signed(), body: '{}' })).to.match(/^401 /);
      expect(await send('/late')).to.match(/^401 .*before express\.json/);
      expect(await send('/failing')).to.equal('500 {"status":"error"}');
    } finally {
      server.close();
    }
  });
});
