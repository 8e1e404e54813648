/**
 * Fills a database with sixty days of business for every console page. `ledger verify` finds no
 * error in the data.
 */
import '../../../src/all-models.js';
import type { Db } from 'mongodb';
import type { Deposit } from '../../../src/deposits/deposit.model.js';
import { setTotalsComplete } from '../../../src/money/totals/totals-state.model.js';
import { createOperator } from '../../../src/operators/manage-operators.js';
import { formatBusinessDay, getBusinessDay, addDays } from '../../../src/shared/business-time.js';
import { createBooks } from './books.js';
import { bulkWriter } from './bulk-writer.js';
import {
  bankLine,
  creditDeposit,
  addOpenOrRejectedDeposit,
  addSettlement,
} from './deposits-and-settlements.js';
import { chanceOf, type Chance } from './chance.js';
import { dayTotals } from './day-totals.js';
import { addDeliveries, addTroubledReceivers } from './deliveries.js';
import { makeSale, type Fate, type Sale } from './make-sale.js';
import { seedBackOffice, openCase } from './back-office.js';
import { seedPeople, type Customer, type People } from './people.js';
import { sellerCreditsOf, writeSale, type SeedContext } from './write-sale.js';

export interface Sizes {
  purchases: number;
  accounts: number;
  products: number;
  providers: number;
  deliveries: number;
}

export interface Business extends People {
  operator: { username: string; password: string };
  fromMs: number;
  untilMs: number;
  /** A purchase that succeeded. */
  sold: Sale;
  /** A purchase under review. */
  reviewed: Sale;
  failingJobId: string;
}

export const historyDays = 60;
const dayMs = 86_400_000;
/** Opening balance of each buyer, in rupiah. It is so high that no buyer runs out of money. */
const openingBalance = 100_000_000_000;
const reviewCount = 300;
const openSaleCount = 200;
const drainEvery = 500;

export async function seedDatabase(
  db: Db,
  { sizes, say }: { sizes: Sizes; say: (what: string) => void },
): Promise<Business> {
  const untilMs = Date.now() - 60_000;
  const fromMs = getBusinessDay(new Date(untilMs - (historyDays - 1) * dayMs)).startMs;
  const chance = chanceOf(1);
  const writer = bulkWriter(db);
  const desk: SeedContext = { writer, chance, books: createBooks(writer, chance) };
  const wanted = {
    buyers: sizes.accounts - sizes.providers,
    sellers: sizes.providers,
    products: sizes.products,
  };
  const people = await seedPeople(wanted, new Date(fromMs));
  say(`${sizes.accounts} accounts, ${sizes.products} products`);
  const openings = people.buyers.map(({ id }) =>
    creditDeposit(desk, { accountId: id, refId: 'opening', amount: openingBalance, atMs: fromMs }),
  );
  await writer.drain();
  const found = await addSales(desk, people, { sizes, fromMs, untilMs, say });
  say(`${sizes.purchases} purchases`);
  addDeposits(desk, people, { openings, fromMs, untilMs });
  const { failingJobId } = await seedBackOffice(desk, people, { fromMs, untilMs });
  say('work of operators');
  addTroubledReceivers(desk, { buyers: people.buyers.slice(-600), disabled: 300 });
  await desk.books.end([...people.buyers, ...people.sellers].map(({ id }) => id));
  await writer.end();
  await setTotalsComplete();
  const operator = { username: 'bench', password: 'a password of the bench' };
  await createOperator({ ...operator, role: 'admin' }, { actor: 'cli:bench', from: null, reason: null });
  return { ...people, ...found, failingJobId, operator, fromMs, untilMs };
}

interface SalesOptions {
  sizes: Sizes;
  fromMs: number;
  untilMs: number;
  say: (what: string) => void;
}

