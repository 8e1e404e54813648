/**
 * A change is authorized again after its body has arrived, because the session or permission may
 * end while a slow body is sent.
 */
import { once } from 'node:events';
import http from 'node:http';
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { consoleOperations } from '../../src/console/api/operations.js';
import { queueBoardActions } from '../../src/console/queue-actions.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { password, startOperatedStack, type OperatedStack } from './support/operated-stack.js';

const another = 'another horse battery staple';
const bytes = 400;

interface HeldRequest {
  /** Sends the rest of the body. Returns the status and the `data` of the response. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Read by each test.
  go: (body: object) => Promise<{ status: number; data: any }>;
}

describe('a change whose body arrives late', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let admin: Caller;

  before(async () => {
    shop = await startOperatedStack();
    admin = await callerAs(shop, 'admin');
  });
  after(() => shop.stack.stop());

  async function holdRequest(caller: Caller, method: string, path: string): Promise<HeldRequest> {
    const cookies = ['topup_admin', 'XSRF-TOKEN'].map(
      (name) => `${name}=${caller.client.cookie(name) ?? ''}`,
    );
    const request = http.request(`${shop.stack.baseUrl}${path}`, {
      method,
      headers: {
        ...caller.withToken(),
        cookie: cookies.join('; '),
        'content-length': bytes,
        // The server sends "100 Continue" when it starts to handle the request.
        expect: '100-continue',
      },
    });
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
    request.flushHeaders();
    await once(request, 'continue');
    request.write('{');
    // The response to this later call shows that the server has started the first one.
    await caller.call('/me');
    return {
      async go(body) {
        request.end(
          JSON.stringify(body)
            .slice(1)
            .padEnd(bytes - 1),
        );
        const [response] = await answered;
        const text = (await response.toArray()).join('');
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        return {
          status: response.statusCode ?? 0,
          data: isJson ? (JSON.parse(text) as { data: unknown }).data : null,
        };
      },
    };
  }

  const changePasswordOf = async (caller: Caller) => {
    const elsewhere = await callerAs(shop, 'support', caller.username);
    const { status } = await elsewhere.call('/me/password', {
      password,
      new_password: another,
      new_password_again: another,
    });
    expect(status).to.equal(200);
  };

  it('is refused by every operation if the sessions were ended in between', async () => {
    const caller = await callerAs(shop, 'admin');
    const calls = consoleOperations
      .filter(({ method }) => method !== 'get')
      .map(({ method, path }) => [method, `/admin/api${path}`]);
    const actions = Object.keys(queueBoardActions).map((each) => each.split(' '));
    const changes = [...calls, ...actions.map(([method, path]) => [method, `/admin/queues${path ?? ''}`])];
    const heldRequests = await Promise.all(
      changes.map(async ([method = '', path = '']) => ({
        name: `${method} ${path}`,
        ...(await holdRequest(caller, method.toUpperCase(), path.replaceAll(/:\w+/g, 'reports'))),
      })),
    );
    const ended = await admin.call(`/operators/${caller.username}/end-sessions`, { reason, session: null });
    expect(ended.status, ended.text).to.equal(200);
    const statuses = await Promise.all(
      heldRequests.map(async ({ name, go }) => [name, (await go({ reason })).status]),
    );
    expect(statuses.length).to.be.greaterThan(60);
    expect(statuses.filter(([, status]) => status !== 401)).to.deep.equal([]);
  });

  it('is refused if the role lost the permission in between', async () => {
    const caller = await callerAs(shop, 'finance');
    const { id } = await shop.askForDeposit(77_000);
    const heldRequest = await holdRequest(caller, 'POST', `/admin/api/deposits/${id}/confirm`);
    await shop.stack.db
      .collection('operators')
      .updateOne({ username: caller.username }, { $set: { role: 'support' } });
    expect((await heldRequest.go({ reason })).status).to.equal(403);
    const deposit = await shop.stack.db.collection<{ _id: string }>('deposits').findOne({ _id: id });
    expect(deposit).to.include({ status: 'pending' });
  });

  it('creates no key, password or second factor after a password change', async () => {
    const caller = await callerAs(shop, 'support');
    const { secret } = await caller.ask('beginOwnSecondFactor', '/me/second-factor', { password });
    const paths = ['key', 'password', 'second-factor', 'second-factor/confirm', 'recovery-codes'];
    const heldRequests = await Promise.all(
      paths.map((path) => holdRequest(caller, 'POST', `/admin/api/me/${path}`)),
    );
    await changePasswordOf(caller);
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    const bodies = [
      { password },
      { password, new_password: 'the one of a thief', new_password_again: 'the one of a thief' },
      { password },
      { code },
      { password },
    ];
    const answers = await Promise.all(heldRequests.map(({ go }, place) => go(bodies[place] ?? {})));
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401, 401]);
    const operator = await shop.stack.db.collection('operators').findOne({ username: caller.username });
    expect([operator?.['totp'] ?? null, operator?.['keyHash'] ?? null]).to.deep.equal([null, null]);
  });
});
