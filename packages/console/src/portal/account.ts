import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { unwrapData } from '../api/unwrap-data.js';
import { portalApi, roleOf, type Role } from './client.js';

/** The configuration of the signed-in account. */
export type Config = Awaited<ReturnType<typeof readConfig>>;

export interface SignedIn {
  key: string;
  role: Role;
  config: Config;
}

export const SignedInContext = createContext<SignedIn | null>(null);

export function useSignedIn(): SignedIn {
  const found = useContext(SignedInContext);
  if (!found) {
    throw new Error('useSignedIn requires a SignedInContext above it');
  }
  return found;
}

/** Reads the configuration. Without an argument, it uses the key of the signed-in account. */
export function readConfig(key?: string) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return unwrapData(portalApi.GET('/api/buyer/api/config', { headers }));
}

export function useConfigQuery(key: string | null) {
  return useQuery({
    queryKey: ['config', key],
    queryFn: () => readConfig(),
    enabled: key !== null && roleOf(key) !== null,
  });
}

/** True in the sandbox, where all providers are simulated. */
export function isSandbox(): boolean {
  return metaOf('app-mode') !== 'live';
}

/** True if the sandbox calls accept a key with this role. They accept only keys of buyers. */
export function mayUseSandbox(role: Role): boolean {
  return role === 'buyer' && isSandbox();
}

/** Returns the content of a meta tag of the page. */
export function metaOf(name: 'time-zone' | 'app-mode'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}
