/**
 * An operator who calls the console operations. Each response is checked against the operation's
 * schema.
 */
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { consoleOperations } from '../../../src/console/api/operations.js';
import type { OperatorRole } from '../../../src/operators/rights.js';
import { consoleClient, type ConsoleAnswer, type ConsoleClient } from '../../support/console-client.js';
import { password, type OperatedStack } from './operated-stack.js';

export const reason = 'ticket 812';
export const json = { accept: '*/*', 'content-type': 'application/json' };

export interface Caller {
  client: ConsoleClient;
  username: string;
  /**
   * Makes the call and returns its `data`.
   * @throws Error if the response does not match the operation's schema.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Checked against its schema.
  ask(id: string, path: string, body?: object): Promise<any>;
  call(path: string, body?: object): Promise<ConsoleAnswer>;
  /** Returns the headers that a changing call needs, including the CSRF token. */
  withToken(): Record<string, string>;
  lastAudit(subject: string): Promise<Document | null>;
  /**
   * Returns the last audit entry about a subject.
   * @throws Error unless it records this action by this operator.
   */
  expectAudited(subject: string, action: string): Promise<Document>;
  /** Returns the ids from all pages of a list. */
  idsOf(id: string, path: string, list: string): Promise<string[]>;
}

const address = '198.51.100.7';

/**
 * Logs an operator in.
 * @param as The username of an existing operator, who logs in from another browser.
 */
export async function callerAs(shop: OperatedStack, role: OperatorRole, as?: string): Promise<Caller> {
  const username = as ?? (await shop.addOperator(role));
  const client = consoleClient(shop.stack.baseUrl, address);
  await client.login(username, password);
  const caller: Caller = {
    client,
    username,
    async ask(id, path, body) {
      const answer = await caller.call(path, body);
      const reply = JSON.parse(answer.text);
      expect(answer.status, answer.text).to.equal(200);
      const operation = consoleOperations.find((each) => each.id === id);
      const { error } = operation?.data.validate(reply.data, { convert: false }) ?? {};
      expect(error, `${id}: ${answer.text}`).to.equal(undefined);
      return reply.data;
    },
    call(path, body) {
      return body === undefined
        ? client.get(`/admin/api${path}`, { accept: '*/*' })
        : client.send('POST', `/admin/api${path}`, JSON.stringify(body), caller.withToken());
    },
    withToken: () => ({ ...json, 'x-xsrf-token': client.cookie('XSRF-TOKEN') ?? '' }),
    lastAudit: (subject) =>
      shop.stack.db.collection('audit').findOne({ 'subject.id': subject }, { sort: { at: -1, _id: -1 } }),
    async expectAudited(subject, action) {
      const entry = await caller.lastAudit(subject);
      expect(entry).to.include({ action, actor: `operator:${username}`, from: address, reason });
      return entry ?? {};
    },
    async idsOf(id, path, list) {
      const ids: string[] = [];
      let after = '';
      do {
        const page = await caller.ask(id, `${path}${after}`);
        ids.push(...page[list].map((each: { id: string }) => each.id));
        after = page.next === null ? '' : `&after=${page.next}`;
      } while (after !== '');
      return ids;
    },
  };
  return caller;
}
