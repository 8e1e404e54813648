import { createContext, useContext } from 'react';

/** The time zone of the business. Every time is shown in it, not in the zone of the browser. */
export const ZoneContext = createContext('UTC');

export function useZone(): string {
  return useContext(ZoneContext);
}
