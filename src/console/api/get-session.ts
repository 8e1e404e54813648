import Joi from 'joi';
import { env } from '../../../config/env.js';
import { isAllowed, operatorRoles, rights, type OperatorAction } from '../../operators/rights.js';
import { defineConsoleOperation, shape } from './console-operation.js';

const actions = Object.keys(rights) as OperatorAction[];

/** What a page must know of who looks at it. What it does not offer is refused all the same. */
export const getSession = defineConsoleOperation({
  id: 'getSession',
  method: 'get',
  path: '/session',
  action: 'own.look',
  summary: 'Who is logged in, what they may do, and in which zone the business keeps its time',
  data: shape({
    username: Joi.string(),
    role: Joi.string().valid(...operatorRoles),
    actions: Joi.array().items(Joi.string().valid(...actions)),
    time_zone: Joi.string(),
    has_second_factor: Joi.boolean().description('A change that asks for the password asks for a code, too.'),
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
