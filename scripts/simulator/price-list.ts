/**
 * The response to GET /price-list. Orders may use any code, because the simulator does not know the
 * sellers' products. The two suppliers of the sandbox have lists of their own.
 */
import { billRows, getSupplierItems, isSupplier, raiseCost } from './suppliers.js';

export interface PriceListItem {
  code: string;
  name: string;
  /** Price in rupiah. */
  price: number;
  status: 'active' | 'inactive';
  /** Only in the lists of the sandbox's suppliers. */
  category?: string;
  operator?: string;
}

const operators = [
  { prefix: 'S', name: 'Telkomsel', margin: 250 },
  { prefix: 'I', name: 'Indosat', margin: 300 },
  { prefix: 'X', name: 'XL', margin: 350 },
  { prefix: 'AX', name: 'Axis', margin: 325 },
  { prefix: 'T', name: 'Tri', margin: 200 },
  { prefix: 'SM', name: 'Smartfren', margin: 150 },
];
const thousands = [5, 10, 20, 25, 50, 100];
const meterThousands = [20, 50, 100, 200, 500];
const bills = [
  { code: 'PLNPASCA', name: 'PLN Pascabayar', operator: 'PLN' },
  { code: 'PDAM', name: 'PDAM', operator: 'PDAM' },
  { code: 'BPJS', name: 'BPJS Kesehatan', operator: 'BPJS' },
  { code: 'TELKOM', name: 'Telkom', operator: 'Telkom' },
];

type Row = PriceListItem & Required<Pick<PriceListItem, 'category' | 'operator'>>;

const catalogue: Row[] = [
  ...operators.flatMap(({ prefix, name, margin }) =>
    thousands.map((amount) =>
      buildPrepaidItem(`${prefix}${amount}`, `${name} ${amount}.000`, amount * 1_000 + margin, name),
    ),
  ),
  ...meterThousands.map((amount) =>
    buildPrepaidItem(`PLN${amount}`, `Token PLN ${amount}.000`, amount * 1_000 + 100, 'PLN'),
  ),
  ...bills.map((bill) => ({ ...bill, price: 0, status: 'active' as const, category: 'pascabayar' })),
];

/** @param asked.isRaised True if the supplier has raised its prices. */
export function listPrices(asked: {
  provider: string;
  isRaised: boolean;
  category?: string | undefined;
  operator?: string | undefined;
}): PriceListItem[] {
  const { provider, isRaised, category, operator } = asked;
  const isOwn = isSupplier(provider);
  return (isOwn ? listSupplier(provider, isRaised) : catalogue)
    .filter((item) => category === undefined || item.category === category)
    .filter((item) => operator === undefined || item.operator.toLowerCase() === operator.toLowerCase())
    .map(({ code, name, price, status, ...rest }) => ({ code, name, price, status, ...(isOwn && rest) }));
}

function listSupplier(name: Parameters<typeof getSupplierItems>[0], isRaised: boolean): Row[] {
  const items = getSupplierItems(name).map((item): Row => ({
    code: item.sku,
    name: item.name,
    price: isRaised ? raiseCost(item) : item.cost,
    status: item.isAvailable ? 'active' : 'inactive',
    category: item.category,
    operator: item.brand,
  }));
  return [...items, ...billRows];
}

function buildPrepaidItem(code: string, name: string, price: number, operator: string): Row {
  return { code, name, price, status: 'active', category: 'prabayar', operator };
}
