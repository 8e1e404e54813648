import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { NotFoundError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import type { Operator } from './operator.model.js';
import { endListedSession } from './sessions.js';

/** Ends one session of an operator, by the id that lists show. @throws NotFoundError if it is over already. */
export async function endOneSession(operator: Operator, sessionId: string, by: ChangedBy): Promise<void> {
  if (!(await endListedSession(operator._id, sessionId))) {
    throw new NotFoundError(
      asWritten(`${operator.username} has no session ${sessionId.slice(0, 20)} any more.`),
    );
  }
  await recordAudit(null, {
    ...by,
    action: 'operator.end-session',
    subject: { kind: 'operator', id: operator._id },
    after: { username: operator.username },
  });
}
