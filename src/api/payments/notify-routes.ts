import { Router, type RequestHandler } from 'express';
import Joi from 'joi';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import { receivePayment } from '../../deposits/receive-payment.js';
import { refId, rupiah, text } from '../fields.js';
import { HttpRequestError } from '../http-status.js';
import { getClientAddress } from '../middleware/address.js';
import { limitBodySize } from '../middleware/body-within.js';
import { parseBytes } from '../middleware/parse-body.js';
import { limitFailedAuthentication } from '../middleware/rate-limit.js';
import { getRequestContext } from '../middleware/request-context.js';
import { refuseMethod } from '../mount.js';
import { whileMongoAnswers } from '../patience.js';
import { validate } from '../validate.js';
import { checkNotice } from './check-notice.js';
import { say } from '../../shared/say.js';
import { getMessageText } from '../words-in.js';

interface Body {
  payment_id: string;
  username: string;
  ref_id: string;
  amount: number;
}

const body = Joi.object<Body>({
  payment_id: refId.required(),
  username: text(100).min(1).required(),
  ref_id: refId.required(),
  amount: rupiah({ min: 1, max: limits.moneyMax }).required(),
});

const path = '/internal/payments/notify';

/**
 * Where the bank or a payment gateway tells that money has arrived (docs/reference/api/deposits.md#payment-notifications). The
 * signature covers the bytes of the body, so this comes before the JSON body parser. Without
 * PAYMENT_NOTIFY_SECRET there is no such path.
 */
export function paymentNotifyRoutes(): Router {
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
    // Async, so that a refusal is a rejection.
    const signed = (async () => {
      await Promise.resolve();
      checkNotice(notice, secret);
    })();
    await limitFailedAuthentication(getClientAddress(request), signed);
    const { payment_id: _id, ref_id, ...told } = validate(body, parse(raw));
    const payment = await whileMongoAnswers(
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
