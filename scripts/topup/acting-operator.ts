/**
 * Identifies the operator of a CLI call. Several people often share a system user, so an operator
 * presents a personal key: TOPUP_OPERATOR_KEY, or a file readable only by its owner, named by
 * TOPUP_OPERATOR_KEY_FILE.
 */
import { readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAllowed, describeRefusal, getRight, type OperatorAction } from '../../src/operators/rights.js';
import { UsageError } from './usage-error.js';
import { asWritten } from '../../src/shared/say.js';

export interface OperatorClaim {
  action: OperatorAction;
  /** The operator named by --as. */
  as: string | undefined;
  /**
   * True if the command may run while MongoDB is down. Read commands then run as the system user.
   */
  toleratesOutage: boolean;
}

/**
 * Returns the actor for the audit log if the rights table allows the action. Without a key it is
 * `cli:<system user>`, or in development the operator of --as. In production, and once any operator
 * has a key, changes require a key.
 * @throws UsageError if the key is missing or belongs to another operator.
 * @throws ForbiddenError if the role lacks the right.
 */
export async function actorOf({ action, as, toleratesOutage }: OperatorClaim): Promise<string> {
  const key = givenKey(process.env);
  if (key === null && as === undefined && getRight(action).kind === 'read') {
    return getSystemActor();
  }
  try {
    return await (key === null ? trustHost(action, as) : authenticateByKey(action, { key, as }));
  } catch (error) {
    const { DependencyError } = await import('../../src/shared/errors.js');
    const { isMongoUnavailable } = await import('../../src/database/mongo.js');
    if (toleratesOutage && (isMongoUnavailable(error) || error instanceof DependencyError)) {
      return getSystemActor();
    }
    throw error;
  }
}

async function authenticateByKey(
  action: OperatorAction,
  credentials: { key: string; as: string | undefined },
): Promise<string> {
  const { findOperatorByKey } = await import('../../src/operators/operator-key.js');
  const operator = await findOperatorByKey(credentials.key);
  if (credentials.as !== undefined && credentials.as !== operator.username) {
    throw new UsageError(`The operator key belongs to ${operator.username}, not to ${credentials.as}.`);
  }
  return requireAllowed(operator, action);
}

async function trustHost(action: OperatorAction, as: string | undefined): Promise<string> {
  const [{ anyAdminHasKey, anyOperatorHasKey }, { env }, { isGuarded }] = await Promise.all([
    import('../../src/operators/operator-key.js'),
    import('../../config/env.js'),
    import('../../config/refused-settings.js'),
  ]);
  const isKeyNeeded = isGuarded(env) || (await anyOperatorHasKey());
  if (isKeyNeeded) {
    // The first admin and the first key can be created without a key.
    if (as === undefined && action === 'operator.manage' && !(await anyAdminHasKey())) {
      return getSystemActor();
    }
    throw new UsageError(
      'This command needs an operator key. Set TOPUP_OPERATOR_KEY, or set TOPUP_OPERATOR_KEY_FILE to a file that only you can read. Create a key in the console at /admin/me, or ask an admin to run topup operator key.',
    );
  }
  if (as === undefined) {
    return getSystemActor();
  }
  const { requireOperator } = await import('../../src/operators/require-operator.js');
  return requireAllowed(await requireOperator(as), action);
}

async function requireAllowed(
  { username, role }: { username: string; role: Parameters<typeof isAllowed>[0] },
  action: OperatorAction,
): Promise<string> {
  if (!isAllowed(role, action)) {
    const { ForbiddenError } = await import('../../src/shared/errors.js');
    throw new ForbiddenError(asWritten(describeRefusal(role, action)));
  }
  return `operator:${username}`;
}

function givenKey(environment: NodeJS.ProcessEnv): string | null {
  const key = environment['TOPUP_OPERATOR_KEY'];
  const path = environment['TOPUP_OPERATOR_KEY_FILE'];
  if (key) {
    return key.trim();
  }
  return path ? readKey(path) : null;
}

function readKey(path: string): string {
  try {
    if ((statSync(path).mode & 0o077) === 0) {
      return readFileSync(path, 'utf8').trim();
    }
  } catch {
    throw new UsageError(`TOPUP_OPERATOR_KEY_FILE: ${path} cannot be read.`);
  }
  throw new UsageError(`TOPUP_OPERATOR_KEY_FILE: others can read ${path}. Run: chmod 600 ${path}`);
}

function getSystemActor(): string {
  return `cli:${userInfo().username}`;
}
