import { language } from './text.js';

/** Words of the contract as Indonesians read them. In English they are words already. */
const inIndonesian: Record<string, string> = {
  // Kinds of entries of a statement.
  deposit: 'deposit',
  purchase: 'pembelian',
  refund: 'pengembalian dana',
  reversal: 'pembatalan transaksi',
  adjustment: 'koreksi operator',
  'seller-posting': 'hasil penjualan',
  'settlement-request': 'pencairan diminta',
  'settlement-completed': 'pencairan selesai',
  'settlement-failed': 'pencairan gagal',
  // What a scenario is about, and its end.
  transaction: 'transaksi',
  inquiry: 'cek tagihan',
  payment: 'pembayaran tagihan',
  success: 'sukses',
  failed: 'gagal',
  reversed: 'dibatalkan kembali',
  pending: 'masih diproses',
  bill: 'ada tagihan',
  bill_already_paid: 'tagihan sudah dibayar',
  invalid_customer_number: 'nomor pelanggan salah',
  not_found: 'tidak ada tagihan',
  // States of an endpoint.
  enabled: 'aktif',
  failing: 'sering gagal',
  disabled: 'dimatikan',
  // States of a delivery.
  due: 'menunggu',
  delivered: 'terkirim',
  dead: 'tidak terkirim',
  held: 'tertahan',
  dropped: 'dibatalkan',
};

/** What a sandbox number plays, by its ending (config/sandbox-scenarios.ts). */
const stories: Record<string, string> = {
  '1230': 'Sukses.',
  '1232': 'Ditolak; dananya kembali.',
  '1233': 'Diproses dulu, lalu sukses.',
  '1234': 'Diproses dulu, lalu ditolak; dananya kembali.',
  '1235': 'Menggantung: dijalankan, tetapi jawaban pertamanya tidak pernah sampai.',
  '1236': 'Penyedia mati pada beberapa percobaan pertama, lalu sukses.',
  '1237': 'Dijalankan, dijawab masih diproses, lalu beberapa kali dijawab tidak ditemukan.',
  '1238': 'Tetap diproses sampai Anda mengakhirinya.',
  '1239': 'Panggilannya ditolak dengan 503 (Retry-After: 30), seperti saat semua penyedia produk itu mati.',
  '1240': 'Satu tagihan.',
  '1241': 'Tagihannya sudah dibayar.',
  '1242': 'Nomor salah, untuk tagihan dan untuk meter.',
  '1243': 'Tidak ada tagihan.',
  '1246': 'Penyedia tagihan tidak menjawab, untuk tagihan dan untuk meter: 503 (Retry-After: 60).',
  '1244': 'Jumlahnya berubah antara pengecekan dan pembayaran; dananya kembali.',
  '1245': 'Pembayarannya diproses dulu, lalu sukses.',
};

/** A word of the contract for a reader; one that is not known is shown as it is. */
export function told(word: string): string {
  return language === 'id' ? (inIndonesian[word] ?? word) : word;
}

export function storyOf({ ending, description }: { ending: string; description: string }): string {
  return language === 'id' ? (stories[ending] ?? description) : description;
}
