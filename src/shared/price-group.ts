/** What a price group can be called. */
export const priceGroupPattern = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const priceGroupRule =
  'a price group has 1 to 32 characters of a-z, 0-9 and dash, and begins with no dash';
