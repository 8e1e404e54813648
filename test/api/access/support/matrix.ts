/**
 * Every parameter of every operation that could identify data of another account.
 * account-matrix.long.test.ts fails if one is missing.
 */
import { uniqueRef } from '../../../support/api-client.js';
import { bill, type IdentifierName } from './two-sides.js';

export interface Place {
  /**
   * Returns the value to send while another parameter is tested. Undefined if this parameter may be
   * omitted.
   */
  usual?: () => unknown;
  /**
   * True if the test sends every identifier of the other side here. The response must equal that to
   * an unknown identifier.
   */
  isTried: boolean;
  /**
   * Identifiers that are public or shared between accounts in this place, with the reason and the
   * expected status.
   */
  shared?: { these: IdentifierName[]; because: string; status: number };
}

export interface Entry {
  places: Record<string, Place>;
  /** Why the operation affects only its caller. Required if no parameter is tested. */
  because?: string;
}

const ownAccountReason = 'it takes nothing that could name an account, and acts on that of the key';

/** Describes a parameter that identifies no account's data. */
const plain = (usual?: unknown): Place => ({
  isTried: false,
  ...(usual !== undefined && { usual: () => usual }),
});
const named = (usual?: unknown, shared?: Place['shared']): Place => ({
  ...plain(usual),
  isTried: true,
  ...(shared && { shared }),
});
/**
 * Describes a parameter that is not tested: some identifiers are shared here, and the others are
 * invalid.
 */
const common = (usual: () => unknown, shared: NonNullable<Place['shared']>): Place => ({
  usual,
  isTried: false,
  shared,
});

/**
 * Describes a ref_id that the caller chooses. The other side's ref_id is accepted and creates a new
 * row, because ref_ids are unique per account. Each value is sent once, because a second call would
 * be a repeat.
 */
const newRef = (status: number, these: IdentifierName[]) =>
  common(() => uniqueRef('own'), { these, because: 'ref_ids are unique per account', status });
const phone = (status: number) =>
  common(() => '081211113333', {
    these: ['phone'],
    because: "a number is its holder's: anybody may top it up",
    status,
  });
const customer = common(() => '530000998877', {
  these: ['customer'],
  because: 'anybody may ask for and pay a bill; each has a quote of its own',
  status: 200,
});
const onSale = (status: number): Place['shared'] => ({
  these: ['activeProduct'],
  because: 'what is on sale is for all buyers',
  status,
});

const purchase = (
  fields: { code: string; number: string },
  status: 200 | 201,
  refs: IdentifierName[],
): Entry => ({
  places: {
    [fields.code]: named('S10', onSale(status)),
    [fields.number]: phone(status),
    ref_id: newRef(status, refs),
    max_price: plain(),
  },
});
const walletPurchase = purchase({ code: 'product_code', number: 'destination' }, 201, [
  'walletRef',
  'transaction',
]);
const history: Entry = {
  because: ownAccountReason,
  places: {
    status: plain(),
    start_date: plain(),
    end_date: plain(),
    page: plain(),
    limit: plain(),
    tz: plain(),
  },
};
const listByRef = (unknown: string): Entry => ({
  places: {
    ref_id: named(unknown),
    status: plain(),
    start_date: plain(),
    end_date: plain(),
    limit: plain(),
    cursor: plain(),
    tz: plain(),
  },
});
const statement: Entry = {
  because: ownAccountReason,
  places: {
    start_date: plain(),
    end_date: plain(),
    limit: plain(),
    cursor: plain(),
    format: plain(),
    tz: plain(),
  },
};
const report = (type: string): Entry => ({
  because: ownAccountReason,
  places: { type: plain(type), format: plain(), start_date: plain(), end_date: plain(), tz: plain() },
});

