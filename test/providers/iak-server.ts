/**
 * Simulates both APIs of IAK over HTTP from its public documentation: signatures, response codes,
 * top-ups that are only accepted at first, bills by inquiry and payment, price lists and callbacks.
 *
 * The test numbers of PLN are those of the documentation. Prepaid numbers that end in 2 or 4 fail.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sendJson, startPlayServer, type PlayedCall } from './play-server.js';

type Body = Record<string, string | undefined>;
interface TopUp {
  ref_id: string;
  customer_id: string;
  product_code: string;
}
interface Inquiry {
  tr_id: number;
  ref_id: string;
  hp: string;
  code: string;
  state: 'inquired' | 'paid' | 'failed' | 'pending';
}

export interface IakServer {
  url: string;
  username: string;
  apiKey: string;
  /** Returns how many times the order or payment with this reference of ours was executed. */
  executions(providerRef: string): number;
  calls: PlayedCall[];
  /** Customer numbers whose orders and payments are executed without a response. */
  silentFor: Set<string>;
  /** Customer numbers whose orders stay in process. */
  slowFor: Set<string>;
  /** Replaces these fields in every bill. */
  changeBills(fields: object): void;
  /** Responds to the next call with this code and executes nothing. */
  answerNextWith(code: string): void;
  /** Called when a payment arrives, before it is executed. */
  beforePayment(hook: () => Promise<void> | void): void;
  /** Returns the body of the callback for this order, in the layout of version 2. */
  callback(providerRef: string): Buffer;
  stop(): Promise<void>;
}

const refused: Record<string, { response_code: string; message: string }> = {
  '530000000003': { response_code: '103', message: 'TIMEOUT' },
  '530000000004': { response_code: '01', message: 'INVOICE HAS BEEN PAID' },
  '530000000005': { response_code: '14', message: 'INCORRECT DESTINATION NUMBER' },
  '530000000010': { response_code: '10', message: 'BILL IS NOT AVAILABLE' },
};
const paymentStates: Record<string, Inquiry['state']> = {
  '530000000006': 'failed',
  '530000000007': 'pending',
};

