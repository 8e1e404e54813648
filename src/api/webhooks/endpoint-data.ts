/**
 * Schemas of a webhook endpoint (docs/reference/api/webhooks.md#webhook-endpoints), and conversions
 * from and to them.
 */
import Joi from 'joi';
import { nameSchema, text, timestamp, url, findUrlErrors } from '../contract/fields.js';
import { limits } from '../../../config/limits.js';
import {
  currentApiVersion,
  apiVersions,
  defaultEndpointSettings,
  type ApiVersion,
  type EndpointOwner,
} from '../../accounts/webhook-endpoint.js';
import { ValidationError } from '../../shared/errors.js';
import type { EndpointChange, NewEndpoint } from '../../accounts/changes/change-endpoints.js';
import { getDisabledAdvice, eventFilters } from '../../webhooks/account-events.js';
import { openWebhookSecret } from '../../webhooks/deliver/sign-delivery.js';
import type { ListedEndpoint } from '../../webhooks/endpoints/endpoint-status.js';
import { say } from '../../shared/say.js';
import { label, toJoiMessages } from '../language/joi-messages.js';

export interface EndpointBody {
  url?: string;
  events?: string[];
  version?: ApiVersion;
  description?: string | null;
  in_flight_limit?: number | null;
}

const filters: readonly string[] = eventFilters;

const eventFilter = Joi.string()
  .max(50)
  .custom((value: string, helpers) =>
    filters.includes(value)
      ? value
      : helpers.message(
          toJoiMessages({
            custom: say('noSuchEvent', {
              ...label,
              value: JSON.stringify(value),
              events: filters.join(', '),
            }),
          }),
        ),
  );

export const endpointFields = {
  url: url.description('Events are sent to this URL. It has the same rules as webhook_url.'),
  events: Joi.array()
    .items(eventFilter)
    .min(1)
    .max(filters.length)
    .description(`Events to send: ${filters.join(', ')}. Default: all. config.updated is always sent.`)
    .example(['transaction.success', 'transaction.failed']),
  version: Joi.string()
    .valid(...apiVersions)
    .description(
      `Version of the bodies, which the header x-api-version contains. Default: the current one, ${currentApiVersion}.`,
    )
    .example(currentApiVersion),
  description: text(limits.webhookDescriptionMax)
    .min(1)
    .allow(null)
    .description('Purpose of the endpoint.')
    .example('Accounting'),
  in_flight_limit: Joi.number()
    .integer()
    .min(1)
    .max(limits.inFlightMax)
    .allow(null)
    .description(
      `Maximum requests in flight. Null or absent: ${limits.inFlightDefault}. Delivery starts with ` +
        `${limits.inFlightStart} and rises to the maximum while the endpoint responds well.`,
    )
    .example(8),
};

export interface EndpointParams {
  id: string;
}

export const endpointParams = Joi.object<EndpointParams>({ id: text(100).required() });

/** The `endpoint_id` of a query or body. */
export const endpointId = text(100)
  .min(1)
  .description('Id of one endpoint. `default` is the endpoint of webhook_url.');

/** @throws ValidationError (400/01) for a URL that we would not call. */
export async function requireValidUrl({ url: value }: EndpointBody): Promise<void> {
  const errors = await findUrlErrors({ url: value });
  if (errors.length > 0) {
    throw new ValidationError(errors);
  }
}

/** Fields that are left out get their defaults. */
export function toNewEndpoint({ url: value, ...settings }: EndpointBody & { url: string }): NewEndpoint {
  return { ...defaultEndpointSettings, ...toEndpointChange(settings), url: value };
}

/** Fields that are left out stay unchanged. */
export function toEndpointChange({ in_flight_limit: inFlightLimit, ...rest }: EndpointBody): EndpointChange {
  return { ...rest, ...(inFlightLimit !== undefined && { inFlightLimit }) };
}

/** Converts an endpoint to its response form, with its decrypted secret. */
export function presentEndpoint(account: EndpointOwner, { endpoint, health }: ListedEndpoint) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    version: endpoint.version,
    description: endpoint.description,
    in_flight_limit: endpoint.inFlightLimit ?? null,
    secret: openWebhookSecret(account._id, endpoint.secretSealed),
    status: health.status,
    since: health.since?.toISOString() ?? null,
    reason: health.reason,
    action: getDisabledAdvice(health.reason),
  };
}

export const endpointData = nameSchema(
  'WebhookEndpoint',
  Joi.object({
    id: Joi.string().required().description('`default` is the endpoint of webhook_url in api/config.'),
    url: Joi.string().required(),
    events: Joi.array().items(Joi.string()).required(),
    version: Joi.string().required(),
    description: Joi.string().allow(null).required(),
    in_flight_limit: Joi.number()
      .integer()
      .allow(null)
      .required()
      .description(`Maximum requests in flight. Null: ${limits.inFlightDefault}.`),
    secret: Joi.string().required().description('The secret that verifies the signatures of its requests.'),
    status: Joi.string()
      .valid('enabled', 'failing', 'disabled')
      .required()
      .description(
        'failing: no success for a day. disabled: nothing is sent until you enable it or change its URL.',
      ),
    since: timestamp.allow(null).required().description('Time since which it is failing or disabled.'),
    reason: Joi.string()
      .valid('failing', 'gone', null)
      .required()
      .description('Why it is disabled. failing: no success for 120 hours. gone: it returned 410.'),
    action: Joi.string().allow(null).required().description('What to do next.'),
  }),
);
