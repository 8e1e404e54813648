import { errors } from 'undici';
import { lookUp } from '../collections.js';

/** Errors of undici that have no code of their own: by class, or by the message of a `SocketError`. */
const notHttpReason = 'NOT_HTTP';
const socketErrorReasons: Record<string, string> = {
  // Data before a request, or `100 Continue` on a connection without `skipInformational`.
  'bad response': 'UNEXPECTED_RESPONSE',
  'bad upgrade': 'UNEXPECTED_UPGRADE',
};

const descriptions: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name has no address',
  EAI_AGAIN: 'host name could not be resolved',
  ETIMEOUT: 'host name could not be resolved in time',
  EPROTO: 'TLS handshake failed',
  CERT_HAS_EXPIRED: 'TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS certificate chain is incomplete',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS certificate is for another host name',
  UND_ERR_SOCKET: 'connection closed before the end of the response',
  UND_ERR_HEADERS_OVERFLOW: 'response headers are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response has another length than its headers say',
  [notHttpReason]: 'the response is not HTTP',
  UNEXPECTED_RESPONSE: 'a response was sent before the request',
  UNEXPECTED_UPGRADE: 'the response changes the protocol',
};

/**
 * Returns a short code of a failed call, for logs and records. Never the message, because messages
 * of libraries can contain URLs and addresses.
 */
export function getErrorReason(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'ERROR';
  }
  if (error.name === 'TimeoutError') {
    return 'TIMEOUT';
  }
  // undici 7.30 gives parser errors no code, although its documentation says `HPE_…`.
  if (error instanceof errors.HTTPParserError) {
    return notHttpReason;
  }
  const known = error instanceof errors.SocketError ? lookUp(socketErrorReasons, error.message) : undefined;
  return known ?? ('code' in error && typeof error.code === 'string' ? error.code : error.name);
}

/** Describes a code of `getErrorReason`. */
export function describeErrorReason(reason: string): string {
  return lookUp(descriptions, reason) ?? `request failed (${reason})`;
}