export async function startIakServer(): Promise<IakServer> {
  const username = '123123123';
  const apiKey = 'iak-key';
  const topUps = new Map<string, TopUp>();
  const inquiries: Inquiry[] = [];
  const executed: string[] = [];
  const silentFor = new Set<string>();
  const slowFor = new Set<string>();
  let changedFields: object = {};
  let nextCode: string | null = null;
  let hook: () => Promise<void> | void = () => undefined;

  const sign = (suffix: string) => createHash('md5').update(`${username}${apiKey}${suffix}`).digest('hex');

  const server = await startPlayServer((call, response) => {
    const body = JSON.parse(call.raw) as Body;
    const isPostpaid = call.url.pathname === '/api/v1/bill/check';
    const suffix = isPostpaid ? findPostpaidSuffix(body) : findPrepaidSuffix(call.url.pathname, body);
    if (suffix === null) {
      sendCode(response, isPostpaid, '117', 'PAGE NOT FOUND');
    } else if (body['username'] !== username || body['sign'] !== sign(suffix)) {
      sendCode(response, isPostpaid, isPostpaid ? '100' : '204', 'WRONG AUTHENTICATION');
    } else if (nextCode !== null) {
      const code = nextCode;
      nextCode = null;
      sendCode(response, isPostpaid, code, `Answer ${code}`);
    } else if (isPostpaid) {
      void answerPostpaid(body, response);
    } else {
      answerPrepaid(call.url.pathname, body, response);
    }
  });

  function answerPrepaid(path: string, body: Body, response: ServerResponse): void {
    switch (path) {
      case '/api/check-balance':
        sendJson(response, 200, { data: { balance: 997_136_249, message: 'SUCCESS', rc: '00' } });
        return;
      case '/api/pricelist':
        sendJson(response, 200, { data: { pricelist: prepaidList, rc: '00', message: 'SUCCESS' } });
        return;
      case '/api/inquiry-pln':
        sendJson(response, 200, { data: describeMeter(body['customer_id'] ?? '') });
        return;
      case '/api/top-up':
        topUp(body, response);
        return;
      default: {
        const known = topUps.get(body['ref_id'] ?? '');
        sendJson(response, 200, {
          data: known ? describeTopUp(known) : { rc: '06', message: 'TRANSACTION NOT FOUND', status: 2 },
        });
      }
    }
  }

  function topUp(body: Body, response: ServerResponse): void {
    const { ref_id = '', customer_id = '', product_code = '' } = body;
    const known = topUps.get(ref_id);
    if (known) {
      sendJson(response, 200, { data: describeTopUp(known) });
      return;
    }
    topUps.set(ref_id, { ref_id, customer_id, product_code });
    if (!fails(customer_id)) {
      executed.push(ref_id);
    }
    if (!silentFor.has(customer_id)) {
      sendJson(response, 200, {
        data: { ref_id, customer_id, product_code, ...about, status: 0, message: 'PROCESS', rc: '39' },
      });
    }
  }

  function describeTopUp(order: TopUp) {
    if (slowFor.has(order.customer_id)) {
      return { ...order, ...about, status: 0, message: 'PROCESS', rc: '39' };
    }
    return fails(order.customer_id)
      ? { ...order, ...about, status: 2, message: 'FAILED', rc: '07' }
      : { ...order, ...about, status: 1, message: 'SUCCESS', sn: '123456789', rc: '00' };
  }

  async function answerPostpaid(body: Body, response: ServerResponse): Promise<void> {
    switch (body['commands']) {
      case 'pricelist-pasca':
        sendJson(response, 200, { data: { pasca: postpaidList }, meta: [] });
        return;
      case 'inq-pasca':
        inquire(body, response);
        return;
      case 'pay-pasca':
        await hook();
        pay(body, response);
        return;
      default:
        check(body, response);
    }
  }

  function inquire(body: Body, response: ServerResponse): void {
    const { ref_id = '', hp = '', code = '' } = body;
    const refusal = refused[hp];
    if (!/^[a-z0-9]+$/i.test(ref_id)) {
      sendCode(response, true, '03', 'INVALID REF ID');
    } else if (inquiries.some((each) => each.ref_id === ref_id)) {
      sendCode(response, true, '11', 'DUPLICATE REF ID');
    } else if (refusal) {
      sendJson(response, 200, { data: { ...refusal, ref_id, hp, code }, meta: [] });
    } else {
      const inquiry: Inquiry = { tr_id: 9_732_792 + inquiries.length, ref_id, hp, code, state: 'inquired' };
      inquiries.push(inquiry);
      const data = { ...describeBill(inquiry), response_code: '00', message: 'INQUIRY SUCCESS' };
      sendJson(response, 200, { data, meta: [] });
    }
  }

  function pay(body: Body, response: ServerResponse): void {
    const inquiry = inquiries.find((each) => String(each.tr_id) === body['tr_id']);
    if (!inquiry) {
      sendCode(response, true, '06', 'INQUIRY ID NOT FOUND');
      return;
    }
    if (inquiry.state !== 'inquired') {
      sendCode(response, true, '01', 'INVOICE HAS BEEN PAID');
      return;
    }
    inquiry.state = paymentStates[inquiry.hp] ?? 'paid';
    if (inquiry.state !== 'failed') {
      executed.push(inquiry.ref_id);
    }
    if (!silentFor.has(inquiry.hp)) {
      const { status: _none, ...data } = describePayment(inquiry);
      sendJson(response, 200, { data, meta: [] });
    }
  }

  function check(body: Body, response: ServerResponse): void {
    const inquiry = inquiries.find((each) => each.ref_id === body['ref_id']);
    if (inquiry) {
      sendJson(response, 200, { data: describePayment(inquiry), meta: [] });
    } else {
      sendCode(response, true, '06', 'INQUIRY ID NOT FOUND');
    }
  }

  function describePayment(inquiry: Inquiry) {
    const noref = inquiry.state === 'paid' ? '004212C9245F1BA43A77CEBD5CD5DA39' : '';
    return { ...describeBill(inquiry), balance: 997_586_108, noref, ...paymentFields[inquiry.state] };
  }

  function describeBill({ tr_id, ref_id, hp, code }: Inquiry) {
    const months = hp.endsWith('2') ? ['201608', '201609'] : ['201608'];
    return {
      tr_id,
      code,
      hp,
      tr_name: 'SUBCRIBER NAME',
      period: months.join(','),
      nominal: 300_000 * months.length,
      admin: 2_500 * months.length,
      ref_id,
      price: 302_500 * months.length,
      selling_price: 301_900 * months.length,
      desc: {
        tarif: 'R1',
        daya: 1_300,
        lembar_tagihan: String(months.length),
        tagihan: {
          detail: months.map((periode) => ({
            periode,
            nilai_tagihan: '300000',
            admin: '2500',
            denda: '0',
            total: 302_500,
          })),
        },
      },
      ...changedFields,
    };
  }

  return {
    url: server.url,
    username,
    apiKey,
    calls: server.calls,
    executions: (providerRef) => executed.filter((each) => each === toRef(providerRef)).length,
    silentFor,
    slowFor,
    changeBills: (fields) => (changedFields = fields),
    answerNextWith: (code) => (nextCode = code),
    beforePayment: (next) => (hook = next),
    callback(providerRef) {
      const ref = toRef(providerRef);
      const order = topUps.get(ref) ?? { ref_id: ref, customer_id: '0817777215', product_code: 'xld25000' };
      const state = describeTopUp(order);
      const texts = Object.entries(state).map(([field, value]) => [field, String(value)] as const);
      return Buffer.from(JSON.stringify({ data: { ...Object.fromEntries(texts), sign: sign(ref) } }));
    },
    stop: () => server.stop(),
  };
}

