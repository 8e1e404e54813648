import { randomBytes } from 'node:crypto';

/** Returns production settings for a test process, without the databases. */
export function productionEnv(): NodeJS.ProcessEnv {
  return {
    NODE_ENV: 'production',
    BASE_URL: 'https://topup.example',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SESSION_SECRET: randomBytes(32).toString('hex'),
    PAYOUT_MODE: 'manual',
    ACCEPTED_RISKS: 'sandbox,simulator,open-mongodb,open-redis',
  };
}
