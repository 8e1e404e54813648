import { Decimal128, Double, Long } from 'bson';
import { MongoError } from '../../errors.js';
import {
  addDecimals,
  decimalOfDouble,
  finite,
  packDecimal,
  unpackDecimal,
  type Decimal,
} from '../../values/decimal.js';
import { asDouble, asInteger, asLong } from '../../values/numbers.js';
import { isNumeric, type Numeric } from '../../values/types.js';
import type { Accumulator } from './accumulator.js';

const typeRank = { int: 0, long: 1, double: 2, decimal: 3 } as const;

/**
 * Sums numbers as MongoDB does. Integers and doubles go into a pair of doubles whose sum is exact
 * to 106 bits. Decimals have a separate sum, which is added at the end. Values of other types are
 * ignored.
 */
class ExactSum {
  count = 0;
  private rank = 0;
  private high = 0;
  private low = 0;
  /**
   * The sum in ordinary double arithmetic. It is the result if an infinity or NaN has turned the
   * pair into NaN.
   */
  private plain = 0;
  private decimals: Decimal | undefined;

  add(value: unknown): void {
    if (typeof value === 'number') {
      this.count++;
      if ((value | 0) !== value) {
        this.widen(typeRank.double);
      }
      this.addDouble(value);
    } else if (isNumeric(value)) {
      this.count++;
      this.addNumeric(value as Exclude<Numeric, number>);
    }
  }

  /**
   * The sum in the widest numeric type among the values. An integer sum outside the int64 range
   * becomes a double.
   */
  total(): Numeric {
    if (this.rank === typeRank.decimal) {
      return packDecimal(this.decimalTotal());
    }
    if (this.rank === typeRank.double) {
      return asDouble(this.doubleTotal());
    }
    const exact = BigInt(this.high) + BigInt(this.low);
    const integer = this.rank === typeRank.int ? asInteger(exact) : asLong(exact);
    return integer ?? asDouble(this.doubleTotal());
  }

  /** The mean as a double. Null if there are no numbers. */
  mean(): Numeric | null {
    if (this.count === 0) {
      return null;
    }
    if (this.rank === typeRank.decimal) {
      throw new MongoError(238, '$avg of decimals is not supported by embedded-mongo');
    }
    return asDouble(this.doubleTotal() / this.count);
  }

  private widen(rank: number): void {
    this.rank = Math.max(this.rank, rank);
  }

  private addNumeric(value: Exclude<Numeric, number>): void {
    if (value instanceof Long) {
      this.widen(typeRank.long);
      this.addDouble(value.high * 4294967296);
      this.addDouble(value.low >>> 0);
    } else if (value instanceof Decimal128) {
      this.widen(typeRank.decimal);
      this.decimals = addDecimals(this.decimals ?? finite(0n, 0), unpackDecimal(value));
    } else {
      this.widen(value instanceof Double ? typeRank.double : typeRank.int);
      this.addDouble(value.value);
    }
  }

  /**
   * Two steps of error-free addition (two-sum). The first adds the value. The second normalizes the
   * pair, so that `high` is the rounded sum and `low` its rounding error.
   */
  private addDouble(value: number): void {
    this.plain += value;
    const sum = this.high + value;
    const part = sum - this.high;
    const error = this.high - (sum - part) + (value - part) + this.low;
    this.high = sum + error;
    this.low = error - (this.high - sum);
  }

  private doubleTotal(): number {
    return Number.isNaN(this.high) || Number.isNaN(this.low) ? this.plain : this.high;
  }

  private decimalTotal(): Decimal {
    const decimals = this.decimals ?? finite(0n, 0);
    const high = this.doubleTotal();
    if (!Number.isFinite(high)) {
      return addDecimals(decimals, decimalOfDouble(high));
    }
    if (high === 0 && this.low === 0) {
      return decimals;
    }
    return addDecimals(decimals, addDecimals(decimalOfDouble(high), decimalOfDouble(this.low)));
  }
}

export function createSum(): Accumulator {
  const sum = new ExactSum();
  return { add: (value) => sum.add(value), result: () => sum.total() };
}

export function createAverage(): Accumulator {
  const sum = new ExactSum();
  return { add: (value) => sum.add(value), result: () => sum.mean() };
}
