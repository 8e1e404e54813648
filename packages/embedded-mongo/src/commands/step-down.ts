import { loseElection } from '../election.js';
import { MongoError } from '../errors.js';
import { abortTransactions } from '../transactions/sessions.js';
import type { CommandContext, CommandResult, Server } from './context.js';
import { boolField, numberField } from './fields.js';

/**
 * Runs `replSetStepDown`: the server stops being primary for some seconds. Without `force` it is
 * refused, because the set has no other member that could become primary.
 */
export function replSetStepDown({ server, command, database }: CommandContext): CommandResult {
  if (database !== 'admin') {
    throw new MongoError(13, 'replSetStepDown may only be run against the admin database.');
  }
  const seconds = numberField(command, 'replSetStepDown', 0);
  if (!(seconds > 0)) {
    throw new MongoError(2, 'stepdown period must be a positive integer');
  }
  if (!server.election.isPrimary) {
    throw new MongoError(10107, "not primary so can't step down");
  }
  if (!boolField(command, 'force')) {
    throw new MongoError(
      262,
      'No electable secondaries caught up. Please use the replSetStepDown command with the argument {force: true} to force node to step down.',
    );
  }
  stepDown(server, seconds * 1000);
  return {};
}

/** Makes the server lose an election. Open transactions are aborted, and connections stay open. */
export function stepDown({ election, store, sessions }: Server, ms: number): void {
  loseElection(election, ms);
  abortTransactions(store, sessions);
}
