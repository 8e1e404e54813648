import { createContext, useContext } from 'react';

/** The zone of the business: every time is shown in it, wherever the browser is. */
export const ZoneContext = createContext('UTC');

export function useZone(): string {
  return useContext(ZoneContext);
}
