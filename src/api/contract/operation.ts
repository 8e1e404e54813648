/**
 * An operation is one API call as data: path, input schemas, response schema and handler. The
 * router and the OpenAPI document are both built from it, so that they cannot differ.
 */
import type { Readable } from 'node:stream';
import type Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import type { AuthenticatedCaller, Permission } from '../../accounts/authenticate.js';
import { getInputLimits } from './input-limits.js';
import type { ResponseCode } from '../../shared/errors.js';
import type { Message } from '../../shared/say.js';
import type { ChangedBy } from '../../audit/record-audit.js';

export interface Call<Body, Params, Query> extends AuthenticatedCaller {
  body: Body;
  params: Params;
  query: Query;
  requestId: string;
  /** The client's address. An IPv4-mapped address is shown as IPv4. */
  address: string;
  /** True if the Accept header prefers this media type to JSON. */
  prefers: (mediaType: string) => boolean;
}

/** A successful response. The default is HTTP 200 with code 00. */
export interface Reply {
  httpStatus?: 200 | 201 | 202;
  code?: Extract<ResponseCode, '00' | '05'>;
  message?: Message;
  /** A `JsonList` if the list may be long. */
  data: unknown;
  /** Sent instead of the envelope. */
  file?: FileReply;
  /**
   * Digest for the ETag of a `conditional` operation whose data is a `JsonList`. If absent, the
   * digest is computed from `data`.
   */
  digest?: string;
}

export interface FileReply {
  filename: string;
  /** Content-Type. */
  type: string;
  /** Size in bytes. Null if it is unknown until the file has been read. */
  size: number | null;
  open(): Readable;
}

export interface Operation<Body = unknown, Params = unknown, Query = unknown> {
  /** Unique name in the OpenAPI document, in camelCase. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path. */
  path: string;
  /** Role whose keys may call it. */
  role: Role;
  /**
   * Power that the caller's credential must have. The default is `own`, which only the current API
   * key has.
   */
  needs?: Permission;
  tag: 'Wallet' | 'Buyer' | 'Seller' | 'Sandbox';
  summary: string;
  description?: string;
  body?: Joi.ObjectSchema<Body>;
  params?: Joi.ObjectSchema<Params>;
  query?: Joi.ObjectSchema<Query>;
  /** Schema of `data`, or of the file if the response is always a file. */
  data: Joi.Schema;
  /** Schema of `data` in a 202 response. */
  unfinishedData?: Joi.Schema;
  /** Also accepts the query parameter `token` instead of a key (see reports/downloads.ts). */
  takesToken?: true;
  /**
   * Sends a file instead of the envelope. `always` and `bytes` do so for every call, `onRequest`
   * only if the client asks for one. With `bytes` the file is never JSON.
   */
  file?: 'always' | 'onRequest' | 'bytes';
  /** Media types of the file in addition to JSON. Default: only csv. */
  fileTypes?: string[];
  /**
   * For lists that clients poll. The response has an ETag, and a request for an unchanged list gets
   * 304.
   */
  conditional?: true;
  /** Status codes of a success. Default 200. */
  successStatuses?: (200 | 201 | 202)[];
  /** Failure status codes in addition to those of every call. */
  failures?: (402 | 404 | 409 | 422 | 503)[];
  /** Successful calls are not written to the request log, because the operation reads that log. */
  readsRequestLog?: true;
  handle(call: Call<Body, Params, Query>): Promise<Reply>;
}

/** Defaults to the strictest power, so that a new operation cannot be open by mistake. */
export function getRequiredPermission({ needs }: Pick<AnyOperation, 'needs'>): Permission {
  return needs ?? 'own';
}

/** Any operation. Its schemas have validated the input before `handle` gets it. */
export type AnyOperation = Operation<never, never, never>;

/**
 * Types `handle` by the schemas of the operation.
 * @throws Error if a schema has no size limits; see input-limits.ts.
 */
export function defineOperation<Body = unknown, Params = unknown, Query = unknown>(
  operation: Operation<Body, Params, Query>,
): AnyOperation {
  for (const schema of [operation.body, operation.params, operation.query]) {
    if (schema) {
      getInputLimits(schema);
    }
  }
  return operation as unknown as AnyOperation;
}

/**
 * Builds the fields that differ between the buyers' and the sellers' operation of one kind.
 * @param call.name Returns the operation id for `Buyer` or `Seller`.
 * @param call.path Path below `/api/<role>`.
 */
export function buildRoleFields(
  role: Role,
  call: { name: (who: 'Buyer' | 'Seller') => string; path: string },
): Pick<Operation, 'id' | 'path' | 'role' | 'tag'> {
  const who = role === 'buyer' ? 'Buyer' : 'Seller';
  return { id: call.name(who), path: `/api/${role}${call.path}`, role, tag: who };
}

/** Returns the actor of a change for the audit log, with the id of its key. */
export function getChangedBy({
  account,
  address,
  keyId,
}: Pick<Call<never, never, never>, 'account' | 'address' | 'keyId'>): ChangedBy & { keyId: string } {
  return { actor: `account:${account.username}`, from: address, reason: null, keyId };
}
