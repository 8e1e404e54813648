import { expect } from 'chai';
import { Redis } from 'ioredis';
import type Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../../src/accounts/account.model.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import { operations, resellerOperations } from '../../../src/api/operations.js';
import type { AnyResellerOperation } from '../../../src/api/reseller/reseller-operation.js';
import type { Answer } from '../../support/api-client.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { announceChange } from '../../support/announce-change.js';
import { startStack, type SeededAccount, type Stack } from '../../support/stack.js';
import { sendCall, type ApiCall } from '../support/api.js';
import { hmacSign } from '../support/reseller.js';
import { matrix, type Entry, type Place } from './support/matrix.js';
import { listPrivateWords, snapshotOf, type Parties, type Snapshot } from './support/private-data.js';
import {
  seedOtherSide,
  seedOwnSide,
  type IdentifierName,
  type Identifiers,
  type Side,
} from './support/two-sides.js';

type Values = Record<string, unknown>;

const allOperations = [
  ...operations.map((operation) => ({ ...operation, placesOf: keysOf(operation) })),
  ...resellerOperations.map((operation) => ({
    ...operation,
    role: 'buyer' as const,
    placesOf: ['username', ...keysOf(operation)],
  })),
];

/** Returns an identifier that has the same form and belongs to no account. */
const toUnknownIdentifier = (identifier: string) =>
  identifier.replace(/\d/g, (digit) => String((Number(digit) + 5) % 10));

