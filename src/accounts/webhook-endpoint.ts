import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/** Versions of webhook bodies, oldest first. The version is sent in the header `x-api-version`. */
export const apiVersions = ['1'] as const;
export type ApiVersion = (typeof apiVersions)[number];
export const currentApiVersion = '1' satisfies ApiVersion;

/** The settings of an endpoint, without its URL. */
export interface EndpointSettings {
  /** Names of events, of groups (`transaction.*`), or `*`. */
  events: string[];
  version: ApiVersion;
  description: string | null;
  /**
   * Maximum requests in flight, 1 to `limits.inFlightMax`. If null or absent,
   * `limits.inFlightDefault` applies.
   */
  inFlightLimit?: number | null;
}

/** A replaced secret. Requests are also signed with it until it expires. */
export interface ReplacedSecret {
  sealed: string;
  validUntil: Date;
}

export interface WebhookEndpoint extends EndpointSettings {
  /** `defaultEndpointId` or a generated id. It is unique within the account. */
  id: string;
  url: string;
  secretSealed: string;
  previousSecret: ReplacedSecret | null;
}

/**
 * Id of the endpoint of `webhook_url`. This endpoint uses the account's secret, which also signs
 * callbacks.
 */
export const defaultEndpointId = 'default';

/** Settings of an endpoint without settings of its own. */
export const defaultEndpointSettings: EndpointSettings = {
  events: ['*'],
  version: currentApiVersion,
  description: null,
  inFlightLimit: null,
};

/** The fields of an account that define its endpoints. */
export interface EndpointOwner {
  _id: string;
  /** The URL of the default endpoint. Null if there is none. */
  webhookUrl: string | null;
  /** Settings of the default endpoint. If null or absent, `defaultEndpointSettings` apply. */
  webhookSettings?: EndpointSettings | null;
  /**
   * All endpoints except the default one, which also counts towards `limits.webhookEndpointsMax`.
   * Absent if there are none.
   */
  webhookEndpoints?: WebhookEndpoint[];
  webhookSecretSealed: string;
  /** The secret before the last rotation. Null if there was no rotation. */
  previousWebhookSecret: ReplacedSecret | null;
}

/**
 * Returns all endpoints of an account: the default endpoint first if it is set, then the others in
 * order of creation.
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

/** @throws NotFoundError (404/02) if this account has no such endpoint. */
export function requireEndpoint(account: EndpointOwner, id: string): WebhookEndpoint {
  const found = getEndpoints(account).find((each) => each.id === id);
  if (!found) {
    throw new NotFoundError(say('noEndpoint'));
  }
  return found;
}
