import { expect } from 'chai';
import { getProviderSecretContext } from '../../src/accounts/secret-contexts.js';
import { buildConnection } from '../../src/providers/get-adapter.js';
import { encrypt } from '../../src/shared/encryption.js';

const seal = (secret: string) => encrypt(secret, getProviderSecretContext('seller-1'));
const seller = {
  _id: 'seller-1',
  provider: {
    kind: 'digiflazz' as const,
    baseUrl: null,
    username: 'new-name',
    secretSealed: seal('new-secret'),
    previous: {
      kind: 'h2h' as const,
      baseUrl: 'http://old.example',
      username: 'old-name',
      secretSealed: seal('old-secret'),
    },
  },
};

describe('an order sent before the provider of its seller was changed', () => {
  it('is asked about at the old system with the old secret', () => {
    const order = {
      providerKind: 'h2h' as const,
      providerBaseUrl: 'http://old.example',
      providerUsername: 'old-name',
    };
    expect(buildConnection(seller, order)).to.include({
      baseUrl: 'http://old.example',
      username: 'old-name',
      secret: 'old-secret',
    });
  });

  it('does not give later orders the old secret', () => {
    const order = { providerKind: 'digiflazz' as const, providerBaseUrl: null, providerUsername: 'new-name' };
    expect(buildConnection(seller, order)).to.include({ username: 'new-name', secret: 'new-secret' });
    expect(buildConnection(seller)).to.include({ username: 'new-name', secret: 'new-secret' });
  });
});
