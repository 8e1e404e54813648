/**
 * Changes that operators make to their own account. The audit entry needs no reason. Changes that
 * give access require re-authentication.
 */
import Joi from 'joi';
import { endAllSessions, setOperatorPassword } from '../../operators/manage-operators.js';
import { endOneSession } from '../../operators/sessions.js';
import { createOperatorKey } from '../../operators/operator-key.js';
import { passwordLengthMax, passwordLengthMin } from '../../operators/password.js';
import { enrol } from '../../operators/login.js';
import { beginEnrolment, replaceRecoveryCodes } from '../../operators/second-factor.js';
import { ValidationError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { sessionToEnd } from '../operators/session-data.js';
import { proofFields, reauthenticate, type Proof } from '../operators/reauthenticate.js';

const proofBody = Joi.object<Proof>(proofFields);
const nothing = requiredObject({});
/** Recovery codes. Only their hashes are stored, so they can never be shown again. */
const recoveryCodes = requiredObject({ recovery_codes: Joi.array().items(Joi.string()) });

type NewPasswordBody = Proof & { new_password: string; new_password_again: string };

export const changeOwnPassword = defineConsoleOperation<NewPasswordBody>({
  id: 'changeOwnPassword',
  method: 'post',
  path: '/me/password',
  action: 'own.change',
  summary: 'Change your password; your other sessions end, and this browser gets a new session',
  body: Joi.object<NewPasswordBody>({
    ...proofFields,
    new_password: Joi.string().min(passwordLengthMin).max(passwordLengthMax).required(),
    new_password_again: Joi.string().max(passwordLengthMax).required(),
  }),
  data: nothing,
  async handle(call) {
    const { operator, body, by, browser } = call;
    // Checked first, so that a typing error does not use up a one-time code.
    if (body.new_password !== body.new_password_again) {
      const message = 'The two new passwords do not match.';
      throw new ValidationError([{ field: 'new_password_again', message: asWritten(message) }]);
    }
    await reauthenticate(call);
    await browser.startSession(await setOperatorPassword(operator.username, body.new_password, by, operator));
    return {};
  },
});

export const beginOwnSecondFactor = defineConsoleOperation<Proof>({
  id: 'beginOwnSecondFactor',
  method: 'post',
  path: '/me/second-factor',
  action: 'own.change',
  summary: 'Secret for an authenticator app; it takes effect once a code of the app is confirmed',
  body: proofBody,
  data: requiredObject({
    secret: Joi.string().description('For manual entry.'),
    uri: Joi.string().description('For a QR code.'),
  }),
  async handle(call) {
    await reauthenticate(call);
    return beginEnrolment(call.operator, call.browser.sessionId);
  },
});

/**
 * Confirms a new second factor. Requires no password: the secret is bound to the session in which
 * it was shown, and showing the secret required the password.
 */
export const confirmOwnSecondFactor = defineConsoleOperation<{ code: string }>({
  id: 'confirmOwnSecondFactor',
  method: 'post',
  path: '/me/second-factor/confirm',
  action: 'own.change',
  summary: 'Confirm the second factor; your other sessions end, and this browser gets a new session',
  body: Joi.object<{ code: string }>({ code: Joi.string().max(40).required() }),
  data: recoveryCodes,
  async handle({ operator, body, by, browser }) {
    const { client, sessionId } = browser;
    const enrolled = await enrol(operator, body.code, { shownTo: sessionId, by, seat: client });
    await browser.startSession(enrolled.operator);
    return { recovery_codes: enrolled.codes };
  },
});

export const makeRecoveryCodes = defineConsoleOperation<Proof>({
  id: 'makeRecoveryCodes',
  method: 'post',
  path: '/me/recovery-codes',
  action: 'own.change',
  summary: 'Replace your recovery codes; only this response shows the new ones',
  body: proofBody,
  data: recoveryCodes,
  async handle(call) {
    await reauthenticate(call);
    return { recovery_codes: await replaceRecoveryCodes(call.operator, call.by) };
  },
});

export const makeOwnKey = defineConsoleOperation<Proof>({
  id: 'makeOwnKey',
  method: 'post',
  path: '/me/key',
  action: 'own.change',
  summary: 'Replace your key for the command line; only this response shows the new one',
  body: proofBody,
  data: requiredObject({ operator_key: Joi.string() }),
  async handle(call) {
    await reauthenticate(call);
    return { operator_key: await createOperatorKey(call.operator, call.by) };
  },
});

export const endOwnSessions = defineConsoleOperation<{ session: string | null }>({
  id: 'endOwnSessions',
  method: 'post',
  path: '/me/end-sessions',
  action: 'own.change',
  summary: 'End one of your sessions, or all of them including this one',
  body: Joi.object<{ session: string | null }>({ session: sessionToEnd }),
  data: nothing,
  async handle({ operator, body: { session }, by, browser }) {
    if (session === null) {
      await endAllSessions(operator.username, by);
      browser.clearSession();
    } else {
      await endOneSession(operator, session, by);
    }
    return {};
  },
});
