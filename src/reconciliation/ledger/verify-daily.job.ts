import { defineClocked } from '../../jobs/sweep-job.js';
import { verificationMaxMs } from './verification-limit.js';

/** Verifies the ledger once a day. Most of the time it is done already, which one read tells. */
export const verifyLedgerJob = defineClocked('verify-ledger', 600_000, { limitMs: verificationMaxMs });
