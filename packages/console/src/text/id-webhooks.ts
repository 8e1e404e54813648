import type { enWebhooks } from './en-webhooks.js';

export const idWebhooks: Record<keyof typeof enWebhooks, string> = {
  allReceivers: 'Semua penerima',
  allReceiversWhat: 'Setiap URL webhook dan callback; per halaman yang terburuk lebih dulu.',
  noUrl: 'Tidak ada URL akun mana pun di bagian daftar ini.',
  nextReceivers: 'Penerima berikutnya',
  firstReceivers: 'Ke penerima pertama',
  receiver_disabled: 'dimatikan',
  'receiver_left-alone': 'dibiarkan dulu',
  receiver_failing: 'sering gagal',
  receiver_healthy: 'sehat',
  sentHeaders: 'Header yang dikirim',
  headersShortened: 'Tanda tangan dipotong.',
  chooseDelivery: 'Pilih {delivery}',
  chooseAllDeliveries: 'Pilih semua di halaman ini',
  replayChosen: 'Kirim lagi yang dipilih',
  replayChosenWhat:
    '{count} dari paling banyak {max} sekaligus: masing-masing dikirim sekarang, ke URL akunnya saat ini, dan jadwalnya mulai lagi. Penerima yang sudah memprosesnya melihatnya dua kali, dengan id yang sama.',
  replayedDeliveries: 'Hasilnya',
  isReplayed: 'dikirim lagi',
  replayDead: 'Kirim lagi yang sudah dihentikan',
  replayDeadWhat:
    '{count} yang sesuai dengan filter ini sudah dihentikan. {now} yang tertua dikirim lagi sekarang, ke URL akunnya saat ini; ping tidak ikut.',
  replayedDead: '{replayed} dikirim lagi; {without_url} tetap, karena URL-nya sudah dihapus.',
  orMoreOf: '{count} atau lebih',
};