/** Returns the operations that both roles have: webhooks, configuration and keys. */
function ofRole(role: 'Buyer' | 'Seller'): Record<string, Entry> {
  const alone: Entry = { because: ownAccountReason, places: {} };
  return {
    [`create${role}Report`]: report('transaction'),
    [`get${role}Statement`]: statement,
    [`get${role}Report`]: { places: { id: named('no-report-1') } },
    [`download${role}Report`]: { places: { id: named('no-report-1') } },
    [`revoke${role}ReportLinks`]: { places: { id: named('no-report-1') } },
    [`revoke${role}Links`]: alone,
    [`list${role}Requests`]: {
      because: 'it lists calls of ours, whatever it is narrowed to: test/api/account/requests.long.test.ts',
      // The log contains what the caller itself sent, including the other side's identifiers from
      // earlier calls.
      places: { failed: plain(), ref_id: plain('no-call-1'), limit: plain(), cursor: plain(), tz: plain() },
    },
    [`list${role}Deliveries`]: {
      places: {
        status: plain(),
        event: plain(),
        ref_id: named(),
        endpoint_id: named(),
        page: plain(),
        limit: plain(),
        tz: plain(),
      },
    },
    [`replay${role}Delivery`]: { places: { id: named('no-delivery-1') } },
    [`replay${role}Deliveries`]: {
      places: {
        since: plain('2020-01-01T00:00:00.000Z'),
        status: plain('delivered'),
        endpoint_id: named('no-endpoint-1'),
      },
    },
    [`list${role}Endpoints`]: alone,
    [`create${role}Endpoint`]: {
      because: "it is an endpoint of the key's own account; two accounts may share a URL",
      places: {
        url: common(() => `https://own.example/${uniqueRef('hook')}`, {
          // The URL of webhook_url is missing here: the configuration test uses it, and an account
          // cannot have a URL twice.
          these: ['sellerEndpointUrl'],
          because: 'as webhook_url',
          status: 201,
        }),
        events: plain(),
        version: plain(),
        description: plain(),
        in_flight_limit: plain(),
      },
    },
    [`get${role}Endpoint`]: { places: { id: named('no-endpoint-1') } },
    [`update${role}Endpoint`]: {
      places: {
        id: named('no-endpoint-1'),
        url: plain(),
        events: plain(),
        version: plain(),
        description: plain('taken'),
        in_flight_limit: plain(),
      },
    },
    [`remove${role}Endpoint`]: { places: { id: named('no-endpoint-1') } },
    [`test${role}Endpoint`]: { places: { id: named('no-endpoint-1'), event: plain() } },
    [`enable${role}Endpoint`]: { places: { id: named('no-endpoint-1') } },
    [`rotate${role}EndpointSecret`]: { places: { id: named('no-endpoint-1') } },
    [`test${role}Webhook`]: { because: ownAccountReason, places: { event: plain() } },
    [`enable${role}Webhooks`]: alone,
    [`rotate${role}WebhookSecret`]: alone,
    [`get${role}Config`]: alone,
    [`update${role}Config`]: {
      because: "it changes the configuration of the key's own account; two accounts may share a URL",
      places: {
        webhook_url: common(() => undefined, {
          these: ['sellerWebhookUrl'],
          because: 'a URL may be that of two accounts; each has a health, an order and a secret of its own',
          status: 200,
        }),
        callback_url: common(() => undefined, {
          these: ['sellerWebhookUrl'],
          because: 'as webhook_url',
          status: 200,
        }),
        ip_whitelist: plain(),
        rate_limit: plain(),
        language: plain(),
      },
    },
    [`rotate${role}Key`]: { because: ownAccountReason, places: { overlap_minutes: plain() } },
  };
}

