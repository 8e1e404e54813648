import { env } from '../../config/env.js';
import type { ProviderSettings } from '../accounts/account.model.js';
import type { Language } from '../shared/messages.js';
import { iakAddress, iakTestAddress } from './iak-call.js';

type Kind = ProviderSettings['kind'];
type Texts = Record<Language, string>;

/** The information for connecting a provider, shown by the command line and the console. */
export interface ProviderKind {
  label: string;
  /** Null if each provider of the kind has its own address. */
  getDefaultAddress(): string | null;
  callbackPath: string;
  /** True if we choose the secret that signs callbacks, and it is entered at the provider. */
  choosesCallbackSecret: boolean;
  /** Where the callback URL and the secret go. */
  callbackHelp: Texts;
  /** Describes the test purchase, or the alternative if the kind has none. */
  testHelp: Texts;
}

const kinds: Record<Kind, ProviderKind> = {
  digiflazz: {
    label: 'Digiflazz',
    getDefaultAddress: () => 'https://api.digiflazz.com/v1',
    callbackPath: '/api/providers/digiflazz/callback',
    choosesCallbackSecret: true,
    callbackHelp: {
      en: 'In the Digiflazz panel open Atur Koneksi > API > Webhook. Enter the URL and the secret. Add the address of this server to the allowed IPs under Atur Koneksi > API.',
      id: 'Di panel Digiflazz buka Atur Koneksi > API > Webhook. Isi URL dan secret. Tambahkan alamat server ini ke IP yang diizinkan di Atur Koneksi > API.',
    },
    testHelp: {
      en: 'Sends one order with the test flag and the documented test number. It costs nothing.',
      id: 'Mengirim satu order dengan tanda uji dan nomor uji resmi. Tidak ada biaya.',
    },
  },
  h2h: {
    label: 'H2H (reseller protocol)',
    getDefaultAddress: () => null,
    callbackPath: '/api/reseller/callback',
    choosesCallbackSecret: false,
    callbackHelp: {
      en: 'Give the URL to the provider as our callback address. Callbacks are verified with our secret. If the provider signs with another one, store it: topup provider set <seller> --callback-secret-stdin.',
      id: 'Berikan URL ini ke supplier sebagai alamat callback. Callback diperiksa dengan secret kita. Jika supplier memakai secret lain, simpan: topup provider set <seller> --callback-secret-stdin.',
    },
    testHelp: {
      en: 'The protocol has no test mode. Buy the cheapest product for your own number instead.',
      id: 'Protokol ini tidak punya mode uji. Beli produk termurah untuk nomor Anda sendiri.',
    },
  },
  iak: {
    label: 'IAK',
    getDefaultAddress: () => (env.APP_MODE === 'sandbox' ? iakTestAddress : iakAddress),
    callbackPath: '/api/providers/iak/callback',
    choosesCallbackSecret: false,
    callbackHelp: {
      en: 'Enter the URL as the callback URL in the settings of the IAK panel. Add the address of this server to the allowed IPs there. Callbacks are verified with our API key.',
      id: 'Isi URL ini sebagai URL callback di pengaturan panel IAK. Tambahkan alamat server ini ke IP yang diizinkan di sana. Callback diperiksa dengan API key kita.',
    },
    testHelp: {
      en: 'The IAK adapter has no test purchase. Connect a sandbox installation to the development address of IAK, https://prepaid.iak.dev, with the development key.',
      id: 'Adapter IAK tidak punya pembelian uji. Hubungkan instalasi sandbox ke alamat development IAK, https://prepaid.iak.dev, dengan development key.',
    },
  },
  simulator: {
    label: 'Simulator',
    getDefaultAddress: () => env.SIMULATOR_URL,
    callbackPath: '/api/reseller/callback',
    choosesCallbackSecret: false,
    callbackHelp: {
      en: 'Nothing to enter: the simulator knows the address.',
      id: 'Tidak perlu diisi: simulator sudah tahu alamatnya.',
    },
    testHelp: {
      en: 'Sends one order to the simulator of the sandbox. It costs nothing.',
      id: 'Mengirim satu order ke simulator sandbox. Tidak ada biaya.',
    },
  },
};

export const kindNames = Object.keys(kinds) as Kind[];

export function getKind(kind: Kind): ProviderKind {
  return kinds[kind];
}

/** Returns the URL for callbacks. Null if BASE_URL, the public address of this service, is not set. */
export function buildCallbackUrl(kind: Kind): string | null {
  return env.BASE_URL === null ? null : `${env.BASE_URL.replace(/\/+$/, '')}${kinds[kind].callbackPath}`;
}
