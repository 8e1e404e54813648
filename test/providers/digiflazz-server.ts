/**
 * Simulates Digiflazz over HTTP with the test numbers of its documentation: signatures, `rc`,
 * status checks by repeated requests, bills, price list and webhooks.
 *
 * Counts the executions. It also counts status checks within 60 s of the previous one, which the
 * documentation forbids.
 */
import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { nowMs } from '../../src/shared/clock.js';
import { sendJson, startPlayServer, type PlayedCall } from './play-server.js';

interface Order {
  ref_id: string;
  customer_no: string;
  buyer_sku_code: string;
  price: number;
  plan: 'success' | 'refused' | 'pending-success' | 'pending-refused';
  lastAskedMs: number;
}
type Body = Record<string, string | number | boolean | undefined>;

export interface DigiflazzServer {
  url: string;
  username: string;
  apiKey: string;
  webhookSecret: string;
  /** Returns how many times the order with this reference was executed. */
  executions(refId: string): number;
  /** Returns the number of status checks within 60 s of the previous one. */
  tooSoon(): number;
  calls: PlayedCall[];
  /** Makes every pending order final. */
  finish(): void;
  /**
   * Responds to the next order with this code and creates no order. Null restores the response that
   * depends on the number.
   */
  answerNextWith(answer: { rc: string; status?: string; httpStatus?: number } | null): void;
  /** Replaces these fields in every bill. */
  changeBills(fields: object): void;
  /** Customer numbers whose orders are executed without a response to the first request. */
  silentFor: Set<string>;
  /** Returns the raw body and the headers of the webhook for this order. */
  webhook(refId: string): { raw: Buffer; headers: Record<string, string> };
  stop(): Promise<void>;
}

const prepaidPlans: Record<string, Order['plan']> = {
  '087800001230': 'success',
  '087800001232': 'refused',
  '087800001233': 'pending-success',
  '087800001234': 'pending-refused',
};
const postpaidPlans: Record<string, Order['plan'] | 'inquiry-refused'> = {
  '530000000001': 'success',
  '530000000002': 'success',
  '530000000003': 'inquiry-refused',
  '530000000006': 'refused',
  '630000000001': 'pending-success',
  '630000000006': 'pending-refused',
};

