/** Texts about adjustments, and about the keys and statements of accounts. */
export const finance = {
  adjustments: { en: 'Adjustments', id: 'Koreksi saldo' },
  adjustment: { en: 'Adjustment', id: 'Koreksi saldo' },
  adjustmentsWhat: {
    en: 'Corrections of wallets by hand. From {from} on, together with what the same operator has made of the account alone in the last 24 hours, one waits for a second operator.',
    id: 'Koreksi saldo dengan tangan. Mulai {from}, bersama yang dibuat operator yang sama sendirian atas akun itu dalam 24 jam terakhir, koreksi menunggu operator kedua.',
  },
  noAdjustment: { en: 'No adjustment fits.', id: 'Tidak ada koreksi saldo yang sesuai.' },
  askedBy: { en: 'Asked for by', id: 'Diminta oleh' },
  decidedBy: { en: 'Decided by', id: 'Diputuskan oleh' },
  decidedAt: { en: 'Decided', id: 'Diputuskan' },
  correctWallet: { en: 'Correct a wallet', id: 'Koreksi saldo akun' },
  correctWalletWhat: {
    en: 'The wallet of the account is changed at once, and what is credited can be spent; or it waits for a second operator, if it is large. Nobody is told by webhook. Another press is another adjustment: look at the list before you repeat one.',
    id: 'Saldo akun langsung berubah, dan yang dikredit dapat dibelanjakan; atau menunggu operator kedua jika jumlahnya besar. Tidak ada webhook yang memberitahukannya. Menekan lagi berarti koreksi lain: lihat daftarnya dulu sebelum mengulang.',
  },
  creditOrDebit: { en: 'Credit or debit', id: 'Kredit atau debit' },
  credit: { en: 'Credit: the account gets money', id: 'Kredit: akun menerima uang' },
  debit: {
    en: 'Debit: money is taken from it, never below zero',
    id: 'Debit: uang diambil darinya, tidak pernah sampai di bawah nol',
  },
  amountRupiah: { en: 'Amount in rupiah', id: 'Jumlah dalam rupiah' },
  adjustmentMade: {
    en: 'It is made. The balance is now {balance}.',
    id: 'Sudah dibuat. Saldonya sekarang {balance}.',
  },
  adjustmentWaits: {
    en: 'It waits for a second operator, who approves it on this page.',
    id: 'Menunggu operator kedua, yang menyetujuinya di halaman ini.',
  },
  approveCreditWhat: {
    en: '{account} is credited {amount} and can spend it at once. You say that you have looked: {who} asked for it because “{why}”.',
    id: '{account} dikredit {amount} dan langsung dapat membelanjakannya. Anda menyatakan sudah memeriksanya: {who} memintanya karena “{why}”.',
  },
  approveDebitWhat: {
    en: '{amount} are taken from {account}, if the balance covers it. You say that you have looked: {who} asked for it because “{why}”.',
    id: '{amount} diambil dari {account}, jika saldonya cukup. Anda menyatakan sudah memeriksanya: {who} memintanya karena “{why}”.',
  },
  ownAdjustment: {
    en: 'You have asked for it: somebody else approves it.',
    id: 'Anda yang memintanya: orang lain yang menyetujuinya.',
  },
  approveAdjustment: { en: 'Approve it', id: 'Setujui' },
  rejectAdjustment: { en: 'Reject it', id: 'Tolak' },
  rejectAdjustmentWhat: {
    en: 'It will never happen, and no money moves. Another one can be asked for.',
    id: 'Tidak akan pernah terjadi, dan tidak ada uang yang berpindah. Yang lain dapat diminta.',
  },
  createAccount: { en: 'Create an account', id: 'Buat akun' },
  createAccountWhat: {
    en: 'An account with an empty wallet, which can call the service from now on. Its API key and webhook secret are shown here once; hand them on by a way that you know. A username is never changed.',
    id: 'Akun dengan saldo kosong, yang mulai sekarang dapat memanggil layanan. Kunci API dan rahasia webhook-nya hanya ditampilkan sekali di sini; sampaikan lewat jalur yang Anda kenal. Nama pengguna tidak pernah diubah.',
  },
  username: { en: 'Username', id: 'Nama pengguna' },
  usernameRule: {
    en: '3 to 40 characters of a-z, 0-9, dot, dash and underscore',
    id: '3 sampai 40 karakter a-z, 0-9, titik, tanda hubung, dan garis bawah',
  },
  roleBuyer: {
    en: 'buyer: buys, and tops up its wallet',
    id: 'pembeli: membeli, dan mengisi saldonya',
  },
  roleSeller: {
    en: 'seller: sells through a provider, and withdraws',
    id: 'penjual: menjual lewat penyedia, dan mencairkan',
  },
  providerKind: {
    en: 'The system that fulfils its sales',
    id: 'Sistem yang memenuhi penjualannya',
  },
  providerNone: { en: 'none: it sells nothing', id: 'tidak ada: tidak menjual apa pun' },
  providerUrl: { en: 'Address of that system', id: 'Alamat sistem itu' },
  providerUrlEmpty: { en: 'Empty: the usual one.', id: 'Kosong: yang biasa.' },
  providerUsername: { en: 'Our name there', id: 'Nama kami di sana' },
  providerSecret: { en: 'Our secret there', id: 'Rahasia kami di sana' },
  showSecret: { en: 'Show the secret', id: 'Tampilkan rahasia' },
  accountCreated: {
    en: 'It is created. These are shown this once:',
    id: 'Sudah dibuat. Ini hanya ditampilkan sekali:',
  },
  webhookSecret: { en: 'Webhook secret', id: 'Rahasia webhook' },
  revokeKey: { en: 'Revoke an API key', id: 'Cabut kunci API' },
  whichKey: { en: 'Which', id: 'Yang mana' },
  revokeCurrentKeyWhat: {
    en: 'This is the key that {account} uses: from the next call on every call with it is refused, and download links end. No new one is made: {account} stands still until you make one. Its webhook URL is told.',
    id: 'Ini kunci yang dipakai {account}: mulai panggilan berikutnya setiap panggilan dengannya ditolak, dan tautan unduhan berakhir. Kunci baru tidak dibuat: {account} berhenti sampai Anda membuatnya. URL webhook-nya diberi tahu.',
  },
  revokeOldKeyWhat: {
    en: 'This is an older key of {account}: it is refused from the next call on, and download links end. The current one stays. Its webhook URL is told.',
    id: 'Ini kunci lama {account}: ditolak mulai panggilan berikutnya, dan tautan unduhan berakhir. Kunci yang berlaku tetap. URL webhook-nya diberi tahu.',
  },
  laterEntries: { en: 'Later ones ({count} more)', id: 'Yang lebih baru ({count} lagi)' },
  statementCsv: { en: 'All of it as CSV', id: 'Semuanya sebagai CSV' },
  statementExcel: { en: 'as CSV for Excel', id: 'sebagai CSV untuk Excel' },
  statementPdf: { en: 'as PDF', id: 'sebagai PDF' },
  bankReference: { en: 'Reference of the bank', id: 'Referensi bank' },
  bankReferenceWhat: {
    en: 'As its statement shows the payment. Kept with the settlement; the seller is not told.',
    id: 'Seperti tertulis di mutasi bank. Disimpan bersama pencairan; penjual tidak diberi tahu.',
  },
  asCustomerSees: { en: 'As the customer sees it', id: 'Seperti yang dilihat pelanggan' },
  asCustomerSeesWhat: {
    en: 'What the call answers the buyer now, by the surface that it was bought by.',
    id: 'Jawaban panggilan kepada pembeli sekarang, menurut jalur pembeliannya.',
  },
  openAsCustomer: { en: 'Open as the customer sees it', id: 'Buka seperti yang dilihat pelanggan' },
};
