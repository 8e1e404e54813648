import { readConfigJson } from './project-file.js';

/** Days (YYYY-MM-DD, business time) on which banks do not work, besides Saturdays and Sundays. */
export const holidays: ReadonlySet<string> = new Set(readConfigJson('holidays.json') as string[]);
