/**
 * Second factor of operators: TOTP codes of an authenticator app (RFC 6238), and recovery codes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { env } from '../../config/env.js';
import { isGuarded } from '../../config/refused-settings.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { runInTransaction, type Session } from '../database/mongo.js';
import { now, nowMs } from '../shared/clock.js';
import { decrypt, encrypt } from '../shared/encryption.js';
import { ConflictError, UnauthorizedError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { buildUnchangedFilter, createChangedSinceProofError } from './require-operator.js';
import { OperatorModel, type Operator, type PendingSecret } from './operator.model.js';
import type { OperatorRole } from './rights.js';

const periodS = 30;
/** A phone's clock may be one period off. */
const codeWindow = 1;
/** Lifetime of an unconfirmed secret. */
const enrolmentMaxAgeMs = 3_600_000;
const recoveryCodesMax = 10;
const issuer = 'Top-up operator';
const wrongCode = 'The code is wrong or already used. Wait for the next one.';

/** Roles that move money or manage operators. */
const rolesWithSecondFactor: readonly OperatorRole[] = ['admin', 'finance'];

export interface Enrolment {
  /** Base32, for manual input. */
  secret: string;
  /** `otpauth://…`, for a QR code. */
  uri: string;
}

/** True if the console requires the operator to set up a second factor first. */
export function mustEnrol(operator: Operator): boolean {
  return isGuarded(env) && rolesWithSecondFactor.includes(operator.role) && !operator.totp;
}

/**
 * Returns the secret for an authenticator app. The same browser gets the same secret until it is
 * confirmed, so that the page can be reloaded. Another browser gets a new secret, which invalidates
 * the previous one.
 * @param shownTo Id of the session, or of the login step.
 * @throws ConflictError if another browser was shown a secret at the same moment.
 */
