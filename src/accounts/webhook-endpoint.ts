import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';

/** Where an account hears of what concerns it: its webhook endpoints, the first of which is the `webhook_url` of api/config. */

/** Versions of the bodies of webhooks, the present one last; the header `x-api-version`. */
export const apiVersions = ['1'] as const;
export type ApiVersion = (typeof apiVersions)[number];
export const currentApiVersion = '1' satisfies ApiVersion;

/** What an endpoint chooses beside its URL. */
export interface EndpointSettings {
  /** Names of events, of groups (`transaction.*`), or `*`. */
  events: string[];
  version: ApiVersion;
  description: string | null;
  /** Requests that may be under way to it, from 1 to `limits.inFlightMax`. Null or absent: `limits.inFlightDefault`. */
  inFlightLimit?: number | null;
}

/** A secret that was replaced; it signs too until it expires. */
export interface ReplacedSecret {
  sealed: string;
  validUntil: Date;
}

export interface WebhookEndpoint extends EndpointSettings {
  /** `defaultEndpointId`, or an id of ours; unique in its account. */
  id: string;
  url: string;
  secretSealed: string;
  previousSecret: ReplacedSecret | null;
}

/** The endpoint that `webhook_url` is. Its secret is the account's, which signs callbacks too. */
export const defaultEndpointId = 'default';

/** What an endpoint is that says nothing of itself. */
export const defaultEndpointSettings: EndpointSettings = {
  events: ['*'],
  version: currentApiVersion,
  description: null,
  inFlightLimit: null,
};

/** The fields of an account that its endpoints are made of. */
export interface EndpointOwner {
  _id: string;
  /** The first endpoint. */
  webhookUrl: string | null;
  /** What the first chose; null or absent: `usualSettings`. */
  webhookSettings?: EndpointSettings | null;
  /** The others, at most `limits.webhookEndpointsMax` together with the first. Absent: none. */
  webhookEndpoints?: WebhookEndpoint[];
  webhookSecretSealed: string;
  /** The secret before the last rotation. */
  previousWebhookSecret: ReplacedSecret | null;
}

/** All endpoints of an account, that of `webhook_url` first where it is set, the others in the order of their making. */
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
