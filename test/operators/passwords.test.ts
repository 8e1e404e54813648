import { expect } from 'chai';
import { hashNewPassword, isCorrectPassword, generatePassword } from '../../src/operators/password.js';
import { ValidationError } from '../../src/shared/errors.js';

describe('operator passwords', () => {
  it('have 12 to 200 significant characters and are stored as argon2id', async () => {
    for (const password of ['elevenchars', 'x'.repeat(201)]) {
      const refusal = await hashNewPassword(password).catch((error: unknown) => error);
      expect(refusal, `${password.length}`).to.be.instanceOf(ValidationError);
    }
    for (const password of ['only letters', 'é 密碼 \u{1f511} 1234', 'x'.repeat(200), generatePassword()]) {
      const hash = await hashNewPassword(password);
      expect(hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await isCorrectPassword(hash, password)).to.equal(true);
      expect(await isCorrectPassword(hash, password.slice(0, -1))).to.equal(false);
    }
    expect(await isCorrectPassword(null, 'only letters')).to.equal(false);
  });
});
