import Joi from 'joi';
import { env } from '../../../config/env.js';
import { isAllowed, operatorRoles, rights, type OperatorAction } from '../../operators/rights.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { timestamp } from '../../api/contract/fields.js';
import { listSessions } from '../../operators/sessions.js';
import { presentSession, sessionData } from '../operators/session-data.js';

const actions = Object.keys(rights) as OperatorAction[];

/** Describes the session's operator to the pages. The server checks rights again on each call. */
export const getSession = defineConsoleOperation({
  id: 'getSession',
  method: 'get',
  path: '/session',
  action: 'own.look',
  summary: 'The logged-in operator with their rights, and the time zone of the business',
  data: requiredObject({
    username: Joi.string(),
    role: Joi.string().valid(...operatorRoles),
    actions: Joi.array().items(Joi.string().valid(...actions)),
    time_zone: Joi.string(),
    has_second_factor: Joi.boolean().description(
      'True: changes that require the password also require a code.',
    ),
  }),
  async handle({ operator: { username, role, totp } }) {
    return Promise.resolve({
      username,
      role,
      actions: actions.filter((each) => isAllowed(role, each)),
      time_zone: env.BUSINESS_TIMEZONE,
      has_second_factor: Boolean(totp),
    });
  },
});

export const getOwnProfile = defineConsoleOperation({
  id: 'getOwn',
  method: 'get',
  path: '/me',
  action: 'own.look',
  summary: 'Second factor, key and sessions of the logged-in operator',
  data: requiredObject({
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
