/**
 * Every command sets its read or write concern explicitly, because an administrator can change the
 * server's defaults.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import mongoose from 'mongoose';
import type { CommandStartedEvent, Document } from 'mongodb';
import { env } from '../../config/env.js';
import { getPostingClient } from '../../src/database/mongo.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { listTransactions } from '../../src/purchases/history.js';
import { sumOpenPurchases } from '../../src/purchases/purchase-figures.js';
import { initializeTotals } from '../../src/purchases/rebuild-totals.js';
import { deleteReportFile, readReportFile, writeReportFile } from '../../src/reports/report-file.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';
import { useSettings } from '../support/use-settings.js';
import { useDatabase } from '../webhooks/support/database.js';

const reads = ['find', 'aggregate', 'count', 'distinct'];
const writes = ['insert', 'update', 'delete', 'findAndModify', 'create', 'createIndexes'];

describe('read and write concerns', () => {
  const uri = new URL(env.MONGODB_URI);
  uri.searchParams.set('monitorCommands', 'true');
  useSettings({ MONGODB_URI: uri.toString() });
  useDatabase();

  const sent: { name: string; command: Document }[] = [];
  before(async () => {
    const listen = ({ commandName, command }: CommandStartedEvent) => {
      sent.push({ name: commandName, command });
    };
    getPostingClient().on('commandStarted', listen);
    mongoose.connection.getClient().on('commandStarted', listen);
    await runWorkload();
  });

  const of = (names: string[], inTransaction: boolean) =>
    sent.filter(
      ({ name, command }) => names.includes(name) && (command['autocommit'] === false) === inTransaction,
    );

  it('are explicit for each read outside a transaction', () => {
    const levels = of(reads, false).map(({ command }) => concernOf(command)?.['level']);
    expect(new Set(levels)).to.deep.equal(new Set(['local', 'majority', 'snapshot']));
  });

  it('are majority for each write outside a transaction', () => {
    const found = of(writes, false);
    expect(found.map(({ name }) => name)).to.include.members(['insert', 'update', 'delete']);
    for (const { name, command } of found) {
      expect(concernOf(command, 'writeConcern')?.['w'], name).to.equal('majority');
    }
  });

  it('are snapshot and majority for each transaction', () => {
    const begun = sent.filter(({ command }) => command['startTransaction'] === true);
    const committed = sent.filter(({ name }) => name === 'commitTransaction');
    expect(begun).to.have.length.above(0);
    expect(committed).to.have.length.above(0);
    for (const { name, command } of begun) {
      expect(concernOf(command)?.['level'], name).to.equal('snapshot');
    }
    for (const { command } of committed) {
      expect(concernOf(command, 'writeConcern')?.['w']).to.equal('majority');
    }
  });

  it('use atClusterTime only with snapshot reads', () => {
    const withTime = sent.filter(({ command }) => concernOf(command)?.['atClusterTime']);
    expect(withTime).to.have.length.above(0);
    for (const { name, command } of withTime) {
      expect(concernOf(command)?.['level'], name).to.equal('snapshot');
    }
  });
});

function concernOf(command: Document, kind = 'readConcern'): Document | undefined {
  return command[kind] as Document | undefined;
}

async function runWorkload(): Promise<void> {
  await initializeTotals();
  const shop = await openShop('http://127.0.0.1:9');
  const { accountId } = await shop.buy();
  const refId = newId();
  // The second call finds the deposit of the first one.
  await createDeposit({ account: shop.buyer, amount: 1_000, refId });
  await createDeposit({ account: shop.buyer, amount: 1_000, refId });
  await sumOpenPurchases();
  const startDate = new Date(Date.now() - 3_600_000).toISOString();
  await listTransactions({ owner: { accountId }, startDate, page: 1, limit: 20 });
  const report = { _id: newId(), epoch: 1, filename: 'report.csv' };
  const file = writeReportFile(report);
  file.end('a,b\n');
  await once(file, 'finish');
  for await (const chunk of readReportFile(report)) {
    expect(String(chunk)).to.equal('a,b\n');
  }
  await deleteReportFile(report);
}
