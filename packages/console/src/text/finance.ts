/** Texts about adjustments, and about the API keys and statements of accounts. */
export const finance = {
  adjustments: { en: 'Adjustments', id: 'Koreksi saldo' },
  adjustment: { en: 'Adjustment', id: 'Koreksi saldo' },
  adjustmentsHelp: {
    en: 'Manual corrections of wallets. A second operator must approve an adjustment from {from} on. Adjustments of the account that the same operator made alone in the last 24 hours are added.',
    id: 'Koreksi saldo secara manual. Mulai {from}, koreksi harus disetujui operator kedua. Koreksi akun itu yang dibuat sendiri oleh operator yang sama dalam 24 jam terakhir ikut dihitung.',
  },
  noAdjustment: { en: 'No adjustments match.', id: 'Tidak ada koreksi saldo yang cocok.' },
  requestedBy: { en: 'Requested by', id: 'Diminta oleh' },
  decidedBy: { en: 'Decided by', id: 'Diputuskan oleh' },
  decidedAt: { en: 'Decided', id: 'Diputuskan' },
  correctWallet: { en: 'Adjust a balance', id: 'Koreksi saldo akun' },
  correctWalletHelp: {
    en: 'Changes the balance of the account at once, and the account can spend a credit. A large adjustment waits for a second operator. No webhook is sent. Submitting again makes another adjustment: check the list before you repeat one.',
    id: 'Saldo akun langsung berubah, dan dana yang dikredit dapat dibelanjakan. Koreksi yang besar menunggu operator kedua. Tidak ada webhook yang dikirim. Mengirim lagi berarti koreksi baru: periksa daftarnya sebelum mengulang.',
  },
  creditOrDebit: { en: 'Credit or debit', id: 'Kredit atau debit' },
  credit: { en: 'Credit: adds money', id: 'Kredit: menambah saldo' },
  debit: {
    en: 'Debit: reduces the balance, never below zero',
    id: 'Debit: mengurangi saldo, tidak pernah di bawah nol',
  },
  amountRupiah: { en: 'Amount in rupiah', id: 'Jumlah dalam rupiah' },
  adjustmentMade: {
    en: 'Adjustment completed. The balance is now {balance}.',
    id: 'Koreksi selesai. Saldo sekarang {balance}.',
  },
  adjustmentWaits: {
    en: 'Waiting for a second operator, who can approve it on this page.',
    id: 'Menunggu operator kedua, yang dapat menyetujuinya di halaman ini.',
  },
  approveCreditHelp: {
    en: 'Credits {account} with {amount}, which can be spent at once. By approving, you confirm that you have checked it. {who} gave the reason “{why}”.',
    id: 'Mengkredit {account} sebesar {amount}, yang langsung dapat dibelanjakan. Dengan menyetujui, Anda menyatakan sudah memeriksanya. {who} memberi alasan “{why}”.',
  },
  approveDebitHelp: {
    en: 'Debits {amount} from {account}, if the balance covers it. By approving, you confirm that you have checked it. {who} gave the reason “{why}”.',
    id: 'Mendebit {amount} dari {account}, jika saldonya cukup. Dengan menyetujui, Anda menyatakan sudah memeriksanya. {who} memberi alasan “{why}”.',
  },
  ownAdjustment: {
    en: 'You requested this adjustment. Another operator must approve it.',
    id: 'Anda yang meminta koreksi ini. Operator lain yang harus menyetujuinya.',
  },
  approveAdjustment: { en: 'Approve adjustment', id: 'Setujui koreksi' },
  rejectAdjustment: { en: 'Reject adjustment', id: 'Tolak koreksi' },
  rejectAdjustmentHelp: {
    en: 'The adjustment is not made, and no money moves. A new one can be requested.',
    id: 'Koreksi tidak dilakukan, dan tidak ada uang yang berpindah. Koreksi baru dapat diminta.',
  },
  createAccount: { en: 'Create account', id: 'Buat akun' },
  createAccountHelp: {
    en: 'Creates an account with an empty wallet, which can use the API at once. Its API key and webhook secret are shown here once. Send them over a trusted channel. The username cannot be changed.',
    id: 'Membuat akun dengan saldo kosong, yang langsung dapat memakai API. Kunci API dan rahasia webhook-nya hanya ditampilkan sekali di sini. Kirim lewat jalur yang tepercaya. Nama pengguna tidak dapat diubah.',
  },
  username: { en: 'Username', id: 'Nama pengguna' },
  usernameRule: {
    en: '3 to 40 characters of a-z, 0-9, dot, dash and underscore',
    id: '3 sampai 40 karakter a-z, 0-9, titik, tanda hubung, dan garis bawah',
  },
  roleBuyer: { en: 'buyer: buys and tops up its wallet', id: 'pembeli: membeli dan mengisi saldo' },
  roleSeller: {
    en: 'seller: sells through a provider and withdraws',
    id: 'penjual: menjual lewat supplier dan mencairkan saldo',
  },
  providerKind: { en: 'Provider type', id: 'Jenis supplier' },
  providerNone: { en: 'none: sells nothing', id: 'tidak ada: tidak menjual apa pun' },
  providerUrl: { en: 'Provider URL', id: 'URL supplier' },
  providerUrlEmpty: { en: 'Leave empty for the default.', id: 'Kosongkan untuk nilai bawaan.' },
  providerUsername: { en: 'Our username at the provider', id: 'Nama pengguna kita di supplier' },
  providerSecret: { en: 'Our secret at the provider', id: 'Rahasia kita di supplier' },
  showSecret: { en: 'Show secret', id: 'Tampilkan rahasia' },
  accountCreated: {
    en: 'Account created. These are shown only once:',
    id: 'Akun dibuat. Ini hanya ditampilkan sekali:',
  },
  webhookSecret: { en: 'Webhook secret', id: 'Rahasia webhook' },
  revokeKey: { en: 'Revoke API key', id: 'Cabut kunci API' },
  whichKey: { en: 'Key', id: 'Kunci' },
  revokeCurrentKeyHelp: {
    en: '{account} uses this key now. Requests with it are refused at once, and download links stop working. No new key is made: {account} cannot use the API until you rotate its key. The webhook URL is notified.',
    id: '{account} memakai kunci ini sekarang. Permintaan dengan kunci ini langsung ditolak, dan tautan unduhan tidak berlaku lagi. Kunci baru tidak dibuat: {account} tidak dapat memakai API sampai Anda mengganti kuncinya. URL webhook diberi tahu.',
  },
  revokeOldKeyHelp: {
    en: 'This is an older key of {account}. Requests with it are refused at once, and download links stop working. The current key stays valid. The webhook URL is notified.',
    id: 'Ini kunci lama {account}. Permintaan dengan kunci ini langsung ditolak, dan tautan unduhan tidak berlaku lagi. Kunci yang sekarang tetap berlaku. URL webhook diberi tahu.',
  },
  laterEntries: { en: 'Newer ({count} more)', id: 'Lebih baru ({count} lagi)' },
  statementCsv: { en: 'Download CSV', id: 'Unduh CSV' },
  statementExcel: { en: 'Download CSV for Excel', id: 'Unduh CSV untuk Excel' },
  statementPdf: { en: 'Download PDF', id: 'Unduh PDF' },
  bankReference: { en: 'Bank reference', id: 'Referensi bank' },
  bankReferenceHelp: {
    en: 'As shown on the bank statement. It is stored with the settlement, and the seller does not see it.',
    id: 'Seperti tertulis di mutasi bank. Disimpan bersama pencairan, dan penjual tidak melihatnya.',
  },
  sharedReference: {
    en: 'One transfer paid this settlement and others with the same reference',
    id: 'Satu transfer membayar pencairan ini dan pencairan lain dengan referensi yang sama',
  },
  walletBelowZero: {
    en: 'The wallet of {seller} is below zero. Do not pay this settlement: wait until the wallet has recovered, or mark it as failed.',
    id: 'Saldo {seller} di bawah nol. Jangan bayar pencairan ini: tunggu sampai saldonya pulih, atau tandai gagal.',
  },
  asCustomerSees: { en: 'Customer view', id: 'Tampilan pelanggan' },
  asCustomerSeesHelp: {
    en: 'The response that the buyer gets now, on the API surface of the purchase.',
    id: 'Respons yang diterima pembeli sekarang, menurut jalur API transaksi ini.',
  },
  openAsCustomer: { en: 'Show customer view', id: 'Lihat tampilan pelanggan' },
};