export async function startDigiflazzServer(): Promise<DigiflazzServer> {
  const username = 'username';
  const apiKey = 'digiflazz-key';
  const webhookSecret = 'digiflazz-webhook-secret';
  const orders = new Map<string, Order>();
  const inquiries = new Set<string>();
  const executed: string[] = [];
  const silentFor = new Set<string>();
  let tooSoon = 0;
  let changedFields: object = {};
  let isFinished = false;
  let next: { rc: string; status?: string; httpStatus?: number } | null = null;

  const suffixes: Record<string, (body: Body) => string> = {
    '/cek-saldo': () => 'depo',
    '/price-list': () => 'pricelist',
    '/inquiry-pln': (body) => String(body['customer_no']),
    '/transaction': (body) => String(body['ref_id']),
  };
  const server = await startPlayServer((call, response) => {
    const body = JSON.parse(call.raw) as Body;
    const suffix = suffixes[call.url.pathname];
    if (call.method !== 'POST' || !suffix) {
      sendJson(response, 404, { message: 'not here' });
      return;
    }
    const sign = createHash('md5')
      .update(`${username}${apiKey}${suffix(body)}`)
      .digest('hex');
    if (body['username'] !== username || body['sign'] !== sign) {
      sendJson(response, 400, { data: { rc: '41', status: 'Gagal', message: 'Signature tidak valid' } });
      return;
    }
    switch (call.url.pathname) {
      case '/cek-saldo':
        sendJson(response, 200, { data: { deposit: 990_000 } });
        return;
      case '/price-list':
        sendJson(response, 200, { data: body['cmd'] === 'pasca' ? postpaidList : prepaidList });
        return;
      case '/inquiry-pln':
        if (next) {
          transact(body, response);
          return;
        }
        sendJson(response, 200, {
          data: { rc: '00', status: 'Sukses', name: 'DAVID', segment_power: 'R1 /000001300' },
        });
        return;
      default:
        transact(body, response);
    }
  });

  function transact(body: Body, response: ServerResponse): void {
    if (next) {
      const { rc, status = 'Gagal', httpStatus = 200 } = next;
      next = null;
      const about = { ref_id: body['ref_id'], customer_no: body['customer_no'] };
      sendJson(response, httpStatus, { data: { ...about, rc, status, message: `Answer ${rc}`, sn: '' } });
      return;
    }
    switch (body['commands']) {
      case 'inq-pasca':
        inquire(body, response);
        return;
      case 'status-pasca':
        check(body, response);
        return;
      default:
        placeOrder(body, response);
    }
  }

  function inquire(body: Body, response: ServerResponse): void {
    const customer = String(body['customer_no']);
    if ((postpaidPlans[customer] ?? 'inquiry-refused') === 'inquiry-refused') {
      sendJson(response, 200, {
        data: { ...echo(body), message: 'Tagihan belum tersedia', status: 'Gagal', rc: '60' },
      });
      return;
    }
    inquiries.add(String(body['ref_id']));
    sendJson(response, 200, {
      data: {
        ...echo(body),
        ...billOf(customer),
        ...changedFields,
        ...responseFields.success,
        buyer_last_saldo: 100_000,
      },
    });
  }

  function check(body: Body, response: ServerResponse): void {
    const known = orders.get(String(body['ref_id']));
    if (known) {
      sendOrder(known, response);
    } else {
      sendJson(response, 200, {
        data: { ...echo(body), message: 'Transaksi tidak ditemukan', status: 'Gagal', rc: '50' },
      });
    }
  }

  function placeOrder(body: Body, response: ServerResponse): void {
    const known = orders.get(String(body['ref_id']));
    if (known) {
      tooSoon += nowMs() - known.lastAskedMs < 60_000 ? 1 : 0;
      known.lastAskedMs = nowMs();
      sendOrder(known, response);
      return;
    }
    const isBill = body['commands'] === 'pay-pasca';
    if (isBill && !inquiries.has(String(body['ref_id']))) {
      sendJson(response, 200, {
        data: { ...echo(body), message: 'Inquiry dahulu', status: 'Gagal', rc: '42' },
      });
      return;
    }
    const customer = String(body['customer_no']);
    const plan = (isBill ? postpaidPlans[customer] : prepaidPlans[customer]) ?? 'success';
    const order: Order = {
      ...echo(body),
      price: 10_000,
      plan: plan === 'inquiry-refused' ? 'refused' : plan,
      lastAskedMs: nowMs(),
    };
    orders.set(order.ref_id, order);
    if (order.plan === 'success' || order.plan === 'pending-success') {
      executed.push(order.ref_id);
    }
    if (!silentFor.has(customer)) {
      sendOrder(order, response);
    }
  }

  function sendOrder(order: Order, response: ServerResponse): void {
    sendJson(response, 200, { data: dataOf(order) });
  }

  function dataOf(order: Order) {
    const { plan, lastAskedMs: _asked, ...about } = order;
    const state =
      plan.startsWith('pending') && !isFinished ? 'pending' : (plan.replace('pending-', '') as 'success');
    return {
      ...about,
      ...responseFields[state],
      sn: state === 'success' ? '1234567890' : '',
      buyer_last_saldo: 990_000,
      ...(postpaidPlans[order.customer_no] &&
        state === 'success' && { ...billOf(order.customer_no), ...changedFields }),
    };
  }

  return {
    url: server.url,
    username,
    apiKey,
    webhookSecret,
    calls: server.calls,
    executions: (refId) => executed.filter((each) => each === refId).length,
    tooSoon: () => tooSoon,
    finish: () => (isFinished = true),
    answerNextWith: (answer) => (next = answer),
    changeBills: (fields) => (changedFields = fields),
    silentFor,
    webhook(refId) {
      const order = orders.get(refId);
      const raw = Buffer.from(
        JSON.stringify({ data: order ? dataOf(order) : { ref_id: refId, status: 'Sukses', rc: '00' } }),
      );
      const hex = createHmac('sha1', webhookSecret).update(raw).digest('hex');
      return { raw, headers: { 'x-hub-signature': `sha1=${hex}`, 'x-digiflazz-event': 'update' } };
    },
    stop: () => server.stop(),
  };
}

const responseFields = {
  success: { message: 'Transaksi Sukses', status: 'Sukses', rc: '00' },
  refused: { message: 'Transaksi Gagal', status: 'Gagal', rc: '02' },
  pending: { message: 'Transaksi Pending', status: 'Pending', rc: '03' },
};

function echo(body: Body) {
  return {
    ref_id: String(body['ref_id']),
    customer_no: String(body['customer_no']),
    buyer_sku_code: String(body['buyer_sku_code']),
  };
}

function billOf(customer: string) {
  const months = customer.endsWith('2') ? ['201901', '201902'] : ['201901'];
  return {
    customer_name: 'Nama Pelanggan Pertama',
    admin: 2_500 * months.length,
    price: 10_000 * months.length,
    selling_price: 11_000 * months.length,
    desc: {
      tarif: 'R1',
      daya: 1_300,
      lembar_tagihan: months.length,
      detail: months.map((periode) => ({ periode, nilai_tagihan: '8000', admin: '2500', denda: '500' })),
    },
  };
}

const listedProduct = {
  buyer_product_status: true,
  seller_product_status: true,
  unlimited_stock: true,
  stock: 0,
};
const prepaidList = [
  { ...listedProduct, buyer_sku_code: 'xld10', price: 10_000, start_cut_off: '23:45', end_cut_off: '0:15' },
  { ...listedProduct, buyer_sku_code: 'xld25', price: 24_750, start_cut_off: '00:00', end_cut_off: '00:00' },
  { ...listedProduct, buyer_sku_code: 'gone', price: 5_000, unlimited_stock: false, stock: 0 },
  { ...listedProduct, buyer_sku_code: 'few', price: '5000', unlimited_stock: false, stock: '3' },
  { ...listedProduct, buyer_sku_code: 'off', price: 5_000, seller_product_status: false },
];
const postpaidList = [{ ...listedProduct, buyer_sku_code: 'pln', admin: 2_500, commission: 1_000 }];
