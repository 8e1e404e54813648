import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { components } from './api/schema.js';
import { api } from './api/client.js';
import { dataOf } from './api/data-of.js';

export type Session = components['schemas']['GetSessionData'];
export type Action = Session['actions'][number];

export const SessionContext = createContext<Session | null>(null);

export function useSessionQuery() {
  return useQuery({ queryKey: ['session'], queryFn: () => dataOf(api.GET('/session')), staleTime: 60_000 });
}

/** Who is logged in. Below the shell there is always one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) {
    throw new Error('There is no session above this');
  }
  return session;
}

/** Whether to offer something; the server refuses it all the same. */
export function useMay(action: Action): boolean {
  return useSession().actions.includes(action);
}
