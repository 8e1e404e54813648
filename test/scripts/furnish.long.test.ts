import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { runToEnd } from '../support/run-to-end.js';
import { startStack, type Stack } from '../support/stack.js';

describe('the products of the sandbox', function () {
  this.timeout(60_000);
  let stack: Stack;

  beforeEach(async () => {
    stack = await startStack({ web: false });
    await stack.seed();
  });
  afterEach(() => stack.stop());

  const furnish = () => runToEnd('scripts/furnish.js', [], stack.env);

  async function readSandbox() {
    const [accounts, products, offers, imports] = await Promise.all(
      ['accounts', 'products', 'offers', 'priceImports'].map((name) =>
        stack.db.collection(name).find().sort({ _id: 1 }).toArray(),
      ),
    );
    const offersOf = (username: string) => {
      const id = accounts?.find((each) => each['username'] === username)?._id;
      return offers?.filter(({ sellerId }) => String(sellerId) === String(id)) ?? [];
    };
    return { products, offers, imports, nusantara: offersOf('nusantara'), kilat: offersOf('kilat') };
  }

  it('come from two suppliers, and a second start adds nothing', async () => {
    await furnish();
    const first = await readSandbox();
    expect(first.products?.length).to.be.at.least(300);
    expect(first.nusantara.length).to.be.at.least(250);
    expect(first.kilat.length).to.be.at.least(150);
    expect(first.imports?.map(({ status }) => status as string)).to.deep.equal(['applied', 'applied']);
    await furnish();
    expect(await readSandbox()).to.deep.equal(first);
  });

  it('are complete after a start that was killed half way', async () => {
    const child = spawn(process.execPath, [getBuiltProgramPath('scripts/furnish.js')], { env: stack.env });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    expect(signal).to.equal('SIGKILL');
    await furnish();
    const { nusantara, kilat, imports } = await readSandbox();
    expect(nusantara.length).to.be.at.least(250);
    expect(kilat.length).to.be.at.least(150);
    expect(new Set(imports?.map(({ status }) => status as string))).to.deep.equal(new Set(['applied']));
  });

  it('are not added to a database with other products', async () => {
    await stack.db.collection<{ _id: string }>('products').insertOne({ _id: 'MINE' });
    expect(await furnish()).to.contain('other data');
    expect((await readSandbox()).imports).to.deep.equal([]);
  });

  it('are refused in production', async () => {
    const env = { ...stack.env, NODE_ENV: 'production' };
    const refusal = await runToEnd('scripts/furnish.js', [], env).catch(String);
    expect(refusal).to.contain('production');
    expect((await readSandbox()).imports).to.deep.equal([]);
  });
});
