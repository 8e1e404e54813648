import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { listSessions } from '../../operators/sessions.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { presentSession, sessionData } from '../operators/present-session.js';

export const getOwn = defineConsoleOperation({
  id: 'getOwn',
  method: 'get',
  path: '/me',
  action: 'own.look',
  summary: 'What an operator has of their own: second factor, key and sessions',
  data: shape({
    second_factor_since: timestamp.allow(null).description('Null: the password alone logs in.'),
    recovery_codes_left: Joi.number(),
    key_created_at: timestamp.allow(null).description('Of the key for the command line.'),
    password_changed_at: timestamp,
    sessions: Joi.array().items(sessionData),
  }),
  async handle({ operator, browser }) {
    const { totp, recoveryHashes, keyHash, keyCreatedAt, passwordChangedAt } = operator;
    const sessions = await listSessions(operator);
    return {
      second_factor_since: totp?.since.toISOString() ?? null,
      recovery_codes_left: totp ? (recoveryHashes?.length ?? 0) : 0,
      key_created_at: keyHash ? (keyCreatedAt?.toISOString() ?? null) : null,
      password_changed_at: passwordChangedAt.toISOString(),
      sessions: sessions.map((each) => presentSession(each, browser)),
    };
  },
});
