import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { UnauthorizedError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { logger } from '../shared/logger.js';
import { countLogin, countProof } from './login-limits.js';
import { OperatorModel, type Operator } from './operator.model.js';
import { isCorrectPassword, passwordLengthMax } from './password.js';
import { confirmEnrolment, mustEnrol, useSecondFactor, type EnrolmentResult } from './second-factor.js';
import { isKnownBrowser } from './sessions.js';
import { isUsername } from '../shared/input-rules.js';

/**
 * Next step after the password.
 * - session: the login is complete.
 * - code: the second factor is required.
 * - enrol: the second factor must be set up first.
 */
export interface LoggedIn {
  operator: Operator;
  next: 'session' | 'code' | 'enrol';
}

/**
 * Returns the operator with this name and password. An unknown or invalid name takes the same path
 * and time.
 * @throws UnauthorizedError for a wrong name or password, without revealing which.
 * @throws RateLimitError after too many failed attempts.
 * @throws DependencyError (503/03) while Redis is unavailable.
 */
export async function login(attempt: {
  username: string;
  password: string;
  address: string;
  network: string;
  /** Token of the browser, of any operator. Null if the browser has none. */
  mark: string | null;
}): Promise<LoggedIn> {
  const { password, address, network, mark } = attempt;
  const username = isUsername(attempt.username) ? attempt.username : '';
  // The operator is read before the password check, because a known browser has other limits.
  const operator = await OperatorModel.findOne({ username }).lean<Operator>();
  const knownBrowser = operator && mark !== null && isKnownBrowser(operator, mark) ? mark : null;
  const giveBack = await countLogin({ username, network, knownBrowser });
  const right = await isCorrectPassword(
    operator?.passwordHash ?? null,
    password.slice(0, passwordLengthMax + 1),
  );
  if (!operator || !right) {
    await recordLogin(operator, { action: 'login.failed', after: { factor: 'password' }, address });
    throw new UnauthorizedError(asWritten('The username or the password is wrong.'));
  }
  await giveBack();
  if (operator.totp || mustEnrol(operator)) {
    return { operator, next: operator.totp ? 'code' : 'enrol' };
  }
  await recordLogin(operator, { action: 'login', after: { factor: 'password' }, address });
  return { operator, next: 'session' };
}

/**
 * Completes a login with a second-factor code, after the right password.
 * @throws UnauthorizedError if the code is wrong or was used before.
 * @throws RateLimitError after five wrong codes.
 */
export async function completeWithCode(operator: Operator, code: string, client: ProofClient): Promise<void> {
  const factor = await verifyCode(operator, code, client);
  await recordLogin(operator, { action: 'login', after: { factor }, address: client.address });
}

/** Records the login of an operator who has just set up the second factor. */
export async function recordEnrolledLogin(operator: Operator, address: string): Promise<void> {
  await recordLogin(operator, { action: 'login', after: { factor: 'totp' }, address });
}

export interface ProofClient {
  address: string;
  network: string;
}

/**
 * Verifies that the person at a logged-in browser is the session's operator, by the password and,
 * if set up, a second-factor code.
 * @throws UnauthorizedError if the password or the code is wrong.
 * @throws RateLimitError after too many failed attempts.
 * @throws DependencyError (503/03) while Redis is unavailable.
 */
export async function verifyOperator(
  operator: Operator,
  proof: { password: string; code: string },
  client: ProofClient,
): Promise<void> {
  const giveBack = await countProof(operator._id, 'password', client.network);
  if (!(await isCorrectPassword(operator.passwordHash, proof.password.slice(0, passwordLengthMax + 1)))) {
    await recordLogin(operator, {
      action: 'login.failed',
      after: { factor: 'password' },
      address: client.address,
    });
    throw new UnauthorizedError(asWritten('The password is wrong.'));
  }
  if (operator.totp) {
    await verifyCode(operator, proof.code, client);
  }
  await giveBack();
}

/**
 * Sets up the second factor. Its codes are rate limited like those of a login. Otherwise a stolen
 * session could guess a code for an unconfirmed secret and obtain recovery codes.
 * @throws UnauthorizedError or ConflictError under the conditions of `confirmEnrolment`.
 * @throws RateLimitError after five wrong codes.
 */
export async function enrol(
  operator: Operator,
  code: string,
  { shownTo, by, seat }: { shownTo: string; by: ChangedBy; seat: ProofClient },
): Promise<EnrolmentResult> {
  return countAttempt(operator, seat, () => confirmEnrolment(operator, { code, shownTo, by }));
}

async function verifyCode(operator: Operator, code: string, client: ProofClient): Promise<string> {
  return countAttempt(operator, client, () => useSecondFactor(operator, code.slice(0, codeLengthMax)));
}

async function countAttempt<T>(
  operator: Operator,
  client: ProofClient,
  useCode: () => Promise<T>,
): Promise<T> {
  const giveBack = await countProof(operator._id, 'code', client.network);
  try {
    const done = await useCode();
    await giveBack();
    return done;
  } catch (error) {
    if (error instanceof UnauthorizedError) {
      await recordLogin(operator, {
        action: 'login.failed',
        after: { factor: 'code' },
        address: client.address,
      });
    }
    throw error;
  }
}

const codeLengthMax = 40;

/**
 * Records a login or a refusal. The input is neither logged nor stored, because a user may enter a
 * password as the username.
 */
async function recordLogin(
  operator: Operator | null,
  entry: { action: string; after: { factor: string }; address: string },
): Promise<void> {
  const { action, after, address } = entry;
  const isIn = action === 'login';
  await recordAudit(null, {
    actor: isIn && operator ? `operator:${operator.username}` : 'anonymous',
    action,
    subject: { kind: 'operator', id: operator?._id ?? 'unknown' },
    after: operator ? { ...after, username: operator.username } : after,
    from: address,
  });
  logger[isIn ? 'info' : 'warn'](isIn ? 'operator logged in' : 'operator login refused', {
    address,
    ...(isIn && operator && { operator: operator.username, role: operator.role }),
  });
}
