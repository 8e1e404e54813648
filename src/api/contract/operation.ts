/**
 * An operation is one call of the interface as data: where it is, what it takes, what it returns, and the
 * function that does it. The router mounts it and the OpenAPI document is made from it, so that the two can
 * never differ.
 */
import type { Readable } from 'node:stream';
import type Joi from 'joi';
import type { Role } from '../../accounts/account.model.js';
import type { Authenticated, Power } from '../../accounts/authenticate.js';
import { getInputLimits } from './input-limits.js';
import type { ResponseCode } from '../../shared/errors.js';
import type { Message } from '../../shared/say.js';
import type { ChangedBy } from '../../audit/record-audit.js';

export interface Call<Body, Params, Query> extends Authenticated {
  body: Body;
  params: Params;
  query: Query;
  requestId: string;
  /** The client's address, IPv4 where it is a mapped one. */
  address: string;
  /** Whether the client would rather have this type than JSON, by its Accept header. */
  prefers: (mediaType: string) => boolean;
}

/** A success. The default is HTTP 200, code 00. */
export interface Reply {
  httpStatus?: 200 | 201 | 202;
  code?: Extract<ResponseCode, '00' | '05'>;
  message?: Message;
  /** A list that may be long as `JsonList`. */
  data: unknown;
  /** Sent instead of the envelope. */
  file?: FileReply;
  /** Of `conditional` operations whose data is a `JsonList`: a digest of it. Left out: of the data as it is. */
  digest?: string;
}

export interface FileReply {
  filename: string;
  /** Content-Type. */
  type: string;
  /** Bytes; null where it is not known before the end. */
  size: number | null;
  open(): Readable;
}

export interface Operation<Body = unknown, Params = unknown, Query = unknown> {
  /** Name in the OpenAPI document, in camelCase, unique. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path. */
  path: string;
  /** Whose key may call it. */
  role: Role;
  /** What its caller's credential must be able to do. Left out: `own`, which the current API key alone can. */
  needs?: Power;
  tag: 'Wallet' | 'Buyer' | 'Seller' | 'Sandbox';
  summary: string;
  description?: string;
  body?: Joi.ObjectSchema<Body>;
  params?: Joi.ObjectSchema<Params>;
  query?: Joi.ObjectSchema<Query>;
  /** Shape of `data`; of the file itself where the answer is always one. */
  data: Joi.Schema;
  /** Shape of `data` of a 202. */
  unfinishedData?: Joi.Schema;
  /** Works without a key too, by the query parameter `token` (see reports/downloads.ts). */
  takesToken?: true;
  /** Answers with a file instead of the envelope, or can when the client asks for one; `bytes`: always, and never JSON. */
  file?: 'always' | 'onRequest' | 'bytes';
  /** The media types of such a file beside JSON; left out: csv alone. */
  fileTypes?: string[];
  /** A list that is asked for again and again: its answer has an ETag, and one that the caller has is not sent again (304). */
  conditional?: true;
  /** What it answers when all is well; default 200. */
  successStatuses?: (200 | 201 | 202)[];
  /** Failures of its own, beside those of every call. */
  failures?: (402 | 404 | 409 | 422 | 503)[];
  /** Left out of the account's request log where it succeeds: it is what reads it. */
  readsRequestLog?: true;
  handle(call: Call<Body, Params, Query>): Promise<Reply>;
}

/** Closed unless the operation says otherwise, so that a new one cannot forget it. */
export function getRequiredPower({ needs }: Pick<AnyOperation, 'needs'>): Power {
  return needs ?? 'own';
}

/** Any operation, whatever it takes; its schemas have checked the input before `handle` sees it. */
export type AnyOperation = Operation<never, never, never>;

/** Gives `handle` the types of the schemas beside it. @throws Error where one bounds nothing: see input-limits.ts. */
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
 * What tells the buyers' and the sellers' operation of one kind apart: name, path, and whose key may call it.
 * @param call.name Its name in the OpenAPI document, with `who` for the role.
 * @param call.path Below `/api/<role>`.
 */
export function buildRoleFields(
  role: Role,
  call: { name: (who: 'Buyer' | 'Seller') => string; path: string },
): Pick<Operation, 'id' | 'path' | 'role' | 'tag'> {
  const who = role === 'buyer' ? 'Buyer' : 'Seller';
  return { id: call.name(who), path: `/api/${role}${call.path}`, role, tag: who };
}

/** Who makes a change by this call, for the audit log, and with which key. */
export function getChangedBy({
  account,
  address,
  keyId,
}: Pick<Call<never, never, never>, 'account' | 'address' | 'keyId'>): ChangedBy & { keyId: string } {
  return { actor: `account:${account.username}`, from: address, reason: null, keyId };
}