/** Creates purchases in time order, with all rows that a purchase leaves behind. */
async function addSales(
  desk: SeedContext,
  people: People,
  { sizes, fromMs, untilMs, say }: SalesOptions,
): Promise<Pick<Business, 'sold' | 'reviewed'>> {
  const { writer, chance } = desk;
  const totals = dayTotals(desk, { foldedUntil: addDays(formatBusinessDay(new Date(untilMs)), -1) });
  const credits = sellerCreditsOf(desk);
  const customers = new Map<string, Customer>(people.buyers.map((each) => [each.id, each]));
  const delivered = sizes.deliveries / sizes.purchases;
  const found: Partial<Record<Fate, Sale>> = {};
  let { endMs: dayEndMs } = getBusinessDay(new Date(fromMs));
  for (let index = 0; index < sizes.purchases; index += 1) {
    const atMs = fromMs + Math.floor(((index + 0.5) * (untilMs - fromMs)) / sizes.purchases);
    if (atMs > dayEndMs) {
      credits.postAll(dayEndMs);
      addSettlements(desk, people, dayEndMs);
      dayEndMs = getBusinessDay(new Date(atMs)).endMs;
    }
    const fate = fateOf(index, sizes.purchases, chance);
    const sale = makeSale({ index, atMs, fate }, people, chance);
    found[fate] = sale;
    writeSale(desk, sale, credits);
    totals.count(sale.purchase);
    const buyer = customers.get(sale.purchase.accountId);
    if (buyer && fate !== 'open' && chance.next() < delivered) {
      addDeliveries(desk, buyer, sale);
    }
    if (fate === 'review' && index % 2 === 0) {
      openCase(desk, sale);
    }
    if (index % drainEvery === 0) {
      await writer.drain();
    }
    if ((index + 1) % 100_000 === 0) {
      say(`${index + 1} purchases`);
    }
  }
  credits.postAll(untilMs);
  totals.end();
  await writer.drain();
  const { success: sold, review: reviewed } = found;
  if (!sold || !reviewed) {
    throw new Error('Too few purchases: some states have none');
  }
  return { sold, reviewed };
}

/** The newest purchases are open. Purchases under review are spread over the whole time. */
function fateOf(index: number, purchases: number, chance: Chance): Fate {
  if (index >= purchases - openSaleCount) {
    return 'open';
  }
  if (index % Math.ceil(purchases / reviewCount) === 0) {
    return 'review';
  }
  const drawn = chance.next();
  return drawn < 0.001 ? 'reversed' : drawn < 0.004 ? 'unasked' : drawn < 0.06 ? 'failed' : 'success';
}

const settlementsPerDay = 3;

function addSettlements(desk: SeedContext, { sellers }: People, atMs: number): void {
  const isRecent = Date.now() - atMs < 3 * dayMs;
  for (const seller of sellers) {
    for (let made = 0; made < settlementsPerDay; made += 1) {
      const status =
        isRecent && made === 0 ? 'processing' : desk.chance.below(20) === 0 ? 'failed' : 'completed';
      addSettlement(desk, { seller, status, atMs: atMs + 1_000 + made * 100_000 });
    }
  }
}

const [depositsWaiting, depositsRejected, linesUsed, linesOther] = [300, 2_000, 5_000, 5_000];

/** Adds pending and rejected deposits, and bank lines. */
function addDeposits(
  desk: SeedContext,
  { buyers }: People,
  { openings, fromMs, untilMs }: { openings: Deposit[]; fromMs: number; untilMs: number },
): void {
  const { chance } = desk;
  const someTime = () => fromMs + Math.floor(chance.next() * (untilMs - fromMs));
  for (let made = 0; made < depositsWaiting + depositsRejected; made += 1) {
    const isWaiting = made < depositsWaiting;
    addOpenOrRejectedDeposit(desk, {
      accountId: chance.of(buyers).id,
      amount: 10_000 * (1 + chance.below(500)),
      status: isWaiting ? 'pending' : 'rejected',
      atMs: isWaiting ? untilMs - chance.below(dayMs) : someTime(),
    });
  }
  openings.slice(0, linesUsed).forEach((deposit) => {
    bankLine(desk, { deposit, atMs: someTime(), isAside: false });
  });
  for (let made = 0; made < linesOther; made += 1) {
    bankLine(desk, { deposit: null, atMs: someTime(), isAside: made % 2 === 0 });
  }
}
