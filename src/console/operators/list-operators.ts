import Joi from 'joi';
import { timestamp } from '../../api/contract/fields.js';
import { listOperators } from '../../operators/manage-operators.js';
import { operatorRoles, rights, type OperatorAction } from '../../operators/rights.js';
import { listSessions } from '../../operators/sessions.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { presentSession, sessionData } from './session-data.js';

export const listOperatorsCall = defineConsoleOperation({
  id: 'listOperators',
  method: 'get',
  path: '/operators',
  action: 'operator.look',
  summary: 'Operators with their roles and sessions',
  data: requiredObject({
    operators: Joi.array().items(
      requiredObject({
        username: Joi.string(),
        role: Joi.string().valid(...operatorRoles),
        has_second_factor: Joi.boolean(),
        has_key: Joi.boolean().description('For the command line.'),
        created_at: timestamp,
        password_changed_at: timestamp,
        sessions: Joi.array().items(sessionData),
      }),
    ),
  }),
  async handle({ browser }) {
    const operators = await listOperators();
    const sessions = await Promise.all(operators.map(listSessions));
    return {
      operators: operators.map((each, index) => ({
        username: each.username,
        role: each.role,
        has_second_factor: Boolean(each.totp),
        has_key: Boolean(each.keyHash),
        created_at: each.createdAt.toISOString(),
        password_changed_at: each.passwordChangedAt.toISOString(),
        sessions: (sessions[index] ?? []).map((session) => presentSession(session, browser)),
      })),
    };
  },
});

const actions = Object.keys(rights) as OperatorAction[];
const role = Joi.string().valid(...operatorRoles);

export const getRights = defineConsoleOperation({
  id: 'getRights',
  method: 'get',
  path: '/rights',
  action: 'own.look',
  summary: 'What each role may do, here and on the command line',
  data: requiredObject({
    roles: Joi.array().items(role),
    rights: Joi.array().items(
      requiredObject({
        action: Joi.string().valid(...actions),
        does: Joi.string(),
        kind: Joi.string().valid('read', 'change'),
        roles: Joi.array().items(role),
      }),
    ),
  }),
  async handle() {
    return Promise.resolve({
      roles: operatorRoles,
      rights: actions.map((action) => ({ action, ...rights[action] })),
    });
  },
});
