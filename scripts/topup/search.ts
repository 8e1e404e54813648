import type { Command } from 'commander';
import { defineCommand } from './define-command.js';
import { formatHeading, listText } from './format.js';
import { UsageError } from './usage-error.js';

/** `topup search`: the search of the console (Ctrl-K). */
export function registerSearch(program: Command): void {
  defineCommand(program, {
    usage: 'search <words...>',
    action: 'purchase.look',
    summary: 'Find purchases and accounts by any detail that a customer can give',
    details:
      'Searches by id, ref_id, customer number (as sent or as stored), serial number (at least its first 6 characters) and the beginning of a username. Prints at most 20 purchases, newest first, and 5 accounts.',
    examples: ['search 081234561230', 'search order-20240301-0001', 'search warung'],
    async run({ args }) {
      const [
        { searchPurchasesAndAccounts, searchLength },
        { getPartyIds },
        { findUsernames },
        { formatToken },
      ] = await Promise.all([
        import('../../src/purchases/search-purchases.js'),
        import('../../src/purchases/operator-list.js'),
        import('../../src/accounts/find-account.js'),
        import('../../src/purchases/pln-token.js'),
      ]);
      const words = args('words').join(' ').trim();
      if (words.length < searchLength.min || words.length > searchLength.max) {
        throw new UsageError(`Search for ${searchLength.min} to ${searchLength.max} characters.`);
      }
      const found = await searchPurchasesAndAccounts(words);
      const usernames = await findUsernames(getPartyIds(found.purchases));
      const purchases = found.purchases.map((each) => ({
        id: each._id,
        account: usernames[each.accountId] ?? each.accountId,
        ref_id: each.refId,
        product: each.productCode,
        customer: each.customerNumber,
        price: each.price,
        status: each.status,
        serial_number: formatToken(each),
        created_at: each.createdAt,
      }));
      const accounts = found.accounts.map(({ account, balance }) => ({
        username: account.username,
        role: account.role,
        status: account.status,
        balance,
      }));
      return { data: { purchases, accounts }, text: formatResults(purchases, accounts) };
    },
  });
}

interface FoundPurchase {
  id: string;
  account: string;
  ref_id: string;
  product: string;
  customer: string;
  price: number;
  status: string;
  serial_number: string | null;
  created_at: Date;
}

interface FoundAccount {
  username: string;
  role: string;
  status: string;
  balance: number;
}

function formatResults(purchases: FoundPurchase[], accounts: FoundAccount[]): string {
  const ofPurchases = listText(purchases, {
    columns: [
      'created_at',
      'id',
      'account',
      'ref_id',
      'product',
      'customer',
      'price',
      'status',
      'serial_number',
    ],
    empty: '',
  });
  const ofAccounts = listText(accounts, {
    columns: [['account', ({ username }) => username], 'role', 'status', 'balance'],
    empty: '',
  });
  const parts = [
    ...(ofPurchases === '' ? [] : [formatHeading('Purchases'), ofPurchases]),
    ...(ofAccounts === '' ? [] : [formatHeading('Accounts'), ofAccounts]),
  ];
  return parts.length === 0 ? 'Nothing matches this id, reference, number or name.' : parts.join('\n').trim();
}
