import { env } from '../../config/env.js';

type Settings = typeof env;

/**
 * Applies these settings while the tests of a `describe` block run, and then restores the previous
 * ones.
 */
export function useSettings(settings: Partial<Settings>): void {
  const names = Object.keys(settings) as (keyof Settings)[];
  const earlier = Object.fromEntries(names.map((name) => [name, env[name]]));
  before(() => Object.assign(env, settings));
  after(() => Object.assign(env, earlier));
}
