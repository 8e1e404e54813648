/** The message table, and the list of files that may contain other messages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { messages } from '../../../src/shared/messages.js';
import { asWritten, joinMessages, say } from '../../../src/shared/say.js';
import { englishWordIn } from './english-words.js';

/**
 * Folders whose texts come from third parties or are for operators. These may be in one language.
 */
const englishFolders = [
  'scripts/topup/',
  'src/console/',
  'src/operators/',
  'src/doctor/',
  'src/adjustments/',
  'src/deposits/bank/',
  'src/providers/imports/',
  'src/providers/supplier-catalogue/',
  'src/reconciliation/',
  'src/purchases/review/',
];
const englishFiles = [
  // Operator calls in folders that also contain client calls.
  'src/accounts/create-account.ts',
  'src/accounts/find-account.ts',
  'src/accounts/changes/set-account.ts',
  'src/database/document-page.ts',
  'src/deposits/decide-deposit.ts',
  'src/deposits/decide-deposit.ts',
  'src/providers/catalogue.ts',
  'src/products/cut-off.ts',
  'src/products/set-markup.ts',
  'src/products/set-sku.ts',
  'src/providers/catalogue.ts',
  'src/providers/compare-price-list.ts',
  'src/providers/routing-order.ts',
  'src/providers/catalogue.ts',
  'src/providers/check-connection.ts',
  'src/providers/send-test-order.ts',
  'src/purchases/fulfil/connect-seller.ts',
  'src/purchases/fulfil/set-connection.ts',
  'src/providers/manage-provider.ts',
  'src/settlements/bank-reference.ts',
  'src/settlements/claim-settlement.ts',
  'src/settlements/import-holidays.ts',
  'src/settlements/pay-out.ts',
  'src/settlements/wallet-below-zero.ts',
  'src/statements/statement-pdf.ts',
  'src/accounts/changes/change-api-keys.ts',
  // The stored result of a purchase, which is mostly the provider's text.
  'src/api/reseller/present-purchase.ts',
];

describe('message table', () => {
  const rows = Object.entries(messages);

  it('every message is in both languages, the Indonesian one without English words', () => {
    expect(rows).to.have.length.above(100);
    for (const [key, { en, id }] of rows) {
      expect(en, key).to.not.equal('');
      expect(id, key).to.not.equal('');
      expect(englishWordIn(id), `${key}: ${id}`).to.equal(null);
    }
  });

  it('both languages have the same parameters, except for third-party texts', () => {
    const namesIn = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name);
    for (const [key, { en, id }] of rows) {
      expect(namesIn(id), key).to.have.members(namesIn(en).filter((name) => name !== 'said'));
    }
  });

  it('formats money the Indonesian way and keeps nested messages in one language', () => {
    expect(say('insufficientBalance', { balance: 1_000, price: 1_250_000 }).id).to.match(
      /^Saldo tidak cukup\. Saldo Anda Rp 1\.000, harga Rp 1\.250\.000\./,
    );
    expect(say('insufficientForSettlement', { balance: 1_000, price: 1_250_000 }).en).to.match(
      /^Insufficient balance\. Your balance is Rp 1\.000, you requested Rp 1\.250\.000\./,
    );
    const nested = say('urlField', { field: 'webhook_url', problem: say('urlHttps') });
    expect(nested).to.deep.equal({
      en: 'webhook_url must begin with https://',
      id: 'webhook_url harus diawali https://',
    });
    expect(joinMessages([nested, say('moreMistakes')], '; ').id).to.equal(
      'webhook_url harus diawali https://; masih ada kesalahan lain',
    );
    // Client input is not expanded as a template.
    expect(say('noTransaction', { id: '{id}$&' }).id).to.equal('Transaksi {id}$& tidak ada.');
  });

  it('only operator messages and third-party texts are in a single language', () => {
    const users = [...filesOf('src'), ...filesOf('scripts')].filter(
      (file) => file !== 'src/shared/say.ts' && readFileSync(file, 'utf8').includes('asWritten('),
    );
    const isAllowed = (file: string) =>
      englishFiles.includes(file) || englishFolders.some((room) => file.startsWith(room));
    expect(users.filter((file) => !isAllowed(file))).to.deep.equal([]);
    expect(englishFiles.filter((file) => !users.includes(file))).to.deep.equal([]);
    expect(asWritten('as it is')).to.deep.equal({ en: 'as it is', id: 'as it is' });
  });
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesOf(path) : path.endsWith('.ts') ? [path] : [];
  });
}
