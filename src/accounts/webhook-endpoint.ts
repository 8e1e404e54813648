import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/** Versions of webhook bodies, the current one last; sent in the header `x-api-version`. */
export const apiVersions = ['1'] as const;
export type ApiVersion = (typeof apiVersions)[number];
export const currentApiVersion = '1' satisfies ApiVersion;

/** The settings of an endpoint, without its URL. */
export interface EndpointSettings {
  /** Names of events, of groups (`transaction.*`), or `*`. */
  events: string[];
  version: ApiVersion;
  description: string | null;
  /** Requests in flight, 1 to `limits.inFlightMax`. Null or absent: `limits.inFlightDefault`. */
  inFlightLimit?: number | null;
}

/** A replaced secret, which also signs until it expires. */
export interface ReplacedSecret {
  sealed: string;
  validUntil: Date;
}

export interface WebhookEndpoint extends EndpointSettings {
  /** `defaultEndpointId` or a generated id; unique in its account. */
  id: string;
  url: string;
  secretSealed: string;
  previousSecret: ReplacedSecret | null;
}

/** Id of the endpoint of `webhook_url`. It uses the account's secret, as callbacks do. */
export const defaultEndpointId = 'default';

/** Settings of an endpoint that sets none. */
export const defaultEndpointSettings: EndpointSettings = {
  events: ['*'],
  version: currentApiVersion,
  description: null,
  inFlightLimit: null,
};

/** The account fields that define its endpoints. */
export interface EndpointOwner {
  _id: string;
  /** The URL of the default endpoint; null if there is none. */
  webhookUrl: string | null;
  /** Settings of the default endpoint; null or absent: `defaultEndpointSettings`. */
  webhookSettings?: EndpointSettings | null;
  /** The other endpoints. `limits.webhookEndpointsMax` includes the default one. Absent: none. */
  webhookEndpoints?: WebhookEndpoint[];
  webhookSecretSealed: string;
  /** The secret before the last rotation. */
  previousWebhookSecret: ReplacedSecret | null;
}

/**
 * Returns all endpoints of an account: the default one first if it is set, then the others in order
 * of creation.
 */
export function getEndpoints(account: EndpointOwner): WebhookEndpoint[] {
  const others = account.webhookEndpoints ?? [];
  return account.webhookUrl === null
    ? others
    : [
        {
          ...defaultEndpointSettings,
          ...account.webhookSettings,
          id: defaultEndpointId,
          url: account.webhookUrl,
          secretSealed: account.webhookSecretSealed,
          previousSecret: account.previousWebhookSecret,
        },
        ...others,
      ];
}

/** @throws NotFoundError (404/02), also for an endpoint of another account. */
export function requireEndpoint(account: EndpointOwner, id: string): WebhookEndpoint {
  const found = getEndpoints(account).find((each) => each.id === id);
  if (!found) {
    throw new NotFoundError(say('noEndpoint'));
  }
  return found;
}
