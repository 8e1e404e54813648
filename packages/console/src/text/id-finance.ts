import type { enFinance } from './en-finance.js';

export const idFinance: Record<keyof typeof enFinance, string> = {
  adjustments: 'Koreksi saldo',
  adjustment: 'Koreksi saldo',
  adjustmentsWhat:
    'Koreksi saldo dengan tangan. Mulai {from}, bersama yang dibuat operator yang sama sendirian atas akun itu dalam 24 jam terakhir, koreksi menunggu operator kedua.',
  noAdjustment: 'Tidak ada koreksi saldo yang sesuai.',
  askedBy: 'Diminta oleh',
  decidedBy: 'Diputuskan oleh',
  decidedAt: 'Diputuskan',
  correctWallet: 'Koreksi saldo akun',
  correctWalletWhat:
    'Saldo akun langsung berubah, dan yang dikredit dapat dibelanjakan; atau menunggu operator kedua jika jumlahnya besar. Tidak ada webhook yang memberitahukannya. Menekan lagi berarti koreksi lain: lihat daftarnya dulu sebelum mengulang.',
  creditOrDebit: 'Kredit atau debit',
  credit: 'Kredit: akun menerima uang',
  debit: 'Debit: uang diambil darinya, tidak pernah sampai di bawah nol',
  amountRupiah: 'Jumlah dalam rupiah',
  adjustmentMade: 'Sudah dibuat. Saldonya sekarang {balance}.',
  adjustmentWaits: 'Menunggu operator kedua, yang menyetujuinya di halaman ini.',
  approveCreditWhat:
    '{account} dikredit {amount} dan langsung dapat membelanjakannya. Anda menyatakan sudah memeriksanya: {who} memintanya karena “{why}”.',
  approveDebitWhat:
    '{amount} diambil dari {account}, jika saldonya cukup. Anda menyatakan sudah memeriksanya: {who} memintanya karena “{why}”.',
  ownAdjustment: 'Anda yang memintanya: orang lain yang menyetujuinya.',
  approveAdjustment: 'Setujui',
  rejectAdjustment: 'Tolak',
  rejectAdjustmentWhat:
    'Tidak akan pernah terjadi, dan tidak ada uang yang berpindah. Yang lain dapat diminta.',
  createAccount: 'Buat akun',
  createAccountWhat:
    'Akun dengan saldo kosong, yang mulai sekarang dapat memanggil layanan. Kunci API dan rahasia webhook-nya hanya ditampilkan sekali di sini; sampaikan lewat jalur yang Anda kenal. Nama pengguna tidak pernah diubah.',
  username: 'Nama pengguna',
  usernameRule: '3 sampai 40 karakter a-z, 0-9, titik, tanda hubung, dan garis bawah',
  roleBuyer: 'pembeli: membeli, dan mengisi saldonya',
  roleSeller: 'penjual: menjual lewat penyedia, dan mencairkan',
  providerKind: 'Sistem yang memenuhi penjualannya',
  providerNone: 'tidak ada: tidak menjual apa pun',
  providerUrl: 'Alamat sistem itu',
  providerUrlEmpty: 'Kosong: yang biasa.',
  providerUsername: 'Nama kami di sana',
  providerSecret: 'Rahasia kami di sana',
  showSecret: 'Tampilkan rahasia',
  accountCreated: 'Sudah dibuat. Ini hanya ditampilkan sekali:',
  webhookSecret: 'Rahasia webhook',
  revokeKey: 'Cabut kunci API',
  whichKey: 'Yang mana',
  revokeCurrentKeyWhat:
    'Ini kunci yang dipakai {account}: mulai panggilan berikutnya setiap panggilan dengannya ditolak, dan tautan unduhan berakhir. Kunci baru tidak dibuat: {account} berhenti sampai Anda membuatnya. URL webhook-nya diberi tahu.',
  revokeOldKeyWhat:
    'Ini kunci lama {account}: ditolak mulai panggilan berikutnya, dan tautan unduhan berakhir. Kunci yang berlaku tetap. URL webhook-nya diberi tahu.',
  laterEntries: 'Yang lebih baru ({count} lagi)',
  statementCsv: 'Semuanya sebagai CSV',
  statementExcel: 'sebagai CSV untuk Excel',
  statementPdf: 'sebagai PDF',
  bankReference: 'Referensi bank',
  bankReferenceWhat:
    'Seperti tertulis di mutasi bank. Disimpan bersama pencairan; penjual tidak diberi tahu.',
  asCustomerSees: 'Seperti yang dilihat pelanggan',
  asCustomerSeesWhat: 'Jawaban panggilan kepada pembeli sekarang, menurut jalur pembeliannya.',
  openAsCustomer: 'Buka seperti yang dilihat pelanggan',
};
