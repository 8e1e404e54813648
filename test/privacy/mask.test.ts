import { expect } from 'chai';
import { maskAll, canMatchMasked, maskNumber } from '../../src/shared/mask.js';

describe('a masked number', () => {
  it('shows at most its last four characters and is compared by them', () => {
    expect(['081234567890', '12345678', '123456', '1234', 'A', ''].map(maskNumber)).to.deep.equal([
      '********7890',
      '****5678',
      '***456',
      '**34',
      '*',
      '',
    ]);
    expect(maskAll('081234')).to.equal('******');
    expect(canMatchMasked('********7890', '081234567890')).to.equal(true);
    expect(canMatchMasked('081234567890', '************')).to.equal(true);
    expect(canMatchMasked('********7890', '081234567891')).to.equal(false);
    expect(canMatchMasked('********7890', '0081234567890')).to.equal(false);
    expect(canMatchMasked('081234567890', '081234567891')).to.equal(false);
  });
});
