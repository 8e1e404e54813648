import { expect } from 'chai';
import { setOperatorRole, createOperator, removeOperator } from '../../src/operators/manage-operators.js';
import { OperatorModel } from '../../src/operators/operator.model.js';
import { ConflictError } from '../../src/shared/errors.js';
import { bySystem } from '../../src/audit/record-audit.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('the last admin', () => {
  useDatabase();

  it('cannot be removed or demoted, even by concurrent changes', async () => {
    const names = ['ani', 'budi'];
    for (const username of names) {
      await createOperator({ username, role: 'admin', password: `a password of ${username}` }, bySystem);
    }
    for (let round = 0; round < 5; round++) {
      const ended = await Promise.allSettled([
        setOperatorRole('ani', 'viewer', bySystem),
        round % 2 === 0
          ? setOperatorRole('budi', 'finance', bySystem)
          : setOperatorRole('budi', 'viewer', bySystem),
      ]);
      const refused = ended.filter((each) => each.status === 'rejected');
      expect(refused).to.have.length(1);
      expect(refused[0]?.reason).to.be.instanceOf(ConflictError);
      const left = await OperatorModel.find({ role: 'admin' }).lean();
      expect(left).to.have.length(1);
      const [last] = left;
      const error: unknown = await removeOperator(last?.username ?? '', bySystem).catch(
        (caught: unknown) => caught,
      );
      expect(error)
        .to.be.instanceOf(ConflictError)
        .with.property('message')
        .that.contains('another operator');
      await Promise.all(names.map((username) => setOperatorRole(username, 'admin', bySystem)));
    }
  });
});
