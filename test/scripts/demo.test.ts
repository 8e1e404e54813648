import { expect } from 'chai';
import { runToEnd } from '../support/run-to-end.js';

describe('npm run demo', () => {
  it('takes no options: whoever only asks how it works moves no money', async () => {
    const said = await runToEnd('scripts/demo.js', ['--help']).catch((error: unknown) => String(error));
    expect(said).to.include('npm run demo takes no options; nothing was done.');
  });
});
