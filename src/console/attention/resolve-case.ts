import Joi from 'joi';
import { resolveCase as closeCase } from '../../purchases/review/resolve-case.js';
import {
  defineConsoleOperation,
  idParams,
  reasonBody,
  shape,
  type Reason,
} from '../api/console-operation.js';

export const resolveCase = defineConsoleOperation<Reason, { id: string }>({
  id: 'resolveCase',
  method: 'post',
  path: '/cases/:id/resolve',
  action: 'case.resolve',
  summary: 'Close a case that has been dealt with; it moves no money',
  params: idParams,
  body: reasonBody,
  data: shape({ id: Joi.string(), changed: Joi.boolean() }),
  async handle({ params: { id }, by }) {
    const { changed } = await closeCase(id, by);
    return { id, changed };
  },
});
