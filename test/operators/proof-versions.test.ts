/**
 * A proof of identity is bound to the version of the operator that was read. Changes that end all
 * sessions invalidate the proof.
 */
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import { setOperatorPassword, createOperator, removeOperator } from '../../src/operators/manage-operators.js';
import { createOperatorKey } from '../../src/operators/operator-key.js';
import type { Operator } from '../../src/operators/operator.model.js';
import { requireOperator } from '../../src/operators/require-operator.js';
import { beginEnrolment, confirmEnrolment, replaceRecoveryCodes } from '../../src/operators/second-factor.js';
import { newId } from '../../src/shared/ids.js';
import { useDatabase } from '../webhooks/support/database.js';

const by = { actor: 'test', from: 'here', reason: null };
const shownTo = 'this browser';

describe("an operator's proof of identity", () => {
  useDatabase();

  const newOperator = () =>
    createOperator(
      { username: `op-${newId().slice(-12)}`, role: 'support', password: 'correct horse battery' },
      by,
    );
  const changePassword = ({ username }: Operator, proven?: Operator) =>
    setOperatorPassword(username, 'another horse battery', by, proven);
  async function enrol(operator: Operator) {
    const { secret } = await beginEnrolment(operator, shownTo);
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    return () => confirmEnrolment(operator, { code, shownTo, by });
  }
  const refusal = async (change: () => Promise<unknown>) =>
    change().then(
      () => 'done',
      (error: unknown) => String(error),
    );

  it('is void after a new password or a new operator with the same name', async () => {
    const proven = await newOperator();
    const confirm = await enrol(proven);
    const changes = {
      key: () => createOperatorKey(proven, by),
      password: () => changePassword(proven, proven),
      codes: () => replaceRecoveryCodes({ ...proven, totp: null }, by),
      begin: () => beginEnrolment(proven, shownTo),
      confirm,
    };
    await changePassword(proven);
    for (const [name, change] of Object.entries(changes)) {
      expect(await refusal(change), name).to.match(/Nothing was changed|no second factor|no longer valid/);
    }
    await removeOperator(proven.username, by);
    await createOperator(
      { username: proven.username, role: 'support', password: 'correct horse battery' },
      by,
    );
    expect(await refusal(changes.password)).to.match(/Nothing was changed/);
    const { keyHash, totp, sessionEpoch } = await requireOperator(proven.username);
    expect([keyHash, totp, sessionEpoch]).to.deep.equal([null, null, 0]);
  });

  it('starts a session that a later change of password ends', async () => {
    const proven = await newOperator();
    const { codes, operator } = await (await enrol(proven))();
    expect(codes).to.have.length(10);
    expect((await requireOperator(proven.username)).sessionEpoch).to.equal(operator.sessionEpoch);
    await changePassword(proven);
    expect((await requireOperator(proven.username)).sessionEpoch).to.equal(operator.sessionEpoch + 1);
    expect(await refusal(() => replaceRecoveryCodes(operator, by))).to.match(/Nothing was changed/);
  });
});
