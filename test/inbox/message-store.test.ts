import { expect } from 'chai';
import { createMessageStore, type Message } from '../../scripts/inbox/message-store.js';

describe('inbox: memory', () => {
  const message = (raw: string): Omit<Message, 'id'> => ({
    at: new Date().toISOString(),
    path: '/hooks/a',
    headers: {},
    raw,
    verified: null,
    verification: null,
    answered: 200,
  });

  it('keeps the newest 10,000 messages', () => {
    const store = createMessageStore();
    for (let count = 0; count < 10_050; count += 1) {
      store.add(message('{}'));
    }
    const ids = store.find({}).map(({ id }) => id);
    expect(ids).to.have.lengthOf(10_000);
    expect([ids[0], ids.at(-1)]).to.deep.equal([51, 10_050]);
  });

  it('keeps at most 64 MiB and starts empty after clear', () => {
    const store = createMessageStore();
    const large = message('x'.repeat(1024 * 1024));
    for (let count = 0; count < 70; count += 1) {
      store.add(large);
    }
    expect(store.find({}).map(({ id }) => id))
      .to.have.lengthOf(64)
      .and.include(70);
    store.clear();
    store.add(large);
    expect(store.find({})).to.have.lengthOf(1);
  });
});
