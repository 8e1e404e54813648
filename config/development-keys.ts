/** What a copy for trying out has where nothing is set: fixed, so that a restarted one can still read what it stored. */
import { createHash } from 'node:crypto';

export const developmentKey = createHash('sha256').update('topup development key').digest('base64');
export const developmentSecret = 'development-session-secret-not-for-production';
