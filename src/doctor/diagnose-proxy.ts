import { env } from '../../config/env.js';
import { openTunnel, ProxyError, UnreachedError } from '../webhooks/proxy-tunnel.js';
import { fail, ok, type Diagnosis } from './diagnosis.js';

const proxySetting = 'WEBHOOK_PROXY_URL';

/**
 * Whether the proxy takes our calls: it is asked for a way to itself, which it allows or refuses at once. What it allows
 * elsewhere is seen only there. Nothing is said where there is no proxy.
 */
export async function diagnoseProxy(): Promise<Diagnosis[]> {
  if (env.WEBHOOK_PROXY_URL === null) {
    return [];
  }
  const proxy = new URL(env.WEBHOOK_PROXY_URL);
  const port = proxy.port === '' ? (proxy.protocol === 'https:' ? '443' : '80') : proxy.port;
  try {
    (await openTunnel(proxy, `${proxy.hostname}:${port}`)).destroy();
    return [ok(proxySetting, 'takes calls')];
  } catch (error) {
    if (error instanceof UnreachedError || (error instanceof ProxyError && error.code === 'HTTP_403')) {
      // Not to itself; but it knows us.
      return [ok(proxySetting, 'answers')];
    }
    const why = error instanceof ProxyError ? `${error.message} (${error.code})` : String(error);
    return [
      fail(
        proxySetting,
        why,
        'Webhooks wait until it serves, and no receiver is blamed. Look at the proxy, its name and its password.',
      ),
    ];
  }
}
