/**
 * The two suppliers of the sandbox with their price lists. Nusantara uses our product codes. Kilat
 * has codes of its own, sells fewer products at other costs, and raises some costs after a while.
 * The lists are the same in every run.
 */
import { readCatalogue } from '../../config/catalogue.js';

export interface SupplierItem {
  /** The code at the supplier. */
  sku: string;
  /** Our product code. Both suppliers sell the same product under it. */
  code: string;
  name: string;
  category: string;
  brand: string;
  /** Cost in rupiah. */
  cost: number;
  isAvailable: boolean;
  /** True if the supplier raises this cost. */
  isRaised: boolean;
}

type Product = Pick<SupplierItem, 'code' | 'name' | 'category' | 'brand' | 'cost'>;

export const supplierNames = ['nusantara', 'kilat'] as const;
export type SupplierName = (typeof supplierNames)[number];

const operators = [
  ['S', 'Telkomsel'],
  ['I', 'Indosat'],
  ['X', 'XL'],
  ['AX', 'Axis'],
  ['T', 'Tri'],
  ['SM', 'Smartfren'],
] as const;
const pulsaThousands = [
  5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 90, 100, 125, 150, 175, 200, 250, 300, 500,
];
const dataPackages = [
  { gigabytes: 1, days: 1, cost: 5_200 },
  { gigabytes: 4, days: 7, cost: 21_500 },
  { gigabytes: 8, days: 14, cost: 38_000 },
  { gigabytes: 15, days: 30, cost: 66_000 },
  { gigabytes: 35, days: 30, cost: 104_000 },
  { gigabytes: 75, days: 30, cost: 148_000 },
];
const wallets = [
  ['GPY', 'GoPay'],
  ['OVO', 'OVO'],
  ['DNA', 'DANA'],
  ['SPY', 'ShopeePay'],
  ['LAJ', 'LinkAja'],
] as const;
const walletThousands = [10, 20, 25, 50, 100, 150, 200, 300, 500];
/** Amounts of units, with the cost of one unit in rupiah. */
const units = [
  {
    prefix: 'VLR',
    brand: 'Valorant',
    unit: 'Points',
    category: 'Games',
    each: 112,
    of: [475, 1000, 2050, 3650],
  },
  {
    prefix: 'GNS',
    brand: 'Genshin Impact',
    unit: 'Genesis Crystals',
    category: 'Games',
    each: 250,
    of: [60, 300, 980],
  },
  {
    prefix: 'HOK',
    brand: 'Honor of Kings',
    unit: 'Tokens',
    category: 'Games',
    each: 172,
    of: [80, 240, 400, 830],
  },
  {
    prefix: 'GPL',
    brand: 'Google Play',
    unit: 'Rupiah',
    category: 'Voucher',
    each: 1,
    of: [20_000, 50_000, 100_000],
  },
  {
    prefix: 'STM',
    brand: 'Steam Wallet',
    unit: 'Rupiah',
    category: 'Voucher',
    each: 1,
    of: [12_000, 45_000, 90_000],
  },
  {
    prefix: 'KVS',
    brand: 'K-Vision',
    unit: 'Rupiah',
    category: 'TV',
    each: 1,
    of: [25_000, 50_000, 150_000],
  },
];
/** A bill has no price of its own: its amount comes from the inquiry. */
const bills = readCatalogue().filter(({ category }) => category === 'pascabayar');

const products = buildProducts();
const lists: Record<SupplierName, SupplierItem[]> = {
  nusantara: products.map((product, at) => ({
    ...product,
    sku: product.code,
    isAvailable: at % 41 !== 40,
    isRaised: false,
  })),
  kilat: products
    .map((product, at) => ({
      ...product,
      sku: `K-${product.code}`,
      // Cheaper for two of three products.
      cost: product.cost + (at % 3 === 0 ? 75 : -50),
      isAvailable: at % 29 !== 28,
      isRaised: at % 6 === 1,
    }))
    .filter((_item, at) => at % 4 !== 3),
};

export function isSupplier(name: string): name is SupplierName {
  return supplierNames.some((each) => each === name);
}

/** Returns the prepaid products of a supplier, with costs before the raise. */
export function getSupplierItems(name: SupplierName): readonly SupplierItem[] {
  return lists[name];
}

/** Returns the cost in rupiah after the raise. It is above the usual price with its margin. */
export function raiseCost({ cost, isRaised }: SupplierItem): number {
  return isRaised ? Math.ceil((cost * 1.06 + 400) / 25) * 25 : cost;
}

/** The bills that both suppliers take, as rows of a price list. */
export const billRows = bills.map(({ code, name, operator = '' }) => ({
  code,
  name,
  price: 0,
  status: 'active' as const,
  category: 'pascabayar',
  operator,
}));

/** The prepaid products of the demo catalogue, and more of the same kinds under other codes. */
function buildProducts(): Product[] {
  const demo = readCatalogue()
    .filter(({ category }) => category === 'prabayar')
    .map(({ code, name, subcategory, operator = '', offers }, at) => ({
      code,
      name,
      category: subcategory,
      brand: operator,
      // Above each demo price, so that documented prices and sellers stay the same.
      cost: Math.max(...Object.values(offers)) + 100 + (at % 4) * 25,
    }));
  const taken = new Set(demo.map(({ code }) => code));
  return [
    ...demo,
    ...[...buildPulsa(), ...buildData(), ...buildWallets(), ...buildUnits()].filter(
      ({ code }) => !taken.has(code),
    ),
  ];
}

function buildPulsa(): Product[] {
  return operators.flatMap(([prefix, brand], at) =>
    pulsaThousands.map((thousands) => ({
      code: `${prefix}${thousands}`,
      name: `${brand} ${formatThousands(thousands)}`,
      category: 'Pulsa',
      brand,
      cost: thousands * 985 + 450 + at * 25,
    })),
  );
}

function buildData(): Product[] {
  return operators.flatMap(([prefix, brand], at) =>
    dataPackages.map(({ gigabytes, days, cost }) => ({
      code: `${prefix}DX${gigabytes}`,
      name: `${brand} Data ${gigabytes} GB ${days} hari`,
      category: 'Data',
      brand,
      cost: cost + at * 175,
    })),
  );
}

function buildWallets(): Product[] {
  return wallets.flatMap(([prefix, brand], at) =>
    walletThousands.map((thousands) => ({
      code: `${prefix}${thousands}`,
      name: `${brand} ${formatThousands(thousands)}`,
      category: 'E-Money',
      brand,
      cost: thousands * 1_000 + 350 + at * 50,
    })),
  );
}

function buildUnits(): Product[] {
  return units.flatMap(({ prefix, brand, unit, category, each, of }) =>
    of.map((count) => ({
      code: `${prefix}${count}`,
      name: `${brand} ${count.toLocaleString('id-ID')} ${unit}`,
      category,
      brand,
      cost: Math.ceil((count * each * 1.01) / 25) * 25,
    })),
  );
}

function formatThousands(thousands: number): string {
  return (thousands * 1_000).toLocaleString('id-ID');
}