export async function beginEnrolment(operator: Operator, shownTo: string): Promise<Enrolment> {
  const fresh: PendingSecret = {
    secretSealed: encrypt(new Secret({ size: 20 }).base32, getTotpContext(operator._id)),
    since: now(),
    shownTo,
    epoch: operator.sessionEpoch,
  };
  const isGood = { 'totpPending.since': { $gte: getOldestPendingDate() }, ...buildPendingFilter(fresh) };
  await OperatorModel.updateOne(
    { ...buildUnchangedFilter(operator), $nor: [isGood] },
    { $set: { totpPending: fresh } },
  );
  const current = await OperatorModel.findOne(
    { ...buildUnchangedFilter(operator), ...isGood },
    { totpPending: 1 },
  ).lean<Operator>();
  if (!current?.totpPending) {
    throw createExpiredSecretError();
  }
  const totp = createTotp(operator, current.totpPending.secretSealed);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/**
 * Sets up the second factor after a code proves that the app has the secret. Ends all sessions.
 *
 * @param shownTo The value given to `beginEnrolment`.
 * @returns The recovery codes in clear text, which are not stored, and the operator for a new
 * session. Reading the operator again could return a later state.
 * @throws UnauthorizedError for a wrong code.
 * @throws ConflictError if this browser was shown no secret, if the secret has expired, or if a
 * newer one was shown.
 */
export async function confirmEnrolment(
  operator: Operator,
  { code, shownTo, by }: { code: string; shownTo: string; by: ChangedBy },
): Promise<EnrolmentResult> {
  const epoch = operator.sessionEpoch;
  const isGood = {
    ...buildUnchangedFilter(operator),
    'totpPending.since': { $gte: getOldestPendingDate() },
    ...buildPendingFilter({ shownTo, epoch }),
  };
  const current = await OperatorModel.findOne(isGood).lean<Operator>();
  const pending = current?.totpPending;
  if (!pending) {
    throw createExpiredSecretError();
  }
  const { secretSealed } = pending;
  const lastStep = findTimeStep(operator, secretSealed, code);
  if (lastStep === null) {
    throw new UnauthorizedError(asWritten(wrongCode));
  }
  const codes = generateRecoveryCodes();
  const set = {
    totp: { secretSealed, since: now(), lastStep },
    totpPending: null,
    recoveryHashes: codes.map(hashCode),
  };
  await runInTransaction(async (session) => {
    const { matchedCount } = await OperatorModel.updateOne(
      { ...isGood, 'totpPending.secretSealed': secretSealed },
      { $set: set, $inc: { sessionEpoch: 1 } },
      { session },
    );
    if (matchedCount === 0) {
      throw createExpiredSecretError();
    }
    await recordChange(session, operator, { ...by, action: 'operator.totp-enrol' });
  });
  return { codes, operator: { ...current, ...set, sessionEpoch: epoch + 1 } };
}

export interface EnrolmentResult {
  codes: string[];
  operator: Operator;
}

function getOldestPendingDate(): Date {
  return new Date(nowMs() - enrolmentMaxAgeMs);
}

function buildPendingFilter({ shownTo, epoch }: Pick<PendingSecret, 'shownTo' | 'epoch'>) {
  return { 'totpPending.shownTo': shownTo, 'totpPending.epoch': epoch };
}

function createExpiredSecretError(): ConflictError {
  const why = 'it was shown over an hour ago, or a newer one was shown elsewhere';
  return new ConflictError(asWritten(`This key is no longer valid: ${why}. Start again with a new key.`));
}

/**
 * Uses up a TOTP code or a recovery code. A conditional update ensures that each code is accepted
 * only once over all processes.
 * @returns The kind of code.
 * @throws UnauthorizedError for a wrong or used code.
 */
export async function useSecondFactor(operator: Operator, code: string): Promise<'totp' | 'recovery-code'> {
  const typed = code.replace(/[\s-]/g, '').toUpperCase();
  if (/^\d{6}$/.test(typed) && operator.totp) {
    const { secretSealed } = operator.totp;
    const step = findTimeStep(operator, secretSealed, typed);
    if (step !== null) {
      const { matchedCount } = await OperatorModel.updateOne(
        { _id: operator._id, 'totp.secretSealed': secretSealed, 'totp.lastStep': { $lt: step } },
        { $set: { 'totp.lastStep': step } },
      );
      if (matchedCount === 1) {
        return 'totp';
      }
    }
  } else if (/^[A-Z2-7]{16}$/.test(typed) && operator.totp) {
    const { secretSealed } = operator.totp;
    const hash = hashCode(typed);
    const { matchedCount } = await OperatorModel.updateOne(
      { _id: operator._id, 'totp.secretSealed': secretSealed, recoveryHashes: hash },
      { $pull: { recoveryHashes: hash } },
    );
    if (matchedCount === 1) {
      return 'recovery-code';
    }
  }
  throw new UnauthorizedError(asWritten(wrongCode));
}

/**
 * Replaces the remaining recovery codes.
 * @returns The new codes in clear text, which are not stored.
 * @throws ConflictError if there is no second factor, or all sessions were ended since the operator
 * was read.
 */
export async function replaceRecoveryCodes(operator: Operator, by: ChangedBy): Promise<string[]> {
  const codes = generateRecoveryCodes();
  await runInTransaction(async (session) => {
    const { matchedCount } = await OperatorModel.updateOne(
      { ...buildUnchangedFilter(operator), totp: { $ne: null } },
      { $set: { recoveryHashes: codes.map(hashCode) } },
      { session },
    );
    if (matchedCount === 0) {
      throw operator.totp ? createChangedSinceProofError(operator) : createNoSecondFactorError();
    }
    await recordChange(session, operator, { ...by, action: 'operator.recovery-codes' });
  });
  return codes;
}

function createNoSecondFactorError(): ConflictError {
  return new ConflictError(asWritten('There is no second factor yet. Set it up first.'));
}

/**
 * Removes the second factor of an operator who lost the app and the recovery codes. Ends all
 * sessions.
 */
export async function resetSecondFactor(operator: Operator, by: ChangedBy): Promise<void> {
  await runInTransaction(async (session) => {
    await OperatorModel.updateOne(
      { _id: operator._id },
      { $set: { totp: null, totpPending: null, recoveryHashes: [] }, $inc: { sessionEpoch: 1 } },
      { session },
    );
    await recordChange(session, operator, { ...by, action: 'operator.totp-reset' });
  });
}

async function recordChange(
  session: Session,
  { _id, username }: Operator,
  entry: ChangedBy & { action: string },
): Promise<void> {
  await recordAudit(session, { ...entry, subject: { kind: 'operator', id: _id }, after: { username } });
}

/** Returns the 30 s period of a code. Null if the code is wrong. */
function findTimeStep(operator: Operator, secretSealed: string, code: string): number | null {
  const timestamp = nowMs();
  const delta = createTotp(operator, secretSealed).validate({
    token: code.replace(/\s/g, ''),
    timestamp,
    window: codeWindow,
  });
  return delta === null ? null : Math.floor(timestamp / 1_000 / periodS) + delta;
}

function createTotp(operator: Operator, secretSealed: string): TOTP {
  const secret = Secret.fromBase32(decrypt(secretSealed, getTotpContext(operator._id)));
  return new TOTP({ issuer, label: operator.username, digits: 6, period: periodS, secret });
}

/** Encryption context of an operator's TOTP secret. */
export function getTotpContext(operatorId: string): string {
  return `operator-totp:${operatorId}`;
}

/** Generates recovery codes of 80 random bits each, as `ABCD-EFGH-IJKL-MNOP`. */
function generateRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesMax }, () => {
    const text = new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32;
    return text.match(/.{4}/g)?.join('-') ?? text;
  });
}

function hashCode(code: string): string {
  return createHash('sha256')
    .update(`recovery ${code.replaceAll('-', '')}`)
    .digest('hex');
}
