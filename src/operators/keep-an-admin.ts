import type { Session } from '../database/mongo.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { OperatorModel } from './operator.model.js';

/**
 * Called in the database transaction that takes an admin away, after the change. It writes to the one who remains, so that
 * two admins who take each other away at the same moment meet.
 * @throws ConflictError if nobody would be left to say who may do what.
 */
export async function requireRemainingAdmin(session: Session): Promise<void> {
  const { matchedCount } = await OperatorModel.updateOne(
    { role: 'admin' },
    { $set: { keptAsAdminAt: now() } },
    { session },
  );
  if (matchedCount === 0) {
    throw new ConflictError(asWritten('This is the last admin. Make another operator an admin first.'));
  }
}
