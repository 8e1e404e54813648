import { expect } from 'chai';
import { toAppError } from '../../src/api/http/error-envelope.js';
import { DependencyError, UnexpectedError } from '../../src/shared/errors.js';

describe('errors of a MongoDB outage', () => {
  it('maps a raw socket error of the driver to 503/03, not 500', () => {
    for (const code of ['ECONNRESET', 'EPIPE']) {
      const raw = Object.assign(new Error(`write ${code}`), { code, syscall: 'write' });
      expect(toAppError(raw), code).to.be.instanceOf(DependencyError);
    }
    const other = Object.assign(new Error('no such file'), { code: 'ENOENT' });
    expect(toAppError(other)).to.be.instanceOf(UnexpectedError);
  });
});
