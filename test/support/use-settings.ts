import { env } from '../../config/env.js';

type Settings = typeof env;

/** In a describe block: this process has these settings while its tests run, and those that it had afterwards. */
export function useSettings(settings: Partial<Settings>): void {
  const names = Object.keys(settings) as (keyof Settings)[];
  const earlier = Object.fromEntries(names.map((name) => [name, env[name]]));
  before(() => Object.assign(env, settings));
  after(() => Object.assign(env, earlier));
}
