import { expect } from 'chai';
import { maskAll, canMatchMasked, maskNumber } from '../../src/shared/mask.js';

describe('a number that is masked', () => {
  it('shows its last four characters, of a short one half, and is compared by what it shows', () => {
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
