import colours from 'picocolors';
import { adminPasswordPath } from './admin-password.js';
import type { DemoAccount, DemoFile } from './demo-file.js';
import { demoProduct, resellerSign, simulatorEndings } from './demo-calls.js';
import { isLoopback } from './listen-address.js';

export interface BannerFacts {
  demo: DemoFile;
  databases: { mongodb: string; redis: string };
  localDir: string;
  /** Listen address of the web process. */
  address: string;
  /**
   * True if this start created the console password. The banner shows the password only in this
   * case.
   */
  hasNewPassword: boolean;
}

/** Returns the start banner: addresses, accounts and sample calls. */
export function banner(facts: BannerFacts): string {
  const { demo, databases, localDir } = facts;
  const { buyer, seller, admin } = demo.accounts;
  return [
    '',
    colours.bold(colours.green('The top-up service is running.')),
    '',
    ...table([
      ['Service', demo.base_url],
      ['Documentation', `${demo.base_url}/docs`],
      ['Portal', `${demo.base_url}/portal   for a buyer or seller, with the API key`],
      // A browser does not send the fragment after # to a server. The page reads the key from it.
      ...(buyer?.api_key === undefined
        ? []
        : [['Calls to try', `${demo.base_url}/docs/reference/createBuyerTransaction#key=${buyer.api_key}`]]),
      ['Console', `${demo.base_url}/admin${admin ? `   (${login(admin, facts)})` : ''}`],
      ['Provider simulator', demo.simulator_url],
      ['Webhook inbox', demo.inbox_url],
      ['MongoDB', databases.mongodb],
      ['Redis', databases.redis],
      ['Data and logs', localDir],
    ]),
    ...(isLoopback(facts.address) ? [] : formatOpenWarning(facts)),
    ...(buyer ? formatAccounts([buyer, seller]) : []),
    ...(demo.simulator_url === null ? [] : formatEndings()),
    ...(buyer ? formatCalls(demo.base_url, buyer) : []),
    '',
    colours.dim('Ctrl-C stops everything and keeps the data. npm run reset deletes the data.'),
    '',
  ].join('\n');
}

function login({ username, password }: DemoAccount, { localDir, hasNewPassword }: BannerFacts): string {
  if (password === undefined) {
    return `${username}, with the password that was set for it`;
  }
  return hasNewPassword
    ? `${username} / ${password}, shown only once: it is in ${adminPasswordPath(localDir)}`
    : `${username}, its password is in ${adminPasswordPath(localDir)}`;
}

function formatOpenWarning({ address }: BannerFacts): string[] {
  const warning = `WARNING: it listens on ${address}. Anyone who can reach this address can call it and log in.`;
  return ['', colours.yellow(warning), colours.yellow('It uses plain HTTP and settings for development.')];
}

function formatAccounts(accounts: (DemoAccount | undefined)[]): string[] {
  return [
    '',
    colours.bold('Demo keys'),
    ...table(accounts.flatMap((each) => (each ? [[each.username, each.api_key ?? '']] : []))),
  ];
}

function formatEndings(): string[] {
  return [
    '',
    colours.bold('Test numbers') + ' (the simulator reads the last four digits)',
    ...table(simulatorEndings.map(([ending, meaning]) => [demoProduct.number(ending), meaning])),
  ];
}

/**
 * Builds sample calls. Each start uses its own ref_ids, because a repeated ref_id means the same
 * purchase.
 */
function formatCalls(baseUrl: string, { username, api_key: apiKey = '' }: DemoAccount): string[] {
  const run = Date.now().toString(36);
  const customer = demoProduct.number('1230');
  const refId = `sign-${run}`;
  const sign = resellerSign({ username, apiKey, code: demoProduct.code, customer, refId });
  const query = new URLSearchParams({ username, sign, code: demoProduct.code, customer, ref_id: refId });
  return [
    '',
    colours.bold('Calls to copy'),
    ...post('deposit', { amount: 100_000, ref_id: `deposit-${run}` }),
    ...post('transaction', { code: demoProduct.code, customer_number: customer, ref_id: `buy-${run}` }),
    `  curl -s '${baseUrl}/api/reseller/request?${query.toString()}'`,
  ];

  function post(call: string, body: object): string[] {
    return [
      `  curl -s ${baseUrl}/api/buyer/${call} -H 'Authorization: Bearer ${apiKey}' \\`,
      `    -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
    ];
  }
}

function table(rows: (string | null)[][]): string[] {
  return rows.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`  ${(name ?? '').padEnd(20)}${value}`],
  );
}
