import { expect } from 'chai';
import mongoose, { Schema, type Connection } from 'mongoose';
import { cleanUp, errorOf, startTestServer } from './harness.js';

describe('mongoose', () => {
  let connection: Connection;
  before(async () => {
    const server = await startTestServer();
    connection = await mongoose.createConnection(`${server.uri}&serverSelectionTimeoutMS=5000`).asPromise();
  });
  after(async () => {
    await connection.close();
    await cleanUp();
  });

  const user = new Schema(
    {
      email: { type: String, unique: true, required: true },
      balance: { type: Number, default: 0 },
      exact: Schema.Types.Decimal128,
      tags: [String],
      addresses: [{ city: String, zip: Number }],
      role: { type: String, default: 'user' },
    },
    { timestamps: true },
  );

  it('creates collections and indexes at start and reuses them later', async () => {
    const model = connection.model('Started', user);
    await model.init();
    await model.syncIndexes();
    expect((await model.listIndexes()).map(({ name }) => String(name))).to.deep.equal(['_id_', 'email_1']);
    await model.init();
  });

  it('creates, saves changed arrays, populates and detects stale versions', async () => {
    const User = connection.model('Saved', user);
    await User.init();
    const Order = connection.model(
      'Order',
      new Schema({ user: { type: Schema.Types.ObjectId, ref: 'Saved' }, n: Number }),
    );
    const made = await User.create({ email: 'a@x', tags: ['a'], exact: '10.25' });
    made.tags.push('b');
    made.addresses.push({ city: 'Jakarta', zip: 1 });
    await made.save();
    const read = await User.findById(made._id).lean();
    expect(read).to.deep.include({ tags: ['a', 'b'], role: 'user' });
    expect(String(read?.exact)).to.equal('10.25');
    await Order.create({ user: made._id, n: 1 });
    const populated = await Order.findOne({ n: 1 }).populate<{ user: { email: string } }>('user');
    expect(populated?.user.email).to.equal('a@x');
    const [first, second] = [await User.findById(made._id), await User.findById(made._id)];
    first?.set('tags', ['q']);
    await first?.save();
    second?.set('tags', ['r']);
    expect((await errorOf(Promise.resolve(second?.save()))).name).to.equal('VersionError');
  });

  it('reports duplicates as 11000 with the key, and sets defaults on upsert', async () => {
    const User = connection.model('Unique', user);
    await User.init();
    await User.create({ email: 'a@x' });
    expect(await errorOf(User.create({ email: 'a@x' }))).to.deep.include({
      code: 11000,
      keyValue: { email: 'a@x' },
    });
    await User.updateOne({ email: 'b@x' }, { $inc: { balance: 5 } }, { upsert: true });
    expect(await User.findOne({ email: 'b@x' }).lean()).to.include({ balance: 5, role: 'user' });
  });

  it('runs transactions and undoes those that throw', async () => {
    const User = connection.model('Money', user);
    await User.init();
    await User.create([{ email: 'a', balance: 10 }, { email: 'b' }]);
    const move = (amount: number): Promise<unknown> =>
      connection.transaction(async (session) => {
        await User.updateOne({ email: 'b' }, { $inc: { balance: amount } }, { session });
        const paid = await User.updateOne(
          { email: 'a', balance: { $gte: amount } },
          { $inc: { balance: -amount } },
          { session },
        );
        if (paid.modifiedCount === 0) {
          throw new Error('not enough');
        }
      });
    await move(7);
    expect((await errorOf(move(7))).message).to.equal('not enough');
    const balances = await User.find().sort({ email: 1 }).lean();
    expect(balances.map(({ balance }) => balance)).to.deep.equal([3, 7]);
  });
});