export const matrix: Record<string, Entry> = {
  login: { because: ownAccountReason, places: {} },
  getWalletBalance: { because: ownAccountReason, places: {} },
  listWalletProducts: {
    places: { category: named(), subcategory: named(), operator: named(), status: plain() },
  },
  createWalletTransaction: {
    places: {
      ...walletPurchase.places,
      callback_url: common(() => undefined, {
        these: ['webhookUrl'],
        because: 'the callback is about our own transaction and signed with our own secret',
        status: 201,
      }),
    },
  },
  getWalletTransaction: { places: { id: named('no-transaction-1'), tz: plain() } },
  getBuyerBalance: { because: ownAccountReason, places: {} },
  getBuyerPriceList: { places: { category: named(), operator: named() } },
  createDeposit: {
    because: 'the reference is ours, and the deposit credits the wallet of the key',
    places: { amount: plain(60_000), ref_id: newRef(200, ['depositRef', 'transactionRef', 'deposit']) },
  },
  createBuyerTransaction: purchase({ code: 'code', number: 'customer_number' }, 200, [
    'transactionRef',
    'depositRef',
  ]),
  inquireBill: { places: { code: named(bill.code, onSale(400)), customer_number: customer } },
  createPayment: {
    places: {
      code: named(bill.code, onSale(400)),
      customer_number: customer,
      ref_id: newRef(200, ['paymentRef']),
      max_price: plain(),
    },
  },
  listBuyerDeposits: listByRef('no-deposit-1'),
  listBuyerTransactions: {
    because: 'it lists what is ours, whatever it is narrowed to: test/api/buyer/list-transactions.test.ts',
    places: { ...history.places, code: plain(), customer_number: plain(), sn: plain() },
  },
  lookupBuyerTransactions: {
    because: "every ref_id of another account's is in not_found: test/api/buyer/lookup-transactions.test.ts",
    places: { ref_ids: plain(['no-transaction-1']), tz: plain() },
  },
  getBuyerTransaction: { places: { ref: named('no-transaction-1'), tz: plain() } },
  getReceipt: {
    places: {
      ref: named('no-transaction-1'),
      width: plain(),
      lang: plain(),
      title: plain(),
      sold_price: plain(),
    },
  },

  listSandboxScenarios: { because: ownAccountReason, places: {} },
  advanceSandbox: {
    because: 'it is about what is ours: test/purchases/sandbox/advance.long.test.ts',
    places: {},
  },
  endSandboxTransaction: { places: { ref: named('no-transaction-1'), result: plain('failed') } },

  listSellerProducts: { because: ownAccountReason, places: {} },
  createProduct: {
    because: 'the product is ours; a code that anybody has is refused, and that alone is told of it',
    places: {
      code: common(() => uniqueRef('OWN').slice(0, 50), {
        these: ['activeProduct', 'inactiveProduct'],
        because: 'a code is unique in the catalogue',
        status: 409,
      }),
      name: plain('Own voucher'),
      category: plain('prabayar'),
      subcategory: plain('voucher'),
      operator: plain(),
      price: plain(10_000),
      status: plain(),
      max_wait_s: plain(),
    },
  },
  updateProduct: {
    places: {
      code: named('NO-PRODUCT-1'),
      price: plain(1),
      status: plain('inactive'),
      description: plain('taken'),
      max_wait_s: plain(),
    },
  },
  putOffer: {
    places: {
      code: named('NO-PRODUCT-1', {
        these: ['activeProduct'],
        because: 'every seller may offer what is in the catalogue',
        status: 200,
      }),
      price: plain(999_999),
      status: plain(),
    },
  },
  getSellerBalance: { because: ownAccountReason, places: {} },
  requestSettlement: {
    because: 'the reference is ours, and the money that of the key; a bank account may be named by anybody',
    places: {
      amount: plain(50_000),
      bank_account: plain({ bank_code: '014', account_number: '1112223334', account_name: 'PT Sisi Kami' }),
      ref_id: newRef(200, ['settlementRef', 'transactionRef', 'settlement']),
    },
  },
  listSettlements: listByRef('no-settlement-1'),
  getSettlement: { places: { id: named('no-settlement-1'), tz: plain() } },
  listSellerTransactions: {
    because: 'it lists what is ours, whatever it is narrowed to: test/api/seller/list-transactions.test.ts',
    places: { ...history.places, code: plain(), sn: plain() },
  },
  ...ofRole('Buyer'),
  ...ofRole('Seller'),

  createResellerRequest: {
    places: {
      username: named(),
      ...purchase({ code: 'code', number: 'customer' }, 200, ['resellerRef', 'settlementRef']).places,
    },
  },
  getResellerPriceList: { places: { username: named(), category: named(), operator: named() } },
  getResellerBalance: { places: { username: named() } },
};
