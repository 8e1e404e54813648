import { createContext, useContext } from 'react';

/**
 * The time zone of the business. All pages show times in this zone and not in the zone of the
 * browser.
 */
export const ZoneContext = createContext('UTC');

export function useZone(): string {
  return useContext(ZoneContext);
}
