import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { components } from './api/schema.js';
import { api } from './api/client.js';
import { unwrapData } from './api/unwrap-data.js';

export type Session = components['schemas']['GetSessionData'];
export type Action = Session['actions'][number];

export const SessionContext = createContext<Session | null>(null);

export function useSessionQuery() {
  return useQuery({
    queryKey: ['session'],
    queryFn: () => unwrapData(api.GET('/session')),
    staleTime: 60_000,
  });
}

/** Returns the session of the logged-in operator. Call it only in components below `Shell`. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) {
    throw new Error('useSession requires a SessionContext above it');
  }
  return session;
}

/**
 * True if the operator has the right to an action. It only decides what the page offers. The server
 * checks the right again.
 */
export function useMay(action: Action): boolean {
  return useSession().actions.includes(action);
}
