import { MongoServerError } from 'mongodb';
import { isMongoUnavailable, isTransient } from '../database/mongo.js';
import { redis } from '../redis/connection.js';
import { getErrorCode } from '../redis/connection-errors.js';
import { DependencyError } from '../shared/errors.js';

/**
 * MongoDB error codes of failed authentication, a full or stopping server, elections and timeouts.
 */
const mongoCodes = new Set([
  6, 7, 13, 18, 24, 50, 63, 89, 91, 112, 133, 134, 189, 202, 262, 317, 9001, 10107, 11600, 11602, 13435,
  13436, 14031,
]);

/** The first word of Redis errors, and codes or classes of socket and driver errors. */
const otherCodes = new Set([
  'LOADING',
  'READONLY',
  'OOM',
  'MISCONF',
  'MASTERDOWN',
  'NOREPLICAS',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'BUSY',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'MaxRetriesPerRequestError',
  'ClusterAllFailedError',
]);

/**
 * True if a dependency caused the error and not the job: MongoDB or Redis is unavailable, starting,
 * full or too slow. While Redis does not respond, every error counts as an outage.
 */
export function isOutage(error: unknown): boolean {
  if (redis().status !== 'ready') {
    return true;
  }
  for (let each = error; each instanceof Error; each = each.cause) {
    if (
      each instanceof DependencyError ||
      isMongoUnavailable(each) ||
      isTransient(each) ||
      (each instanceof MongoServerError && mongoCodes.has(Number(each.code))) ||
      otherCodes.has(getErrorCode(each))
    ) {
      return true;
    }
  }
  return false;
}
