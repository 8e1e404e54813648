import type { ProductStatus } from '../products/product.model.js';
import { listSellerProducts } from '../products/read-products.js';
import type { CountedRow } from './report-rows.js';
import type { Report } from './report.model.js';

/** Sums rows while they are written, so that a report needs one pass. Amounts are in rupiah. */
export interface SummaryBuilder {
  add(counted: CountedRow): void;
  /** Returns the `summary` that docs/reference/api/reports.md describes, in wire names. */
  build(): Promise<Record<string, unknown>>;
}

interface Total {
  count: number;
  amount: number;
}

export function createSummaryBuilder(
  report: Pick<Report, 'type' | 'role' | 'accountId'>,
  commissionRate: number,
): SummaryBuilder {
  const all: Total = { count: 0, amount: 0 };
  const success: Total = { count: 0, amount: 0 };
  let failed = 0;
  let commission = 0;
  const byCategory = new Map<string, Total>();
  const byProduct = new Map<string, Total>();

  function add(counted: CountedRow): void {
    addToTotal(all, counted.amount);
    failed += counted.isFailed ? 1 : 0;
    if (counted.isSuccess) {
      addToTotal(success, counted.amount);
      commission += counted.commission;
      addToTotals(byCategory, counted.subcategory, counted.amount);
      addToTotals(byProduct, counted.productCode, counted.amount);
    }
  }

  async function build(): Promise<Record<string, unknown>> {
    const five = {
      total_transactions: all.count,
      success_transactions: success.count,
      failed_transactions: failed,
      total_amount: all.amount,
      success_amount: success.amount,
    };
    switch (report.type) {
      case 'transaction':
        return five;
      case 'deposit':
        return { ...five, average_amount: all.count === 0 ? 0 : Math.round(all.amount / all.count) };
      case 'purchase':
        return { ...five, by_category: toList(byCategory), by_product: toList(byProduct) };
      case 'sales':
        return {
          total_transactions: all.count,
          success_transactions: success.count,
          failed_transactions: failed,
          total_revenue: all.amount,
          success_revenue: success.amount,
          commission_rate: commissionRate,
          commission_amount: commission,
          net_revenue: success.amount - commission,
        };
      case 'product':
        return buildProductSummary(report.accountId, { success, byProduct });
    }
  }

  return { add, build };
}

async function buildProductSummary(
  sellerId: string,
  { success, byProduct }: { success: Total; byProduct: Map<string, Total> },
): Promise<Record<string, unknown>> {
  const products = await listSellerProducts(sellerId);
  const withStatus = (status: ProductStatus) => products.filter((each) => each.status === status).length;
  return {
    total_products: products.length,
    active: withStatus('active'),
    inactive: withStatus('inactive'),
    maintenance: withStatus('maintenance'),
    units_sold: success.count,
    total_revenue: success.amount,
    products: products.map(({ product, price, status }) => ({
      code: product._id,
      name: product.name,
      price,
      status,
      units_sold: byProduct.get(product._id)?.count ?? 0,
      revenue: byProduct.get(product._id)?.amount ?? 0,
    })),
  };
}

function addToTotal(total: Total, amount: number): void {
  total.count += 1;
  total.amount += amount;
}

function addToTotals(totals: Map<string, Total>, key: string | null, amount: number): void {
  if (key !== null) {
    const total = totals.get(key) ?? { count: 0, amount: 0 };
    addToTotal(total, amount);
    totals.set(key, total);
  }
}

function toList(totals: Map<string, Total>) {
  return [...totals].map(([key, total]) => ({ key, ...total }));
}
