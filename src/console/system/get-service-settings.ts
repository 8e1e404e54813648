import Joi from 'joi';
import { env, givenSettings } from '../../../config/env.js';
import { releaseVersion } from '../../../config/release.js';
import { shownSettings } from '../../../config/shown-settings.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

export const getServiceSettings = defineConsoleOperation({
  id: 'getServiceSettings',
  method: 'get',
  path: '/system/settings',
  action: 'settings.look',
  summary: 'The settings of the web process that answers, without secrets',
  data: shape({
    release: Joi.string(),
    settings: Joi.array().items(
      shape({
        name: Joi.string(),
        shown: Joi.string()
          .valid('value', 'address', 'secret')
          .description('`secret`: only whether there is one. `address`: without user, password and query.'),
        is_read: Joi.boolean().description('False: only other processes read it.'),
        is_given: Joi.boolean().description('False: it is the default.'),
        is_set: Joi.boolean(),
        value: Joi.string().allow(null, ''),
      }),
    ),
  }),
  handle() {
    return Promise.resolve({
      release: releaseVersion,
      settings: shownSettings(env, givenSettings).map(({ name, shown, isRead, isGiven, isSet, value }) => ({
        name,
        shown,
        is_read: isRead,
        is_given: isGiven,
        is_set: isSet,
        value,
      })),
    });
  },
});