describe('account isolation of every operation', function () {
  this.timeout(120_000);
  let stack: Stack;
  let own: Side;
  let other: Side;
  let identifiers: Identifiers;
  let marks: string[];
  let atFirst: Snapshot;
  let parties: Parties;
  let token: string;
  let ownReportId: string;
  const redis = new Redis(process.env['REDIS_URL'] ?? '');

  before(async () => {
    stack = await startStack({ env: { TRUST_PROXY: '1', RESELLER_SYNC_WAIT_MS: '20' } });
    const seeded = await stack.seed();
    const side = (buyer: string, seller: string) =>
      ({ buyer: seeded[buyer], seller: seeded[seller] }) as Side;
    [own, other] = [side('buyer', 'seller'), side('buyer2', 'seller2')];
    const all = await stack.startWorker('all');
    ownReportId = await seedOwnSide(stack, own);
    identifiers = await seedOtherSide(stack, other);
    // Stop all other work, so that only the calls of the tests change data. The two workers below
    // process those calls.
    await all.stop();
    await stack.startWorker('inquiries', 'reports');
    parties = { ours: await idsOf(own), theirs: await idsOf(other) };
    await stack.db.collection('accounts').updateMany({}, { $set: { rateLimit: limits.rateLimitMax } });
    await announceChange(stack);
    marks = await listPrivateWords(stack.db, parties);
    atFirst = await snapshotOf(stack.db, parties);
    token = (await send(callOf('login', {}))).body.data.access_token;
  });
  after(async () => {
    redis.disconnect();
    await stack.stop();
  });
  beforeEach(async () => {
    // Raises the rate limit to the contract's maximum and clears the counters, so that each test
    // starts with a full quota.
    const counts = await redis.keys(`${String(stack.env['QUEUE_PREFIX'])}:rate:*`);
    await Promise.all(counts.map((name) => redis.del(name)));
  });

  async function idsOf({ buyer, seller }: Side): Promise<string[]> {
    const names = [buyer.username, seller.username];
    const found = await stack.db
      .collection('accounts')
      .find({ username: { $in: names } })
      .toArray();
    return found.map((each) => String(each._id));
  }

  const send = async (call: ApiCall) => {
    const answer = await sendCall(stack.baseUrl, call);
    const rotated = /^\/api\/(buyer|seller)\/api\/keys\/rotate$/.exec(call.path)?.[1] as Role | undefined;
    if (rotated && answer.status === 200 && call.key === own[rotated].api_key) {
      // Use the new key from here on: the replaced one can no longer change the configuration.
      own[rotated].api_key = String(answer.body.data.api_key);
    }
    return answer;
  };
  const accountOf = (side: Side, role: Role): SeededAccount => side[role];

  /** Builds a call by our side unless `by` names another account or credential. */
  function callOf(id: string, values: Values, by: { side?: Side; credential?: string } = {}): ApiCall {
    const operation = operationOf(id);
    const { username, api_key: key } = accountOf(by.side ?? own, operation.role);
    if ('signed' in operation) {
      const query = asText({ username, ...values });
      const sign = hmacSign({ username: query['username'] ?? '', key }, operation.signed(query).hmacCovers);
      return { path: `${operation.path}?${new URLSearchParams({ ...query, sign }).toString()}` };
    }
    const path = operation.path.replace(/:(\w+)/g, (_match, name: string) =>
      encodeURIComponent(String(values[name])),
    );
    const query = new URLSearchParams(asText(pick(values, namesIn(operation.query)))).toString();
    return {
      method: operation.method.toUpperCase() as 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: query === '' ? path : `${path}?${query}`,
      key: by.credential ?? key,
      ...(operation.method !== 'get' && { body: pick(values, namesIn(operation.body)) }),
    };
  }

  /**
   * Expects that the response contains no private data of the other side. The identifier that the
   * request itself sent may appear.
   */
  function expectNoForeignData(answer: Answer, sent = ''): void {
    const text = JSON.stringify(answer.body);
    const rest = sent === '' ? text : text.replaceAll(sent, '');
    const leakedMarks = marks.filter((mark) =>
      /^\d+$/.test(mark) ? rest.match(new RegExp(`\\b${mark}\\b`)) : rest.includes(mark),
    );
    expect(leakedMarks, text).to.deep.equal([]);
  }

  it('the matrix covers every operation and parameter, and no others', () => {
    expect(Object.keys(matrix)).to.have.members(allOperations.map(({ id }) => id));
    for (const { id, placesOf } of allOperations) {
      expect(Object.keys(entryOf(id).places), `places of ${id}`).to.have.members(placesOf);
    }
  });

  it('an operation without a tested identifier states why', () => {
    for (const [id, { places, because }] of Object.entries(matrix)) {
      const isTried = Object.values(places).some((place) => place.isTried);
      expect(isTried, `${id}: ${because ?? 'no reason'}`).to.equal(because === undefined);
    }
  });

  it('the other side has data of every kind, and every identifier can be made unknown', () => {
    expect(marks).to.include.members([identifiers.transaction, identifiers.serialNumber, '61234', '7654321']);
    for (const identifier of Object.values(identifiers)) {
      expect(toUnknownIdentifier(identifier)).to.not.equal(identifier);
    }
  });

  describe('calls by our side', () => {
    afterEach('leaves the rows of the other side unchanged and adds none', async () => {
      const now = await snapshotOf(stack.db, parties);
      for (const [name, document] of atFirst) {
        expect(now.get(name), name).to.equal(document);
      }
      expect([...now.keys()]).to.have.members([...atFirst.keys()]);
    });

    for (const { id, role } of allOperations) {
      const { places } = entryOf(id);
      const tried = Object.entries(places).filter(([, place]) => place.isTried);

      if (Object.values(places).every((place) => !place.isTried || place.usual === undefined)) {
        it(`${id}: without the other side's ids, a call shows and changes none of its data`, async () => {
          const answer = await send(callOf(id, usualValues(places)));
          expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
          expectNoForeignData(answer);
        });
      }

      for (const [name, place] of tried) {
        it(`${id}: treats the other side's identifier in ${name} like an unknown one`, async () => {
          const credentials = role === 'buyer' && !isReseller(id) ? [undefined, token] : [undefined];
          for (const [which, identifier] of namesFor(place)) {
            for (const credential of credentials) {
              const ask = (value: string) =>
                send(callOf(id, { ...usualValues(places), [name]: value }, credential ? { credential } : {}));
              const theirs = await ask(identifier);
              expect(shown(theirs, identifier), which).to.deep.equal(
                shown(await ask(toUnknownIdentifier(identifier)), toUnknownIdentifier(identifier)),
              );
              expectNoForeignData(theirs, identifier);
            }
          }
        });
      }
    }

    for (const { id } of allOperations) {
      const { places } = entryOf(id);
      for (const [name, { shared }] of Object.entries(places)) {
        if (shared) {
          it(`${id}: ${shared.these.join(', ')} in ${name} returns ${shared.status}: ${shared.because}`, async () => {
            for (const which of shared.these) {
              const sent = identifiers[which];
              const answer = await send(callOf(id, { ...usualValues(places), [name]: sent }));
              expect(answer.status, JSON.stringify(answer.body)).to.equal(shared.status);
              if (shared.status < 300) {
                expect(isReseller(id) ? answer.body.status : answer.body.code, 'new, not a repeat').to.equal(
                  '00',
                );
              }
              expectNoForeignData(answer, sent);
            }
          });
        }
      }
    }

    it('the token of our download link opens no report of the other side', async () => {
      // Request a new download link, because an earlier test revoked the existing ones.
      const own = await send(callOf('getBuyerReport', { id: ownReportId }));
      const ownLink = new URL(String(own.body.data.download_url));
      expect((await send({ path: ownLink.pathname + ownLink.search })).status, 'own report').to.equal(200);
      for (const which of ['report', 'csvReport', 'sellerReport'] as const) {
        const linkTo = (id: string) => `/api/buyer/reports/${id}/download${ownLink.search}`;
        const theirs = await send({ path: linkTo(identifiers[which]) });
        expect(theirs.status).to.equal(401);
        const unknown = await send({ path: linkTo(toUnknownIdentifier(identifiers[which])) });
        expect(shown(theirs, identifiers[which])).to.deep.equal(
          shown(unknown, toUnknownIdentifier(identifiers[which])),
        );
      }
    });
  });

  describe('after all calls', () => {
    it('each tested identifier returns data to its owner', async () => {
      const found: Record<string, IdentifierName[]> = {
        getWalletTransaction: [
          'transaction',
          'transactionRef',
          'walletRef',
          'resellerRef',
          'paymentRef',
          'payment',
        ],
        getBuyerTransaction: [
          'transaction',
          'transactionRef',
          'walletTransaction',
          'resellerRef',
          'paymentRef',
        ],
        getSettlement: ['settlement'],
        getBuyerReport: ['report', 'csvReport'],
        downloadBuyerReport: ['report', 'csvReport'],
        revokeBuyerReportLinks: ['report', 'csvReport'],
        getSellerReport: ['sellerReport'],
        downloadSellerReport: ['sellerReport'],
        revokeSellerReportLinks: ['sellerReport'],
        listBuyerDeliveries: ['transactionRef', 'walletRef', 'resellerRef', 'paymentRef'],
        replayBuyerDelivery: ['delivery'],
        replaySellerDelivery: ['sellerDelivery'],
        getBuyerEndpoint: ['endpoint'],
        testBuyerEndpoint: ['endpoint'],
        enableBuyerEndpoint: ['endpoint'],
        rotateBuyerEndpointSecret: ['endpoint'],
        updateBuyerEndpoint: ['endpoint'],
        removeBuyerEndpoint: ['endpoint'],
        getSellerEndpoint: ['sellerEndpoint'],
        updateProduct: ['activeProduct', 'inactiveProduct'],
        putOffer: ['inactiveProduct'],
        getResellerBalance: ['username'],
      };
      for (const [id, names] of Object.entries(found)) {
        const { places } = entryOf(id);
        const [name = ''] = Object.keys(places).filter((each) => places[each]?.isTried);
        for (const which of names) {
          const answer = await send(
            callOf(id, { ...usualValues(places), [name]: identifiers[which] }, { side: other }),
          );
          expect(answer.status, `${id} ${which}`).to.equal(200);
          expect(answer.body, `${id} ${which}`).to.not.deep.include({ status: '07' });
          expect(answer.body.data?.deliveries, `${id} ${which}`).to.not.deep.equal([]);
        }
      }
    });

    it('the ledger is consistent', () => expectLedgerToBalance(stack));
  });

  /** Returns the other side's identifiers, except those that are shared in this place. */
  function namesFor({ shared }: Place): [string, string][] {
    return Object.entries(identifiers).filter(
      ([which]) => !(shared?.these as string[] | undefined)?.includes(which),
    );
  }
});

