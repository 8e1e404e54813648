import { MongoServerError } from 'mongodb';
import { isMongoUnavailable, isTransient } from '../database/mongo.js';
import { redis } from '../redis/connection.js';
import { getErrorCode } from '../redis/connection-errors.js';
import { DependencyError } from '../shared/errors.js';

/** What a MongoDB says that lets nobody in, is full, is stopping, looks for a primary, or did not get to it in time. */
const mongoCodes = new Set([
  6, 7, 13, 18, 24, 50, 63, 89, 91, 112, 133, 134, 189, 202, 262, 317, 9001, 10107, 11600, 11602, 13435,
  13436, 14031,
]);

/** By the protocol of Redis the first word of an error; of sockets and of the driver their code or class. */
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
 * True for what a dependency has done to a job, and not the job itself: MongoDB or Redis is away, starts, is full or too
 * slow. While Redis does not answer, whatever goes wrong is taken for that.
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
