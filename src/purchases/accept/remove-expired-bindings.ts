import { now } from '../../shared/clock.js';
import { SignBindingModel } from './sign-binding.model.js';

/** Removes bindings of signs whose day is over. */
export async function removeExpiredBindings(): Promise<void> {
  await SignBindingModel.deleteMany({ expiresAt: { $lte: now() } });
}
