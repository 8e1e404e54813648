import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { listOperators } from '../../operators/create-operator.js';
import { operatorRoles } from '../../operators/rights.js';
import { listSessions } from '../../operators/sessions.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { presentSession, sessionData } from './present-session.js';

export const listOperatorsCall = defineConsoleOperation({
  id: 'listOperators',
  method: 'get',
  path: '/operators',
  action: 'operator.look',
  summary: 'Who may log in, and from where they are logged in',
  data: shape({
    operators: Joi.array().items(
      shape({
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
