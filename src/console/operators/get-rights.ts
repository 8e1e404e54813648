import Joi from 'joi';
import { operatorRoles, rights, type OperatorAction } from '../../operators/rights.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

const actions = Object.keys(rights) as OperatorAction[];
const role = Joi.string().valid(...operatorRoles);

export const getRights = defineConsoleOperation({
  id: 'getRights',
  method: 'get',
  path: '/rights',
  action: 'own.look',
  summary: 'What each role may do, here and on the command line',
  data: shape({
    roles: Joi.array().items(role),
    rights: Joi.array().items(
      shape({
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
