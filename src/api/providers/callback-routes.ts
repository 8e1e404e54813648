import { Router, type RequestHandler } from 'express';
import { limits } from '../../../config/limits.js';
import {
  receiveProviderCallback,
  type InboundCallback,
} from '../../purchases/fulfil/receive-provider-callback.js';
import { getClientAddress } from '../http/read-request.js';
import { limitBodySize, parseBytes } from '../http/request-body.js';
import { limitFailedAuthentication } from '../http/access-control.js';
import { refuseMethod } from '../http/mount-operations.js';

/**
 * Serves the callbacks of providers: `/api/reseller/callback` for h2h
 * (docs/reference/api/callbacks.md#inbound-callbacks), and other paths for Digiflazz and IAK.
 * Mount it before the JSON body parser, because signatures cover the raw body.
 */
export function createProviderCallbackRouter(): Router {
  const router = Router({ caseSensitive: true });
  const raw = parseBytes({ limit: limits.bodyBytesMax });
  const paths: [string, InboundCallback['protocol']][] = [
    ['/api/reseller/callback', 'h2h'],
    ['/api/providers/digiflazz/callback', 'digiflazz'],
    ['/api/providers/iak/callback', 'iak'],
  ];
  for (const [path, protocol] of paths) {
    router.post(path, limitBodySize(limits.bodyBytesMax), raw, receive(protocol));
    router.all(path, refuseMethod(['POST']));
  }
  return router;
}

function receive(protocol: InboundCallback['protocol']): RequestHandler {
  return async (request, response) => {
    const body: unknown = request.body;
    // The parser sets no buffer if there is no body.
    const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const received = receiveProviderCallback({ protocol, raw, headers: request.headers });
    await limitFailedAuthentication(getClientAddress(request), received, `bad-callbacks:${protocol}`);
    response.json({ status: 'received' });
  };
}
