import { expect } from 'chai';
import { setClock } from '../../src/shared/clock.js';
import { getFirstIdAt, newId } from '../../src/shared/ids.js';

const day = 86_400_000;
const timeOf = (id: string) => id.slice(0, getFirstIdAt(0).length);

describe('ids', () => {
  afterEach(() => {
    setClock(null);
  });

  it('use the service clock and not the host clock', () => {
    const at = Date.now() - day;
    setClock(() => at);
    expect(timeOf(newId())).to.equal(getFirstIdAt(at));
  });

  it('follow a clock that is set back', () => {
    const at = Date.now();
    setClock(() => at + day);
    newId();
    setClock(() => at);
    expect(timeOf(newId())).to.equal(getFirstIdAt(at));
  });

  it('increase within a millisecond and are unique', () => {
    const at = Date.now();
    setClock(() => at);
    const ids = Array.from({ length: 50_000 }, newId);
    expect(ids).to.deep.equal([...ids].sort());
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids[0]).to.match(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });
});
