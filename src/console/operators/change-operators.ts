/**
 * Changes of operators and their roles. All except ending sessions require the acting operator's
 * password and code (decision 041).
 */
import Joi from 'joi';
import { text } from '../../api/contract/fields.js';
import type { ChangedBy } from '../../audit/record-audit.js';
import {
  endAllSessions,
  setOperatorPassword,
  setOperatorRole,
  createOperator,
  removeOperator,
} from '../../operators/manage-operators.js';
import { endOneSession } from '../../operators/sessions.js';
import { generatePassword } from '../../operators/password.js';
import { requireOperator } from '../../operators/require-operator.js';
import { operatorRoles, type OperatorRole } from '../../operators/rights.js';
import { resetSecondFactor } from '../../operators/second-factor.js';
import { usernamePattern, usernameRule } from '../../shared/input-rules.js';
import {
  defineConsoleOperation,
  reason,
  requiredObject,
  usernameParams,
  type AnyConsoleOperation,
  type Reason,
} from '../api/console-operation.js';
import { sessionToEnd } from './session-data.js';
import { proofFields, reauthenticate, type Proof } from './reauthenticate.js';

type ReasonWithProof = Reason & Proof;
type RoleBody = ReasonWithProof & { role: OperatorRole };

const reasonWithProofFields = { reason, ...proofFields };
const role = Joi.string()
  .valid(...operatorRoles)
  .required();

const usernameData = requiredObject({ username: Joi.string() });
/** Response with a generated password, which no other response shows. */
const passwordData = requiredObject({ username: Joi.string(), password: Joi.string() });

export const createOperatorCall = defineConsoleOperation<RoleBody & { username: string }>({
  id: 'createOperator',
  method: 'post',
  path: '/operators',
  action: 'operator.manage',
  summary: 'Create an operator; only this response shows the password',
  body: Joi.object<RoleBody & { username: string }>({
    ...reasonWithProofFields,
    username: text(40).pattern(usernamePattern).required().messages({ 'string.pattern.base': usernameRule }),
    role,
  }),
  data: passwordData,
  async handle(call) {
    await reauthenticate(call);
    const { username, role: newRole } = call.body;
    const password = generatePassword();
    await createOperator({ username, role: newRole, password }, call.by);
    return { username, password };
  },
});

interface OperatorChange<Body> {
  id: string;
  /** Path segment after the operator. */
  verb: string;
  summary: string;
  body?: Joi.ObjectSchema<Body>;
  data?: Joi.Schema;
  run: (username: string, change: { body: Body; by: ChangedBy }) => Promise<unknown>;
}

function defineOperatorChange<Body extends ReasonWithProof = ReasonWithProof>({
  verb,
  body = Joi.object<Body>(reasonWithProofFields),
  data = usernameData,
  run,
  ...rest
}: OperatorChange<Body>): AnyConsoleOperation {
  return defineConsoleOperation<Body, { username: string }>({
    ...rest,
    method: 'post',
    path: `/operators/:username/${verb}`,
    action: 'operator.manage',
    params: usernameParams,
    body,
    data,
    async handle(call) {
      await reauthenticate(call);
      return run(call.params.username, call);
    },
  });
}

export const setRoleCall = defineOperatorChange<RoleBody>({
  id: 'setOperatorRole',
  verb: 'role',
  summary: 'Change the role of an operator; all their sessions end',
  body: Joi.object<RoleBody>({ ...reasonWithProofFields, role }),
  async run(username, { body, by }) {
    await setOperatorRole(username, body.role, by);
    return { username };
  },
});

export const resetPasswordCall = defineOperatorChange({
  id: 'resetOperatorPassword',
  verb: 'password',
  summary: 'Give an operator a new password, which only this response shows; all their sessions end',
  data: passwordData,
  async run(username, { by }) {
    const password = generatePassword();
    await setOperatorPassword(username, password, by);
    return { username, password };
  },
});

export const resetSecondFactorCall = defineOperatorChange({
  id: 'resetOperatorSecondFactor',
  verb: 'reset-second-factor',
  summary: 'Remove the second factor of an operator; all their sessions end',
  async run(username, { by }) {
    await resetSecondFactor(await requireOperator(username), by);
    return { username };
  },
});

export const removeOperatorCall = defineOperatorChange({
  id: 'removeOperator',
  verb: 'remove',
  summary: 'Remove an operator; all their sessions and their key end',
  async run(username, { by }) {
    await removeOperator(username, by);
    return { username };
  },
});

type EndSessionsBody = Reason & { session: string | null };

/**
 * Ends sessions of an operator. Requires no password, so that a suspicious session can be ended at
 * once.
 */
export const endOperatorSessions = defineConsoleOperation<EndSessionsBody, { username: string }>({
  id: 'endOperatorSessions',
  method: 'post',
  path: '/operators/:username/end-sessions',
  action: 'operator.end-sessions',
  summary: 'End a session of an operator, or all of them',
  params: usernameParams,
  body: Joi.object<EndSessionsBody>({ reason, session: sessionToEnd }),
  data: usernameData,
  async handle({ params: { username }, body: { session }, by }) {
    if (session === null) {
      await endAllSessions(username, by);
    } else {
      await endOneSession(await requireOperator(username), session, by);
    }
    return { username };
  },
});
