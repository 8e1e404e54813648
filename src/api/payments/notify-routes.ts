import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../shared/is-same-secret.js';
import { nowMs } from '../../shared/clock.js';
import { UnauthorizedError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import { Router, type RequestHandler } from 'express';
import Joi from 'joi';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { receivePayment } from '../../deposits/receive-payment.js';
import { pathSafeRefId, refId, rupiah, text } from '../contract/fields.js';
import { HttpRequestError } from '../http/http-status.js';
import { getClientAddress } from '../http/read-request.js';
import { limitBodySize, parseBytes } from '../http/request-body.js';
import { limitFailedAuthentication } from '../http/access-control.js';
import { getRequestContext } from '../http/request-context.js';
import { refuseMethod } from '../http/mount-operations.js';
import { failWhenMongoIsDown } from '../http/mongo-timeout.js';
import { validate } from '../contract/validate.js';
import { getMessageText } from '../language/response-language.js';

/** Maximum age of a notice. An older one may be a replay. */
const ageMaxMs = 5 * 60_000;

/**
 * Verifies the signature and the age of a notice
 * (docs/reference/api/deposits.md#payment-notifications).
 * @throws UnauthorizedError (401/07) if either of them is invalid.
 */
export function verifyNotification(
  notice: { raw: Buffer; timestamp: string | undefined; signature: string | undefined },
  secret: string,
): void {
  const { raw, timestamp = '', signature = '' } = notice;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs() - Number(timestamp) * 1_000) > ageMaxMs) {
    throw new UnauthorizedError(say('timestampWrong'), 'invalid_signature');
  }
  const [, given = ''] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  const right = createHmac('sha256', secret).update(`${timestamp}.`).update(raw).digest();
  if (!isSameSecret(Buffer.from(given, 'hex'), right)) {
    throw new UnauthorizedError(say('signatureWrong'), 'invalid_signature');
  }
}

interface Body {
  payment_id: string;
  username: string;
  ref_id: string;
  amount: number;
}

const body = Joi.object<Body>({
  payment_id: pathSafeRefId.required(),
  username: text(100).min(1).required(),
  ref_id: refId.required(),
  amount: rupiah({ min: 1, max: limits.moneyMax }).required(),
});

const path = '/internal/payments/notify';

/**
 * Serves the path on which a bank or payment gateway reports a payment
 * (docs/reference/api/deposits.md#payment-notifications). The path does not exist without
 * PAYMENT_NOTIFY_SECRET.
 * Mount it before the JSON body parser, because the signature covers the raw body.
 */
export function createPaymentNotifyRouter(): Router {
  const router = Router({ caseSensitive: true });
  const { PAYMENT_NOTIFY_SECRET: secret } = env;
  if (secret !== null) {
    const raw = parseBytes({ limit: limits.bodyBytesMax });
    router.post(path, limitBodySize(limits.bodyBytesMax), raw, receive(secret));
    router.all(path, refuseMethod(['POST']));
  }
  return router;
}

function receive(secret: string): RequestHandler {
  return async (request, response) => {
    const bytes: unknown = request.body;
    const raw = Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0);
    const notice = { raw, timestamp: request.get('x-timestamp'), signature: request.get('x-signature') };
    // Async, so that a refusal is a rejected promise.
    const signed = (async () => {
      await Promise.resolve();
      verifyNotification(notice, secret);
    })();
    await limitFailedAuthentication(getClientAddress(request), signed);
    const { payment_id: _id, ref_id, ...told } = validate(body, parse(raw));
    const payment = await failWhenMongoIsDown(
      receivePayment({ ...told, _id, refId: ref_id }, getClientAddress(request)),
    );
    const isCase = payment.status === 'case';
    getRequestContext(response).code = isCase ? '05' : '00';
    response.set('Cache-Control', 'no-store');
    response.status(isCase ? 202 : 200).json({
      status: 'success',
      code: isCase ? '05' : '00',
      ...(isCase && { message: getMessageText(response, say('noDepositFits')) }),
      data: { payment_id: payment._id, ref_id: payment.refId, status: payment.status },
    });
  };
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch (error) {
    throw new HttpRequestError(say('bodyNoJson'), 400, { cause: error });
  }
}