/** References have letters and digits only. */
function toRef(providerRef: string): string {
  return providerRef.replace('-', 'x');
}

function fails(customer: string): boolean {
  return customer.endsWith('2') || customer.endsWith('4');
}

function findPrepaidSuffix(path: string, body: Body): string | null {
  const suffixes: Record<string, string | undefined> = {
    '/api/check-balance': 'bl',
    '/api/pricelist': 'pl',
    '/api/inquiry-pln': body['customer_id'],
    '/api/top-up': body['ref_id'],
    '/api/check-status': body['ref_id'],
  };
  return suffixes[path] ?? null;
}

function findPostpaidSuffix(body: Body): string | null {
  const suffixes: Record<string, string | undefined> = {
    'inq-pasca': body['ref_id'],
    'pay-pasca': body['tr_id'],
    'pricelist-pasca': 'pl',
    checkstatus: 'cs',
  };
  return suffixes[body['commands'] ?? ''] ?? null;
}

function sendCode(response: ServerResponse, isPostpaid: boolean, code: string, message: string): void {
  sendJson(response, 200, {
    data: isPostpaid ? { response_code: code, message } : { rc: code, message, status: 2 },
  });
}

function describeMeter(customer: string) {
  return customer === '12345678901'
    ? {
        status: '1',
        customer_id: customer,
        meter_no: '548933889287',
        subscriber_id: customer,
        name: 'Sintya Oktaviani',
        segment_power: 'R1 /000001300',
        message: 'SUCCESS',
        rc: '00',
      }
    : { status: '2', customer_id: customer, message: 'INCORRECT DESTINATION NUMBER', rc: '14' };
}

const about = { price: 25_000, balance: 997_061_249, tr_id: 3482 };
const paymentFields = {
  inquired: { status: 0, response_code: '42', message: "PAYMENT REQUEST HAVEN'T BEEN RECEIEVED" },
  paid: { status: 1, response_code: '00', message: 'PAYMENT SUCCESS' },
  failed: { status: 2, response_code: '37', message: 'PAYMENT FAILED' },
  pending: { status: 3, response_code: '39', message: 'PENDING / TRANSACTION IN PROCESS' },
};

const voucher = { product_details: '-', product_type: 'voucher', active_period: '0', icon_url: '-' };
const prepaidList = [
  {
    ...voucher,
    product_code: 'alfamart100',
    product_description: 'Alfamart Voucher',
    product_nominal: 'Voucher Alfamart Rp 100.000',
    product_price: 100_000,
    product_category: 'voucher',
    status: 'active',
  },
  {
    ...voucher,
    product_code: 'altel10',
    product_description: 'Malaysia Topup',
    product_nominal: '10',
    product_price: 39_750,
    product_category: 'international',
    status: 'non active',
  },
];
const postpaidList = [
  { code: 'AETRA', name: 'AETRA', status: 1, fee: 2_500, komisi: 700, type: 'pdam', category: 'postpaid' },
  { code: 'BPJS', name: 'BPJS Kesehatan', status: 4, fee: 2_000, komisi: 100, type: 'bpjs' },
];