function entryOf(id: string): Entry {
  return matrix[id] ?? { places: {} };
}

function operationOf(id: string) {
  const found = allOperations.find((each) => each.id === id);
  if (!found) {
    throw new Error(`There is no ${id}`);
  }
  return found;
}

function isReseller(id: string): boolean {
  return 'signed' in operationOf(id);
}

function keysOf(operation: AnyOperation | AnyResellerOperation): string[] {
  const schemas =
    'signed' in operation ? [operation.query] : [operation.params, operation.query, operation.body];
  return schemas.flatMap((schema) => [...namesIn(schema)]);
}

function namesIn(schema: Joi.ObjectSchema | undefined): string[] {
  return Object.keys((schema?.describe().keys as object | undefined) ?? {});
}

function usualValues(places: Entry['places']): Values {
  const given = Object.entries(places).map(([name, { usual }]) => [name, usual?.()] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function pick(values: Values, names: string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

function asText(values: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/**
 * Returns the status and body without the identifier that was sent. Two refusals must not differ in
 * them.
 */
function shown({ status, body }: Answer, sent: string): unknown {
  const { request_id: _id, ...rest } = body as Record<string, unknown>;
  return {
    status,
    body: JSON.parse(JSON.stringify(rest).replaceAll(JSON.stringify(sent).slice(1, -1), '<it>')) as unknown,
  };
}
