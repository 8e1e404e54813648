import type { Action } from '../session.js';
import { language } from './text.js';

/**
 * The rights of src/operators/rights.ts in Indonesian. The server sends the English descriptions.
 */
const inIndonesian: Record<Action, string> = {
  'console.start': 'melihat yang perlu ditangani',
  'own.look': 'melihat akun sendiri dan izin setiap peran',
  'own.change': 'mengubah kata sandi, faktor kedua, sesi, dan kunci baris perintah sendiri',
  'account.look': 'melihat daftar dan detail akun',
  'account.create': 'membuat akun',
  'account.suspend': 'menangguhkan dan mengaktifkan kembali akun',
  'account.set': 'mengatur komisi, batas, dan aturan akun',
  'account.clear-allowlist': 'mengosongkan daftar IP yang diizinkan dari akun',
  'account.revoke-links': 'mencabut tautan unduhan laporan akun',
  'account.key': 'mengganti kunci API akun',
  'purchase.look': 'melihat transaksi, tinjauan, dan kasus',
  'review.resolve': 'memutuskan transaksi yang ditinjau',
  'review.reverse': 'membatalkan transaksi sukses',
  'case.resolve': 'menutup kasus',
  'deposit.look': 'melihat deposit dan pembayaran masuk',
  'deposit.decide': 'mengonfirmasi atau menolak deposit',
  'bank-line.look': 'mencocokkan mutasi bank dengan deposit dan melihat barisnya',
  'settlement.look': 'melihat pencairan',
  'settlement.decide': 'menyetujui, mengambil, menyelesaikan, atau menggagalkan pencairan',
  'holidays.look': 'melihat hari libur bank',
  'holidays.set': 'mengubah hari libur bank',
  'adjustment.look': 'melihat koreksi saldo',
  'adjustment.make': 'meminta, menyetujui, atau menolak koreksi saldo',
  'customer.export': 'mengekspor data yang disimpan tentang nomor pelanggan',
  'customer.erase': 'menghapus nomor pelanggan',
  'statement.export': 'membaca mutasi saldo',
  'product.look': 'melihat produk, harga, dan modal',
  'product.set': 'mengubah harga dan produk yang dijual',
  'price-import.look': 'melihat perubahan yang akan dibuat daftar harga',
  'markup.look': 'melihat markup di atas harga penjual',
  'markup.set': 'mengubah markup di atas harga penjual',
  'provider.look': 'melihat supplier',
  'provider.steer': 'menjeda dan melanjutkan supplier',
  'provider.float': 'mengecek saldo kita di supplier',
  'provider.set': 'mengatur koneksi ke supplier: alamat, batas, rahasia',
  'provider.reconcile': 'mencocokkan catatan atau daftar harga supplier dengan milik kita',
  'provider.accept': 'menerima perbedaan dalam catatan supplier',
  'webhook.look': 'melihat pengiriman yang tidak terkirim',
  'webhook.replay': 'mengirim ulang pengiriman',
  'webhook.enable': 'mengaktifkan URL webhook yang dinonaktifkan',
  'webhook.listen': 'meneruskan peristiwa akun ke program lain',
  'queue.look': 'melihat antrean dan pekerjaannya',
  'queue.work': 'mencoba lagi, mendahulukan, menjeda, dan melanjutkan pekerjaan',
  'queue.remove': 'menghapus, menambah, atau mengubah pekerjaan dan pengaturan antrean',
  'ledger.verify': 'memverifikasi buku besar',
  'ledger.run': 'menjalankan verifikasi buku besar sekarang',
  'ledger.close': 'menutup hari secara manual',
  'totals.rebuild': 'membuat ulang total harian',
  'audit.look': 'membaca log audit',
  'report.daily': 'membaca laporan hari bisnis',
  'system.look': 'memeriksa seluruh sistem (doctor)',
  'alarm.test': 'mengirim pesan uji ke ALERT_WEBHOOK_URL',
  'settings.look': 'melihat pengaturan layanan, tanpa rahasia',
  'encryption-key.change': 'mengenkripsi ulang rahasia yang disimpan dengan kunci lain',
  'operator.look': 'melihat operator dan sesinya',
  'operator.manage':
    'membuat dan menghapus operator, mengatur peran, kata sandi, dan kuncinya, mereset faktor keduanya',
  'operator.end-sessions': 'mengakhiri sesi operator lain',
  'message.verify': 'memeriksa tanda tangan pesan yang direkam',
};

/**
 * Describes a right in the language of the browser.
 * @param does The English description from the server.
 */
export function describeRight(action: Action, does: string): string {
  return language === 'id' ? inIndonesian[action] : does;
}
