import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { dayCloses } from '../../money/closes/day-close.model.js';
import { findLastClosedDay, type ClosedDay } from '../../money/closes/day-closes.js';
import {
  isVerificationRequested,
  readVerificationProgress,
  getNextVerificationMs,
  requestVerification,
} from '../../reconciliation/ledger/run-verification.js';
import { ledgerChecks } from '../../reconciliation/ledger/ledger-report.js';
import {
  ledgerVerifications,
  type LedgerVerification,
} from '../../reconciliation/ledger/ledger-verification.model.js';
import { lookUp } from '../../shared/collections.js';
import type { FigureName, Figures } from '../../signals/figures.js';
import { readFigures } from '../../signals/keep-figures.js';
import { defineConsoleOperation, requiredObject, reasonBody, type Reason } from '../api/console-operation.js';
import { day } from '../api/list-query.js';

const closesShown = 30;
const verificationsShown = 30;

const verificationData = nameSchema(
  'LedgerVerification',
  requiredObject({
    day: Joi.string(),
    at: timestamp,
    duration_ms: Joi.number(),
    ok: Joi.boolean(),
    failures: Joi.number(),
    checks: Joi.array().items(
      requiredObject({ check: Joi.string(), title: Joi.string(), failures: Joi.number() }),
    ),
    not_checked: Joi.array()
      .items(requiredObject({ check: Joi.string(), title: Joi.string() }))
      .description('Rules that this run has not checked.'),
    findings: Joi.array().items(
      requiredObject({ check: Joi.string(), subject: Joi.string(), message: Joi.string() }),
    ),
  }),
);

export const getLedger = defineConsoleOperation<unknown, unknown, { before?: string }>({
  id: 'getLedger',
  method: 'get',
  path: '/ledger',
  action: 'ledger.verify',
  summary: 'Balances of ledger accounts, closed days with their roots, and results of verifications',
  query: Joi.object<{ before?: string }>({ before: day }),
  data: requiredObject({
    accounts: Joi.array().items(
      requiredObject({
        account: Joi.string(),
        closed: Joi.number().description('Rupiah at the end of the last closed day.'),
        now: Joi.number().allow(null).description('Null if it is unknown without adding up the open days.'),
      }),
    ),
    closes: Joi.array().items(
      requiredObject({
        day: Joi.string(),
        root: Joi.string(),
        is_signed: Joi.boolean(),
        closed_at: timestamp,
        wallets: Joi.number(),
        journals: Joi.number(),
        audit_entries: Joi.number().allow(null),
      }),
    ),
    next: Joi.string().allow(null).description('Value of `before` for earlier closes.'),
    verifications: Joi.array().items(verificationData),
    next_verification_at: timestamp,
    running: requiredObject({
      what: Joi.string().valid('waiting', 'wallets', 'subjects'),
      done: Joi.number(),
      total: Joi.number(),
    }).allow(null),
  }),
  async handle({ query: { before } }) {
    const [last, closes, verifications, running, isAskedFor, figures] = await Promise.all([
      findLastClosedDay(),
      dayCloses
        .find({ state: 'closed', ...(before !== undefined && { _id: { $lt: before } }) })
        .sort({ _id: -1 })
        .limit(closesShown + 1)
        .toArray() as Promise<ClosedDay[]>,
      ledgerVerifications.find().sort({ _id: -1 }).limit(verificationsShown).toArray(),
      readVerificationProgress(),
      isVerificationRequested(),
      readFigures(),
    ]);
    return {
      accounts: presentAccounts(last, figures),
      closes: closes.slice(0, closesShown).map(presentClose),
      next: closes.length > closesShown ? (closes[closesShown - 1]?._id ?? null) : null,
      verifications: verifications.map(presentVerification),
      next_verification_at: new Date(getNextVerificationMs(verifications[0] ?? null)).toISOString(),
      running: running ?? (isAskedFor ? { what: 'waiting', done: 0, total: 0 } : null),
    };
  },
});

/**
 * Figures that give the current balance of a ledger account without summing the journals of days
 * that are not closed.
 */
const currentFigureNames: Record<string, FigureName> = {
  'platform:suspense': 'topup_suspense_rupiah',
  payable: 'topup_seller_credits_unposted_rupiah',
};

function presentAccounts(last: ClosedDay | null, figures: Figures | null) {
  return Object.entries<number>(last?.content.totals ?? {}).map(([account, closed]) => ({
    account,
    closed,
    now: figures?.found.find(({ name }) => name === lookUp(currentFigureNames, account))?.value ?? null,
  }));
}

function presentClose({ _id, root, signature, content }: ClosedDay) {
  return {
    day: _id,
    root,
    is_signed: signature !== null,
    closed_at: content.closedAt.toISOString(),
    wallets: content.wallets,
    journals: content.journals,
    audit_entries: content.audit?.entries ?? null,
  };
}

function presentVerification(verification: LedgerVerification) {
  const { _id, at, durationMs, ok, failures, checks, notChecked, findings } = verification;
  return {
    day: _id,
    at: at.toISOString(),
    duration_ms: durationMs,
    ok,
    failures,
    not_checked: notChecked.map((check) => ({ check, title: ledgerChecks[check] })),
    checks: checks.map((each) => ({ ...each, title: ledgerChecks[each.check] })),
    findings,
  };
}

export const verifyLedgerNow = defineConsoleOperation<Reason>({
  id: 'verifyLedgerNow',
  method: 'post',
  path: '/ledger/verify',
  action: 'ledger.run',
  summary: 'Start a verification of every money rule by a worker; getLedger shows its progress',
  body: reasonBody,
  data: requiredObject({}),
  async handle({ by }) {
    await requestVerification(by);
    return {};
  },
});
