import type { ProviderSettings } from '../accounts/account.model.js';
import { ConflictError } from '../shared/errors.js';
import { asWritten } from '../shared/say.js';
import { getAdapter } from './get-adapter.js';
import { getKind } from './provider-kinds.js';

export interface NewConnection {
  kind: ProviderSettings['kind'];
  /** Null for the default address of the kind. */
  baseUrl: string | null;
  username: string;
  /** In clear text. */
  secret: string;
}

export type ConnectionCheck = { ok: true; balance: number } | { ok: false; problem: string };

/** @throws ConflictError if neither the connection nor its kind has an address. */
export function requireAddress({ kind, baseUrl }: Pick<NewConnection, 'kind' | 'baseUrl'>): string {
  const address = baseUrl ?? getKind(kind).getDefaultAddress();
  if (address === null) {
    throw new ConflictError(asWritten(`A provider of kind ${kind} needs its address.`));
  }
  return address;
}

/** Reads our balance over a connection that is not stored yet. It buys nothing. */
export async function checkConnection(connection: NewConnection): Promise<ConnectionCheck> {
  const { kind, username, secret } = connection;
  const reading = await getAdapter(kind).balance({
    sellerId: `check-${kind}`,
    baseUrl: requireAddress(connection),
    username,
    secret,
  });
  return reading.ok
    ? { ok: true, balance: reading.value }
    : { ok: false, problem: `${describeCause(reading.code)} (${reading.code}: ${reading.message})` };
}

function describeCause(code: string): string {
  switch (code) {
    case '07':
    case '41':
    case 'HTTP_401':
      return 'The address is right, but the username or the secret is wrong.';
    case '45':
    case 'HTTP_403':
      return 'The provider does not accept the IP address of this server: add it in its panel.';
    case 'HTTP_404':
      return 'The address is wrong: a server responds there, but has no such path.';
    case 'UNREADABLE':
      return 'The address is probably wrong: the response is not that of this kind of provider.';
    case 'TIMEOUT':
      return 'The provider did not respond in time. Check the address, or try again later.';
    default:
      return /^HTTP_/.test(code)
        ? 'The provider responds with an error. Check the address, the username and the secret.'
        : 'The address cannot be reached.';
  }
}
