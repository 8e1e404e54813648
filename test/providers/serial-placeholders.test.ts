/** The setting for the texts that a provider writes where it has no serial number. */
import { expect } from 'chai';
import { AccountModel } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { buildConnection } from '../../src/providers/get-adapter.js';
import { newId } from '../../src/shared/ids.js';
import { topup } from '../support/topup.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('topup provider set --serial-placeholder', () => {
  useDatabase();

  it('replaces the texts of the provider, and "" removes them', async () => {
    const { account } = await createAccount({
      username: `s${newId()}`,
      role: 'seller',
      provider: { kind: 'h2h', baseUrl: 'http://127.0.0.1:1', username: 'us', secret: 'secret' },
    });
    const set = async (...texts: string[]) => {
      const run = await topup(
        [
          'provider',
          'set',
          account.username,
          ...texts.flatMap((each) => ['--serial-placeholder', each]),
          '--reason',
          'their texts',
        ],
        process.env,
      );
      expect(run.code, run.stderr).to.equal(0);
      const stored = await AccountModel.findById(account._id).lean();
      return stored && buildConnection(stored).serialPlaceholders;
    };
    expect(buildConnection(account).serialPlaceholders).to.equal(undefined);
    expect(await set('cek report', ' lihat struk ')).to.deep.equal(['cek report', 'lihat struk']);
    expect(await set('tunggu')).to.deep.equal(['tunggu']);
    expect(await set('')).to.equal(undefined);
  });

  it('refuses a text of more than 64 characters', async () => {
    const run = await topup(
      ['provider', 'set', 'seller', '--serial-placeholder', 'x'.repeat(65)],
      process.env,
    );
    expect(run.code).not.to.equal(0);
    expect(run.stderr + run.stdout).to.include('at most 64 characters');
  });
});
