import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { errors } from 'undici';
import { withTimeout } from '../concurrency.js';
import { NoAddressError, resolutionDelayMs, type FamilyLookup } from './resolve-host.js';

/** Limit for each address, and the same again for resolving the host name and for TLS. */
export const connectTimeoutMs = 5_000;
/** The next address is tried if the previous one has not connected after this time. */
const attemptDelayMs = 250;

/** Errors of this machine's own network, such as IPv6 without a route. */
const localCodes = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EHOSTUNREACH']);

export interface SocketTarget {
  port: number;
  /** One lookup for each family. Addresses of the first family are preferred. */
  lookups: FamilyLookup[];
  /** Throws if an address must not be called. The whole target is then refused. */
  requireAllowed?: (addresses: LookupAddress[]) => void;
}

/**
 * Opens a TCP connection to the first address that accepts one (Happy Eyeballs v2, RFC 8305).
 * Attempts start 250 ms apart, or when the previous one fails, and continue in parallel. Node's own
 * `autoSelectFamily` gives each address only 250 ms, so one lost packet would fail the call.
 * @throws The error of an address, or of a lookup if there is no address.
 */
export function connectSocket({ port, lookups, requireAllowed }: SocketTarget): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const found: LookupAddress[][] = lookups.map(() => []);
    const lookupErrors: Error[] = [];
    const attemptErrors: Error[] = [];
    const attempts = new Set<Socket>();
    let pendingLookups = lookups.length;
    let attemptCount = 0;
    let isOver = false;
    /** Not null while the next attempt must wait. */
    let timer: NodeJS.Timeout | null = null;

    const end = () => {
      isOver = true;
      clearTimeout(timer ?? undefined);
      attempts.forEach((socket) => socket.destroy());
    };
    const fail = (error: Error) => {
      end();
      reject(error);
    };
    const proceed = () => {
      clearTimeout(timer ?? undefined);
      timer = null;
      const address = isOver ? null : takeNext(found, attemptCount);
      if (address) {
        attemptCount += 1;
        attempts.add(openSocket(address, port, { connected, failed }));
        timer = setTimeout(proceed, attemptDelayMs);
      } else if (!isOver && pendingLookups === 0 && attempts.size === 0) {
        fail(pickError(attemptErrors, lookupErrors));
      }
    };
    const connected = (socket: Socket) => {
      attempts.delete(socket);
      end();
      resolve(socket);
    };
    const failed = (socket: Socket, error: Error) => {
      if (attempts.delete(socket)) {
        attemptErrors.push(error);
        proceed();
      }
    };
    const noteLookup = () => {
      pendingLookups -= 1;
      if (attemptCount === 0 && pendingLookups > 0 && found.some(({ length }) => length > 0)) {
        timer = setTimeout(proceed, resolutionDelayMs);
      } else if (attemptCount === 0 || timer === null) {
        proceed();
      }
    };
    lookups.forEach((lookup, family) => {
      limitLookup(lookup).then(
        (addresses) => {
          try {
            requireAllowed?.(addresses);
          } catch (error) {
            fail(error as Error);
            return;
          }
          // A copy, because calls can share a lookup.
          found[family] = [...addresses];
          noteLookup();
        },
        (error: unknown) => {
          lookupErrors[family] = error as Error;
          noteLookup();
        },
      );
    });
  });
}

function limitLookup(lookup: FamilyLookup): FamilyLookup {
  return withTimeout(connectTimeoutMs, lookup, () =>
    Object.assign(new Error('The host name was not resolved in time'), { code: 'ETIMEOUT' }),
  );
}

/** Takes addresses from the families in turn, because usually a whole family is unreachable. */
function takeNext(found: LookupAddress[][], turn: number): LookupAddress | null {
  const order = found.map((_, index) => found[(turn + index) % found.length] ?? []);
  return order.find(({ length }) => length > 0)?.shift() ?? null;
}

/** The socket keeps an error listener, because an `error` event without a listener ends the process. */
function openSocket(
  { address, family }: LookupAddress,
  port: number,
  events: { connected: (socket: Socket) => void; failed: (socket: Socket, error: Error) => void },
): Socket {
  const socket = connect({
    host: address,
    family,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  const limit = setTimeout(
    () => socket.destroy(new errors.ConnectTimeoutError('The address did not accept in time')),
    connectTimeoutMs,
  );
  socket.on('error', (error) => events.failed(socket, error));
  socket.once('close', () => clearTimeout(limit));
  socket.once('connect', () => {
    clearTimeout(limit);
    events.connected(socket);
  });
  return socket;
}

/** Returns the error that says most about the other side. */
function pickError(attemptErrors: Error[], lookupErrors: Error[]): Error {
  const isLocal = (error: Error) => 'code' in error && localCodes.has(String(error.code));
  const [error] = [
    ...attemptErrors.filter((each) => !isLocal(each)),
    ...attemptErrors,
    ...Object.values(lookupErrors),
  ];
  return error ?? new NoAddressError();
}
