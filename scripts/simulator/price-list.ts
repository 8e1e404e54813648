/**
 * The response to GET /price-list. Orders may use any code, because the simulator does not know the
 * sellers' products.
 */

export interface PriceListItem {
  code: string;
  name: string;
  /** Price in rupiah. */
  price: number;
  status: 'active';
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

const catalogue: (PriceListItem & { category: string; operator: string })[] = [
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

export function listPrices(filter: { category?: string; operator?: string }): PriceListItem[] {
  return catalogue
    .filter((item) => filter.category === undefined || item.category === filter.category)
    .filter(
      (item) =>
        filter.operator === undefined || item.operator.toLowerCase() === filter.operator.toLowerCase(),
    )
    .map(({ code, name, price, status }) => ({ code, name, price, status }));
}

function buildPrepaidItem(
  code: string,
  name: string,
  price: number,
  operator: string,
): (typeof catalogue)[number] {
  return { code, name, price, status: 'active', category: 'prabayar', operator };
}
