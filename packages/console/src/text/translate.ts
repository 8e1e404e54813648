import { language } from './text.js';

/** Values of the API contract in Indonesian. English pages show these values unchanged. */
const inIndonesian: Record<string, string> = {
  // Kinds of statement entries.
  deposit: 'deposit',
  purchase: 'pembelian',
  refund: 'pengembalian dana',
  reversal: 'pembatalan transaksi',
  adjustment: 'koreksi saldo',
  'seller-posting': 'hasil penjualan',
  'settlement-request': 'pencairan diminta',
  'settlement-completed': 'pencairan selesai',
  'settlement-failed': 'pencairan gagal',
  // Subjects and results of a sandbox scenario.
  transaction: 'transaksi',
  inquiry: 'cek tagihan',
  payment: 'pembayaran tagihan',
  success: 'sukses',
  failed: 'gagal',
  reversed: 'dibatalkan',
  pending: 'masih diproses',
  bill: 'ada tagihan',
  bill_already_paid: 'tagihan sudah dibayar',
  invalid_customer_number: 'nomor pelanggan salah',
  not_found: 'tidak ada tagihan',
  product_unavailable: 'produk tidak tersedia',
  biller_unavailable: 'penyedia tagihan tidak tersedia',
  // States of a webhook endpoint.
  enabled: 'aktif',
  failing: 'sering gagal',
  disabled: 'dinonaktifkan',
  // States of a webhook delivery.
  due: 'menunggu',
  delivering: 'sedang dikirim',
  delivered: 'terkirim',
  dead: 'tidak terkirim',
  held: 'ditahan',
  dropped: 'dibatalkan',
};

/**
 * Descriptions of the sandbox scenarios in Indonesian, by the last four digits of the number
 * (config/sandbox-scenarios.ts).
 */
const scenarios: Record<string, string> = {
  '1230': 'Sukses.',
  '1232': 'Ditolak; dananya kembali.',
  '1233': 'Diproses dulu, lalu sukses.',
  '1234': 'Diproses dulu, lalu ditolak; dananya kembali.',
  '1235': 'Menggantung: dijalankan, tetapi respons pertamanya tidak pernah sampai.',
  '1236': 'Penyedia tidak tersedia pada beberapa percobaan pertama, lalu sukses.',
  '1237': 'Dijalankan, dilaporkan masih diproses, lalu beberapa kali dilaporkan tidak ditemukan.',
  '1238': 'Tetap diproses sampai Anda menentukan hasilnya.',
  '1239': 'Ditolak dengan 503 (Retry-After: 30), seperti saat semua penyedia produk tidak tersedia.',
  '1240': 'Satu tagihan.',
  '1241': 'Tagihannya sudah dibayar.',
  '1242': 'Nomor salah, untuk tagihan dan untuk meter.',
  '1243': 'Tidak ada tagihan.',
  '1246': 'Penyedia tagihan tidak merespons, untuk tagihan dan untuk meter: 503 (Retry-After: 60).',
  '1244': 'Jumlahnya berubah antara cek tagihan dan pembayaran; dananya kembali.',
  '1245': 'Pembayarannya diproses dulu, lalu sukses.',
};

/** Translates a value of the API contract. An unknown value is returned unchanged. */
export function translate(word: string): string {
  return language === 'id' ? (inIndonesian[word] ?? word) : word;
}

export function describeScenario({ ending, description }: { ending: string; description: string }): string {
  return language === 'id' ? (scenarios[ending] ?? description) : description;
}
