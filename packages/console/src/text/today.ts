/** Texts of the page of today. */
export const today = {
  attention_openCases: { en: 'open cases', id: 'kasus terbuka' },
  attention_reviews: { en: 'purchases to decide', id: 'transaksi perlu diputuskan' },
  attention_deadDeliveries: {
    en: 'webhooks given up (7 days)',
    id: 'webhook yang dihentikan (7 hari)',
  },
  attention_disabledWebhooks: {
    en: 'webhook URLs disabled (7 days)',
    id: 'URL webhook dinonaktifkan (7 hari)',
  },
  attention_pendingDeposits: { en: 'deposits to confirm', id: 'deposit perlu dikonfirmasi' },
  attention_settlements: { en: 'settlements to decide', id: 'pencairan perlu diputuskan' },
  attention_adjustments: { en: 'adjustments to approve', id: 'penyesuaian perlu disetujui' },
  attention_failedReports: {
    en: 'reports given up (7 days)',
    id: 'laporan yang gagal dibuat (7 hari)',
  },
  attention_failingJobs: {
    en: 'jobs that fail again and again',
    id: 'pekerjaan yang gagal berulang kali',
  },
  business: { en: 'The business', id: 'Bisnis' },
  businessWhat: {
    en: 'Purchases of a day are those that were accepted on it, as they stand now:',
    id: 'Transaksi suatu hari adalah yang diterima pada hari itu, menurut keadaannya sekarang:',
  },
  totalsNotWhole: {
    en: 'These figures do not hold everything: the daily totals are not complete yet (topup totals rebuild), or there is more than is read here.',
    id: 'Angka ini belum mencakup semuanya: total harian belum lengkap (topup totals rebuild), atau datanya lebih banyak daripada yang dibaca di sini.',
  },
  yesterday: { en: 'yesterday, whole day: {value}', id: 'kemarin, sehari penuh: {value}' },
  successRate: { en: 'Success rate', id: 'Tingkat sukses' },
  sales: { en: 'Sales', id: 'Penjualan' },
  margin: { en: 'Our commission', id: 'Komisi kita' },
  timeToFinal: { en: 'Time to final, median', id: 'Waktu sampai final, median' },
  p95Of: {
    en: 'p95 {value}, of {count} of the last 24 hours',
    id: 'p95 {value}, dari {count} transaksi 24 jam terakhir',
  },
  suspense: { en: 'Money in suspense', id: 'Uang dalam penampungan' },
  openPurchases: {
    en: '{count} open purchases of any day',
    id: '{count} transaksi terbuka dari hari mana pun',
  },
  asTable: { en: 'As a table', id: 'Sebagai tabel' },
  volumePlot: {
    en: 'Purchases by the hour in which they were accepted',
    id: 'Transaksi menurut jam diterima',
  },
  successPlot: { en: 'Success rate by hour', id: 'Tingkat sukses per jam' },
  latencyPlot: { en: 'Time to final by hour', id: 'Waktu sampai final per jam' },
  latencyNote: {
    en: 'From acceptance to the end, of the purchases that came to their end in each hour; without those that a person decided.',
    id: 'Dari penerimaan sampai final, untuk transaksi yang final pada jam itu; tanpa yang diputuskan oleh orang.',
  },
  salesPlot: { en: 'Sales of 30 days', id: 'Penjualan 30 hari' },
  series_success: { en: 'success', id: 'sukses' },
  series_open: { en: 'open', id: 'terbuka' },
  series_refunded: { en: 'taken back', id: 'ditarik kembali' },
  series_failed: { en: 'failed', id: 'gagal' },
  median: { en: 'median', id: 'median' },
  toSellers: { en: 'to sellers', id: 'untuk penjual' },
  providersToday: { en: 'Providers today', id: 'Penyedia hari ini' },
  nothingSold: { en: 'Nobody was asked for anything yet.', id: 'Belum ada yang diminta menjual.' },
  atEndOf: { en: 'at the end of {day} {value}', id: 'pada akhir {day} {value}' },
  dayBefore: { en: 'the 24 hours before: {value}', id: '24 jam sebelumnya: {value}' },
  volumeOfDaysPlot: { en: 'Purchases by the day, 30 days', id: 'Transaksi per hari, 30 hari' },
  successOfDaysPlot: {
    en: 'Success rate by the day, 30 days',
    id: 'Tingkat keberhasilan per hari, 30 hari',
  },
};
