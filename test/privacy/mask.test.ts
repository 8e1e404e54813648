import { expect } from 'chai';
import { blotted, canBeSame, masked } from '../../src/shared/mask.js';

describe('a number that is masked', () => {
  it('shows its last four characters, of a short one half, and is compared by what it shows', () => {
    expect(['081234567890', '12345678', '123456', '1234', 'A', ''].map(masked)).to.deep.equal([
      '********7890',
      '****5678',
      '***456',
      '**34',
      '*',
      '',
    ]);
    expect(blotted('081234')).to.equal('******');
    expect(canBeSame('********7890', '081234567890')).to.equal(true);
    expect(canBeSame('081234567890', '************')).to.equal(true);
    expect(canBeSame('********7890', '081234567891')).to.equal(false);
    expect(canBeSame('********7890', '0081234567890')).to.equal(false);
    expect(canBeSame('081234567890', '081234567891')).to.equal(false);
  });
});
