import Joi from 'joi';
import { text, timestamp, nameSchema } from '../../api/contract/fields.js';
import type { ListedSession } from '../../operators/sessions.js';
import { requiredObject } from '../api/console-operation.js';

export const sessionData = nameSchema(
  'OperatorSession',
  requiredObject({
    id: Joi.string(),
    started_at: timestamp,
    address: Joi.string().allow('').description('Empty if it is unknown.'),
    browser: Joi.string().allow(''),
    is_this: Joi.boolean().description('True: the session of this request.'),
  }),
);

export function presentSession(
  { id, startedAt, address, browser }: ListedSession,
  browserThatAsks: { sessionId: string },
): object {
  return {
    id,
    started_at: startedAt.toISOString(),
    address,
    browser,
    is_this: id === browserThatAsks.sessionId,
  };
}

/** Id of the session to end. Null to end all sessions. */
export const sessionToEnd = text(40)
  .allow(null)
  .required()
  .description('Its id, as the list shows it. Null: all sessions.');
