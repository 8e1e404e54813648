/** Names of the fields of a purchase, as the caller of a surface sends them. */
export interface CallerFields {
  productCode: string;
  customerNumber: string;
}

/** Each surface declares its names here. Errors of the domain name the caller's own field. */
export const callerFields = {
  wallet: { productCode: 'product_code', customerNumber: 'destination' },
  buyer: { productCode: 'code', customerNumber: 'customer_number' },
  reseller: { productCode: 'code', customerNumber: 'customer' },
} as const satisfies Record<string, CallerFields>;

export type Surface = keyof typeof callerFields;
