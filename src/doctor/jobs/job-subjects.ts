import type Joi from 'joi';
import type { Job } from '../../jobs/define-job.js';
import { isProviderQueue, getProviderQueue } from '../../providers/provider-queue.js';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { purchases, type Purchase } from '../../purchases/purchase.model.js';
import { reports } from '../../reports/report.model.js';
import { settlements } from '../../settlements/settlement.model.js';
import { deliveries } from '../../webhooks/deliver/delivery.model.js';
import { getReceiverIds } from '../../webhooks/new-delivery.js';
import { ReceiverModel } from '../../webhooks/receivers/receiver.model.js';

/**
 * Ids of a document under the names that payloads use, such as `purchaseId`. `anyId` matches each
 * of these names.
 */
export interface SubjectIds {
  readonly [name: `${string}Id`]: string | undefined;
  /**
   * For a purchase, the seller in whose provider queue it waits. Null if it waits in none. Absent
   * if unknown.
   */
  readonly waitsAt?: string | null;
}

interface PayloadKeys {
  id: `${string}Id` | null;
  /** Boolean fields of the payload. Each value has its own job. */
  flags: string[];
}

const keysBySchema = new WeakMap<Joi.ObjectSchema, PayloadKeys>();

/**
 * Returns the subjects that a kind of job has for these ids, according to the definition of the
 * kind. Empty if the kind is about other documents.
 */
export function listSubjects(job: Job<never>, ids: SubjectIds): string[] {
  const { id: key, flags } = getKeys(job.data);
  const id = key === null ? undefined : (ids[key] ?? ids.anyId);
  if (key === null || id === undefined || isElsewhere(job, ids)) {
    return [];
  }
  const payloads = flags.reduce<object[]>(
    (made, flag) => made.flatMap((each) => [false, true].map((value) => ({ ...each, [flag]: value }))),
    [{ [key]: id }],
  );
  return payloads.map((data) => job.subject(data as never));
}

function isElsewhere({ queue }: Job<never>, { waitsAt }: SubjectIds): boolean {
  return (
    waitsAt !== undefined &&
    isProviderQueue(queue) &&
    (waitsAt === null || queue.name !== getProviderQueue(waitsAt).name)
  );
}

/**
 * Returns the id field and flags of a payload. `accountId` counts only if the payload has no other
 * id, because many jobs also contain the owner.
 */
function getKeys(schema: Joi.ObjectSchema): PayloadKeys {
  const found = keysBySchema.get(schema) ?? readKeys(schema);
  keysBySchema.set(schema, found);
  return found;
}

function readKeys(schema: Joi.ObjectSchema): PayloadKeys {
  const { keys = {} } = schema.describe() as { keys?: Record<string, { type?: string }> };
  const names = Object.keys(keys).filter((name): name is `${string}Id` => name.endsWith('Id'));
  return {
    id: names.find((name) => name !== 'accountId') ?? names[0] ?? null,
    flags: Object.entries(keys).flatMap(([name, { type }]) => (type === 'boolean' ? [name] : [])),
  };
}

/** A document that jobs are about. */
export interface JobDocument {
  kind: 'purchase' | 'account' | 'settlement' | 'report' | 'delivery';
  id: string;
  accountId: string;
  /** Ids that the jobs of this document and of its open documents are about. */
  subjects: SubjectIds[];
}

/** Maximum number of documents of each kind for an account. */
const openMax = 50;
/** Maximum number of purchases with the same `ref_id`, which different accounts may use. */
const sameRefIdMax = 20;

/** Finds documents with this id, username or `ref_id`. Each lookup uses an index. */
export async function findDocuments(what: string): Promise<JobDocument[]> {
  const byId = { _id: what };
  const accountIdOnly = { projection: { accountId: 1 } };
  const [bought, account, settlement, report, delivery] = await Promise.all([
    findPurchases(what),
    AccountModel.findOne({ $or: [byId, { username: what.toLowerCase() }] }).lean<Account>(),
    settlements.findOne(byId, accountIdOnly),
    reports.findOne(byId, accountIdOnly),
    deliveries.findOne(byId, { projection: { accountId: 1, receiverId: 1 } }),
  ]);
  return [
    ...bought.map((each) => ({ ...buildSubject('purchase', each), subjects: [getIds(each)] })),
    ...(account ? [await buildAccountJobDocument(account)] : []),
    ...(settlement
      ? [{ ...buildSubject('settlement', settlement), subjects: [{ settlementId: what }] }]
      : []),
    ...(report ? [{ ...buildSubject('report', report), subjects: [{ reportId: what }] }] : []),
    ...(delivery
      ? [{ ...buildSubject('delivery', delivery), subjects: [{ receiverId: delivery.receiverId }] }]
      : []),
  ];
}

function buildSubject<K extends JobDocument['kind']>(
  kind: K,
  { _id, accountId }: { _id: string; accountId: string },
) {
  return { kind, id: _id, accountId };
}

async function findPurchases(what: string): Promise<Purchase[]> {
  const found = await Promise.all([
    purchases.find({ _id: what }).toArray(),
    purchases.find({ refId: what }).limit(sameRefIdMax).toArray(),
  ]);
  return [...new Map(found.flat().map((each) => [each._id, each])).values()];
}

/**
 * Returns the ids of a purchase without `waitsAt`, because a final purchase may have a failed job
 * in any provider's queue.
 */
function getIds({ _id }: Purchase): SubjectIds {
  return { purchaseId: _id };
}

async function buildAccountJobDocument(account: Account): Promise<JobDocument> {
  const { _id: accountId } = account;
  const [bought, settled, reported, receivers] = await Promise.all([
    purchases
      .find({ accountId, status: { $in: ['PENDING', 'PROCESSING'] } }, { projection: { queuedFor: 1 } })
      .sort({ createdAt: -1, _id: -1 })
      .limit(openMax)
      .toArray(),
    settlements
      .find({ accountId }, { projection: { _id: 1 } })
      .sort({ createdAt: -1, _id: -1 })
      .limit(openMax)
      .toArray(),
    reports
      .find({ accountId, status: { $in: ['pending', 'processing', 'failed'] } }, { projection: { _id: 1 } })
      .sort({ createdAt: 1 })
      .limit(openMax)
      .toArray(),
    ReceiverModel.find({ accountId }, { _id: 1 }).limit(openMax).lean<{ _id: string }[]>(),
  ]);
  const receiverIds = new Set([...getReceiverIds(account), ...receivers.map(({ _id }) => _id)]);
  return {
    kind: 'account',
    id: accountId,
    accountId,
    subjects: [
      { accountId },
      ...bought.map(({ _id, queuedFor }) => ({ purchaseId: _id, waitsAt: queuedFor })),
      ...settled.map(({ _id }) => ({ settlementId: _id })),
      ...reported.map(({ _id }) => ({ reportId: _id })),
      ...[...receiverIds].map((receiverId) => ({ receiverId })),
    ],
  };
}
