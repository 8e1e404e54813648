/** Operator commands on a machine with a wrong clock. */
import { expect } from 'chai';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import { uniqueRef } from '../support/api-client.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';

describe('the command line with a clock two hours ahead', () => {
  let stack: Stack;

  before(async () => (stack = await startStack()));
  after(() => stack.stop());

  it("stores times from the servers' clock", async () => {
    const { NODE_OPTIONS } = buildEnvWithClockAhead(7_200_000);
    const username = uniqueRef('late');
    const args = ['account', 'create', username, '--role', 'buyer', '--json'];
    const { code, stderr } = await topup(args, { ...stack.env, NODE_OPTIONS });
    expect(code, stderr).to.equal(0);
    const made = await stack.db.collection('accounts').findOne<{ createdAt: Date }>({ username });
    expect(made?.createdAt.getTime()).to.be.within(Date.now() - 60_000, Date.now() + 1_000);
  });

  it('fails the clock check of doctor', async () => {
    const { NODE_OPTIONS } = buildEnvWithClockAhead(7_200_000);
    const doctor = await topup(['doctor', '--json'], { ...stack.env, NODE_OPTIONS });
    const { checks } = doctor.json<{ checks: Diagnosis[] }>();
    for (const server of ['MongoDB', 'Redis']) {
      expect(checks.find(({ name }) => name === `clock against ${server}`)).to.include({ status: 'fail' });
    }
  });
});
