import { isFinal } from '../purchases/states.js';
import type { Purchase } from '../purchases/purchase.model.js';

/** 00 for what this call accepted; a repeat gets 05 while it is under way, and 00 when it is final. */
export function replyCode(purchase: Purchase, created: boolean): '00' | '05' {
  return created || isFinal(purchase.status) ? '00' : '05';
}
