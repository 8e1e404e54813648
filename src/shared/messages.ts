/* eslint-disable max-lines -- rows of one table: a second file would be a second place to look for a message */
/**
 * Messages for clients in both languages. `say` (src/shared/say.ts) builds a message from its row,
 * so that no message lacks a language. Programs use `code` and `reason`, which have no language.
 *
 * `{name}` is a parameter. `{name:rupiah}` is a parameter that is written as money.
 */
/** Languages of messages. The first is the default. */
export const languages = ['en', 'id'] as const;
export type Language = (typeof languages)[number];

export const messages = {
  noApiKey: { en: 'This account has no API key.', id: 'Akun ini tidak punya kunci API.' },
  sendUsernameAndSign: { en: 'Send "username" and "sign".', id: 'Kirim "username" dan "sign".' },
  signWrong: {
    en: '"username" or "sign" is wrong. /docs describes how to compute the sign.',
    id: '"username" atau "sign" salah. Cara membuat sign ada di /docs.',
  },
  onlyStrongSign: {
    en: 'This account accepts only the HMAC-SHA256 sign, not md5.',
    id: 'Akun ini hanya menerima sign HMAC-SHA256, bukan md5.',
  },
  wrongRole: {
    en: 'This is the {role} surface; the key belongs to a {owner}.',
    id: 'Bagian ini untuk {role}; kunci ini milik {owner}.',
  },
  accountSuspended: {
    en: 'This account is suspended. Contact the operator.',
    id: 'Akun ini dibekukan. Hubungi operator.',
  },
  keyOfOtherMode: {
    en: 'This is a {mode} key; this service accepts {ours} keys.',
    id: 'Ini kunci {mode}; layanan ini menerima kunci {ours}.',
  },
  apiKeyMalformed: {
    en: 'The API key is malformed: a part of it is missing or wrong. Copy the complete key again, or ask the operator for a new one.',
    id: 'Kunci API tidak valid: ada bagian yang hilang atau salah. Salin lagi seluruh kuncinya, atau minta yang baru kepada operator.',
  },
  apiKeyUnknown: {
    en: 'The API key is unknown or has been revoked.',
    id: 'Kunci API tidak dikenal atau sudah dicabut.',
  },
  accessTokenOver: {
    en: 'The access token is no longer valid. Log in again with your API key.',
    id: 'Token akses sudah tidak berlaku. Masuk lagi dengan kunci API Anda.',
  },
  tokenMayNot: {
    en: 'An access token cannot read keys and secrets or change the configuration. Send your API key itself in the header "Authorization: Bearer <API_KEY>".',
    id: 'Token akses tidak boleh melihat kunci dan rahasia, dan tidak boleh mengubah konfigurasi. Kirim kunci API Anda sendiri di header "Authorization: Bearer <API_KEY>".',
  },
  keySuperseded: {
    en: 'This API key was replaced. Until its overlap ends it can trade and read, but it cannot read keys and secrets or change the configuration. Send your current key. If you did not replace the key, contact the operator.',
    id: 'Kunci API ini sudah diganti. Selama masa tumpang tindih kunci ini masih bisa bertransaksi dan membaca, tetapi tidak boleh melihat kunci dan rahasia atau mengubah konfigurasi. Kirim kunci Anda yang sekarang. Jika bukan Anda yang menggantinya, hubungi operator.',
  },
  noSuchAccount: { en: 'There is no such account.', id: 'Akun itu tidak ada.' },
  keyReplaced: { en: 'API key replaced', id: 'Kunci API sudah diganti' },
  configUpdated: { en: 'Configuration updated', id: 'Konfigurasi sudah diubah' },
  wouldLockOut: {
    en: 'ip_whitelist must include the address that you call from, {address}; otherwise it would lock you out',
    id: 'ip_whitelist harus memuat alamat asal panggilan Anda, {address}: tanpa itu Anda terkunci di luar',
  },
  rateLimitAtMost: {
    en: 'rate_limit must be at most {max}, the maximum that the operator set for this account',
    id: 'rate_limit paling banyak {max}, sesuai yang ditetapkan operator untuk akun ini',
  },
  noSuchCall: {
    en: 'There is no such call. /docs/reference lists all calls.',
    id: 'Panggilan itu tidak ada. Daftar semua panggilan ada di /docs/reference.',
  },
  noSuchPage: {
    en: 'There is no such page. /docs lists all pages.',
    id: 'Halaman itu tidak ada. Daftar semua halaman ada di /docs.',
  },
  endBeforeStart: {
    en: '{end} must not be before {start}',
    id: '{end} tidak boleh sebelum {start}',
  },
  addressNotAllowed: {
    en: 'The address {address} is not on the IP allowlist of this account. If you did not set it, contact the operator.',
    id: 'Alamat {address} tidak ada di daftar IP yang diizinkan akun ini. Jika bukan Anda yang mengaturnya, hubungi operator.',
  },
  sendApiKey: {
    en: 'Send your API key in the header "Authorization: Bearer <API_KEY>".',
    id: 'Kirim kunci API Anda di header "Authorization: Bearer <API_KEY>".',
  },
  noSuchPath: {
    en: 'There is no {method} {path}. See the documentation at /docs.',
    id: '{method} {path} tidak ada. Lihat dokumentasi di /docs.',
  },
  bodyNoJson: {
    en: 'The body must be a valid JSON object.',
    id: 'Isi permintaan harus berupa objek JSON yang valid.',
  },
  tooManyFormFields: {
    en: 'The form has too many fields.',
    id: 'Formulir berisi terlalu banyak isian.',
  },
  onlyJsonInUtf8: {
    en: 'Send the body as JSON in UTF-8, uncompressed or compressed with gzip, deflate or br.',
    id: 'Kirim isi permintaan sebagai JSON dalam UTF-8, apa adanya atau dikompresi dengan gzip, deflate atau br.',
  },
  bodyIncomplete: {
    en: 'The body is incomplete.',
    id: 'Isi permintaan tidak lengkap.',
  },
  requestUnreadable: {
    en: 'Malformed HTTP request. Nothing was done.',
    id: 'Permintaan HTTP tidak valid. Tidak ada yang dilakukan.',
  },
  requestTooSlow: {
    en: 'The request timed out before it was complete. Nothing was done; send it again.',
    id: 'Batas waktu habis sebelum permintaan lengkap. Tidak ada yang dilakukan; kirim lagi.',
  },
  headersTooLarge: {
    en: 'The headers of the request are too large. Nothing was done.',
    id: 'Header permintaan terlalu besar. Tidak ada yang dilakukan.',
  },
  bodyWrongEncoding: {
    en: 'The body does not match its "Content-Encoding".',
    id: 'Isi permintaan tidak sesuai dengan "Content-Encoding" yang disebutkan.',
  },
  pathInvalid: { en: 'The path is not valid.', id: 'Alamat panggilan tidak valid.' },
  onlyJson: {
    en: 'Send the body as JSON with "Content-Type: application/json".',
    id: 'Kirim isi permintaan sebagai JSON dengan "Content-Type: application/json".',
  },
  bodyNoObject: {
    en: 'The body must be a JSON object.',
    id: 'Isi permintaan harus berupa objek JSON.',
  },
  givenTwice: { en: '{field} must be given once', id: '{field} hanya boleh dikirim sekali' },
  methodNotPossible: {
    en: '{method} is not allowed here; use {allowed}.',
    id: '{method} tidak bisa di sini; gunakan {allowed}.',
  },
  timestampWrong: {
    en: 'x-timestamp must be the current time in Unix seconds, at most 5 minutes off.',
    id: 'x-timestamp harus berupa waktu dalam detik unix, paling jauh 5 menit selisihnya.',
  },
  signatureWrong: { en: 'x-signature is wrong.', id: 'x-signature salah.' },
  noSuchReport: {
    en: 'There is no such report, or it is not ready yet.',
    id: 'Laporan itu tidak ada, atau belum siap.',
  },
  linksRevoked: {
    en: 'The links of this report are revoked',
    id: 'Tautan laporan ini sudah dicabut',
  },
  allLinksRevoked: {
    en: 'The links of all reports are revoked',
    id: 'Tautan semua laporan sudah dicabut',
  },
  reportFailed: {
    en: 'Report {id} could not be generated. Request a new one. If that fails too, request a shorter period, and give the report_id to the operator.',
    id: 'Laporan {id} tidak bisa dibuat. Minta yang baru. Jika gagal lagi, minta periode yang lebih pendek, dan sebutkan report_id-nya kepada operator.',
  },
  reportBeingMade: {
    en: 'The report is being generated. Read it by its report_id.',
    id: 'Laporan sedang dibuat. Baca dengan report_id-nya.',
  },
  reportReady: { en: 'Report ready', id: 'Laporan siap' },
  success: { en: 'Success', id: 'Sukses' },
  productCreated: { en: 'Product created', id: 'Produk sudah dibuat' },
  noSettlement: { en: 'There is no settlement {id}.', id: 'Pencairan {id} tidak ada.' },
  offerSaved: { en: 'Offer saved', id: 'Penawaran sudah disimpan' },
  productUpdated: { en: 'Product updated', id: 'Produk sudah diubah' },
  cursorOfOtherStatement: {
    en: 'cursor does not belong to this statement',
    id: 'cursor bukan milik mutasi ini',
  },
  meterNumberWrong: { en: '{said}', id: 'customer_number tidak dikenal sebagai nomor meter.' },
  meterNotTold: {
    en: 'The meter cannot be checked at the moment. Try again in a minute, or buy without the check.',
    id: 'Saat ini pemilik meter tidak bisa dicek. Coba lagi dalam satu menit, atau beli tanpa pengecekan.',
  },
  meterCheckNotOffered: {
    en: 'No seller of {product} can check who owns a meter. Buy without the check.',
    id: 'Tidak ada penjual {product} yang bisa mengecek pemilik meter. Beli tanpa pengecekan.',
  },
  billAlreadyPaid: { en: '{said}', id: 'Tagihan ini sudah dibayar.' },
  billNumberWrong: { en: '{said}', id: 'Nomor pelanggan salah.' },
  noBill: {
    en: '{said}',
    id: 'Tidak ada tagihan untuk nomor pelanggan ini, atau produk ini sedang tidak dijual.',
  },
  billerSilent: {
    en: 'The biller is not responding. Try again in a minute.',
    id: 'Penyedia tagihan sedang tidak merespons. Coba lagi dalam satu menit.',
  },
  depositRefTaken: {
    en: 'ref_id {ref} was used for a deposit of {amount:rupiah}. Use a new ref_id for a new deposit.',
    id: 'ref_id {ref} sudah dipakai untuk deposit sebesar {amount:rupiah}. Gunakan ref_id baru untuk deposit baru.',
  },
  paymentIdTaken: {
    en: 'payment_id {id} already belongs to a payment of {amount:rupiah} by {username}, ref_id {ref}.',
    id: 'payment_id {id} sudah dipakai untuk pembayaran {amount:rupiah} oleh {username}, ref_id {ref}.',
  },
  noDeposit: { en: 'There is no deposit {id}.', id: 'Deposit {id} tidak ada.' },
  balanceTooLarge: {
    en: 'amount would make the balance too large',
    id: 'amount akan membuat saldo terlalu besar',
  },
  productNotOnSale: {
    en: 'There is no product {code} on sale. See the price list.',
    id: 'Produk {code} tidak dijual. Lihat daftar harga.',
  },
  noProduct: { en: 'There is no product {code}.', id: 'Produk {code} tidak ada.' },
  productLimit: {
    en: 'This account sells {sold} products, and its limit is {limit}. Ask the operator for a higher limit.',
    id: 'Akun ini menjual {sold} produk, dan batasnya {limit}. Minta batas yang lebih tinggi kepada operator.',
  },
  notYourProduct: { en: 'You have no product {code}.', id: 'Anda tidak punya produk {code}.' },
  productNotSold: {
    en: 'Product {code} is not sold at the moment.',
    id: 'Produk {code} sedang tidak dijual.',
  },
  productCutOff: {
    en: 'Product {code} cannot be bought between {start} and {end} ({zone}).',
    id: 'Produk {code} tidak bisa dibeli antara pukul {start} dan {end} ({zone}).',
  },
  productBusy: {
    en: 'Too many orders are waiting for product {code}. Nothing was bought; try again later.',
    id: 'Terlalu banyak pesanan menunggu produk {code}. Tidak ada yang dibeli; coba lagi nanti.',
  },
  productInMaintenance: {
    en: 'Product {code} is under maintenance. Try again later.',
    id: 'Produk {code} sedang dalam gangguan. Coba lagi nanti.',
  },
  billBeingPaid: {
    en: 'This bill is being paid by another request. Nothing was debited.',
    id: 'Tagihan ini sedang dibayar oleh permintaan lain. Saldo tidak dipotong.',
  },
  refIdTaken: {
    en: 'ref_id {ref} was used for another purchase. Use a new ref_id for a new purchase.',
    id: 'ref_id {ref} sudah dipakai untuk pembelian lain. Gunakan ref_id baru untuk pembelian baru.',
  },
  refIdBound: {
    en: 'ref_id {ref} was sent before with another product or customer number. Its md5 sign is valid only for that order. Nothing was bought. Use a new ref_id for this order.',
    id: 'ref_id {ref} sudah pernah dikirim dengan produk atau nomor pelanggan lain. Sign md5-nya hanya berlaku untuk pesanan itu. Tidak ada yang dibeli. Gunakan ref_id baru untuk pesanan ini.',
  },
  billBeingPaidByYou: {
    en: 'This bill is being paid by your ref_id {ref}. Wait for its result. Nothing was debited.',
    id: 'Tagihan ini sedang dibayar dengan ref_id Anda {ref}. Tunggu hasilnya. Saldo tidak dipotong.',
  },
  noTransaction: { en: 'There is no transaction {id}.', id: 'Transaksi {id} tidak ada.' },
  noCallback: {
    en: 'This is not a callback of this protocol.',
    id: 'Ini bukan callback dari protokol ini.',
  },
  callbackSignatureWrong: {
    en: 'The signature is wrong, or this provider has no such order.',
    id: 'Tanda tangan salah, atau pesanan itu tidak ada pada provider ini.',
  },
  downloadLinkOver: {
    en: 'This download link is no longer valid. Read the report again to get a new link.',
    id: 'Tautan unduhan ini sudah tidak berlaku. Baca laporannya lagi untuk mendapat tautan baru.',
  },
  tooManyReports: {
    en: 'More than {max} reports in a day. Wait {minutes} min, or request fewer reports with longer periods.',
    id: 'Lebih dari {max} laporan dalam sehari. Tunggu {minutes} menit, atau minta lebih sedikit laporan dengan periode lebih panjang.',
  },
  noReport: {
    en: 'There is no report {id}. Reports are kept for 7 days.',
    id: 'Laporan {id} tidak ada. Laporan disimpan selama 7 hari.',
  },
  tooManyPendingDeposits: {
    en: '{max} deposits of this account are waiting for payment. Pay one of them, or ask the operator to reject those that will not be paid.',
    id: '{max} deposit akun ini masih menunggu pembayaran. Bayar salah satunya, atau minta operator menolak yang tidak akan dibayar.',
  },
  settlementRefTaken: {
    en: 'ref_id {ref} was used for another settlement. Use a new one.',
    id: 'ref_id {ref} sudah dipakai untuk pencairan lain. Gunakan yang baru.',
  },
  settlementMayBeRepeated: {
    en: 'The outcome of the same request was unknown less than a minute ago, so it may be stored. Look for it in GET /api/seller/settlements. To request another one, send a ref_id.',
    id: 'Hasil permintaan yang sama belum diketahui kurang dari satu menit lalu, jadi mungkin sudah tersimpan. Cari di GET /api/seller/settlements. Untuk meminta pencairan lain, kirim ref_id.',
  },
  periodTooLong: {
    en: '{start} must be at most {max} days before {end}',
    id: '{start} paling lama {max} hari sebelum {end}',
  },
  tooManyEndpoints: {
    en: 'An account has at most {max} webhook endpoints. Remove one first.',
    id: 'Satu akun paling banyak punya {max} endpoint webhook. Hapus satu dulu.',
  },
  endpointTwin: {
    en: 'Your endpoint {id} already has the URL {url}. Change that endpoint instead.',
    id: 'Endpoint Anda {id} sudah memakai URL {url}. Ubah yang itu saja.',
  },
  noDelivery: {
    en: 'There is no delivery with this id.',
    id: 'Pengiriman dengan id ini tidak ada.',
  },
  deliverySuperseded: {
    en: 'A newer event of the same transaction replaced this one.',
    id: 'Peristiwa yang lebih baru dari transaksi yang sama sudah menggantikan yang ini.',
  },
  noEndpoint: {
    en: 'There is no webhook endpoint with this id. GET …/webhooks lists yours.',
    id: 'Endpoint webhook dengan id ini tidak ada. GET …/webhooks menampilkan milik Anda.',
  },
  secretJustRotated: {
    en: 'The secret was rotated a moment ago. Read the current one.',
    id: 'Rahasia baru saja diganti. Baca yang sekarang.',
  },
  sandboxOnly: {
    en: 'This call works only in a sandbox, with a test key.',
    id: 'Panggilan ini hanya untuk kunci test di sandbox.',
  },
  hasEnded: { en: 'This transaction is already final.', id: 'Transaksi ini sudah final.' },
  onlySuccessReversed: {
    en: 'Only a successful transaction can be reversed.',
    id: 'Hanya transaksi sukses yang bisa dibatalkan.',
  },
  endIsOperators: {
    en: 'The provider is no longer queried about this transaction. The operator decides its outcome.',
    id: 'Status transaksi ini tidak dicek lagi ke penyedia. Operator yang memutuskan hasil akhirnya.',
  },
  notAtProvider: {
    en: 'This transaction is not with a provider yet. Send the call again in a moment.',
    id: 'Transaksi ini belum sampai di penyedia. Kirim panggilan ini lagi sebentar lagi.',
  },
  notAtSimulator: {
    en: 'The provider of this transaction is not the simulator.',
    id: 'Penyedia transaksi ini bukan simulator.',
  },
  simulatorRefusesEnd: {
    en: 'The simulator has already given this transaction another outcome, or has not received it yet.',
    id: 'Simulator sudah memberi hasil akhir lain untuk transaksi ini, atau belum menerimanya.',
  },
  simulatorSilent: {
    en: 'The simulator is not responding. Send the call again.',
    id: 'Simulator sedang tidak merespons. Kirim panggilan ini lagi.',
  },
  setWebhookUrl: { en: 'Set a webhook_url first.', id: 'Atur webhook_url dulu.' },
  pingUnderWay: {
    en: 'A test of this URL is in progress. Wait for its result.',
    id: 'Uji URL ini sedang berjalan. Tunggu hasilnya.',
  },
  insufficientBalance: {
    en: 'Insufficient balance. Your balance is {balance:rupiah}, the price {price:rupiah}. Deposit first, then send the same request again.',
    id: 'Saldo tidak cukup. Saldo Anda {balance:rupiah}, harga {price:rupiah}. Isi saldo dulu, lalu kirim lagi permintaan yang sama.',
  },
  insufficientForSettlement: {
    en: 'Insufficient balance. Your balance is {balance:rupiah}, you requested {price:rupiah}. Request at most your available balance.',
    id: 'Saldo tidak cukup. Saldo Anda {balance:rupiah}, yang diminta {price:rupiah}. Minta paling banyak sebesar saldo yang tersedia.',
  },
  recovering: {
    en: 'The service is recovering. Send the same request again in a few seconds.',
    id: 'Layanan sedang dipulihkan. Kirim lagi permintaan yang sama beberapa detik lagi.',
  },
  unexpected: { en: 'Something went wrong on our side.', id: 'Terjadi kesalahan di pihak kami.' },
  moreMistakes: { en: 'there are more errors', id: 'masih ada kesalahan lain' },
  settlementUnknown: {
    en: 'The outcome of this settlement request is unknown. Check pending_settlement of GET /api/seller/balance before you repeat it. A request with a ref_id can always be sent again.',
    id: 'Hasil permintaan pencairan ini belum diketahui. Periksa pending_settlement dari GET /api/seller/balance sebelum Anda meminta lagi. Permintaan dengan ref_id selalu bisa dikirim lagi.',
  },
  urlNotPublic: { en: 'must lead to a public address', id: 'harus mengarah ke alamat publik' },
  urlNoHost: {
    en: 'has a host name that does not resolve',
    id: 'memakai nama host yang tidak ditemukan',
  },
  urlNoUrl: { en: 'must be a URL', id: 'harus berupa URL' },
  urlForm: {
    en: '{label} must be a URL such as https://shop.example/hooks/topup',
    id: '{label} harus berupa URL, misalnya https://shop.example/hooks/topup',
  },
  urlHttpOrHttps: {
    en: 'must begin with http:// or https://',
    id: 'harus diawali http:// atau https://',
  },
  urlHttps: { en: 'must begin with https://', id: 'harus diawali https://' },
  urlCredentials: {
    en: 'must not contain a user name or password',
    id: 'tidak boleh memuat nama pengguna atau kata sandi',
  },
  urlPort: {
    en: 'must use port 80, 443, 8080, 8443 or a port above 1024',
    id: 'harus memakai port 80, 443, 8080, 8443 atau di atas 1024',
  },
  urlPrivate: {
    en: 'must not be a private or reserved address',
    id: 'tidak boleh berupa alamat privat atau yang dicadangkan',
  },
  urlHostName: { en: 'must have a public host name', id: 'harus memakai nama host publik' },
  urlField: { en: '{field} {problem}', id: '{field} {problem}' },
  noControlCharacters: {
    en: '{label} must not contain control characters',
    id: '{label} tidak boleh memuat karakter kontrol',
  },
  noUnseenCharacters: {
    en: '{label} must not contain control characters, invisible characters or text direction marks',
    id: '{label} tidak boleh memuat karakter kontrol, karakter yang tidak terlihat, atau tanda yang membalik arah teks',
  },
  refIdForm: {
    en: '{label} must have 1 to 64 letters, digits or . _ : / -',
    id: '{label} harus 1 sampai 64 huruf, angka atau . _ : / -',
  },
  pathSafeRefIdForm: {
    en: '{label} must have 1 to 64 letters, digits or . _ : -',
    id: '{label} harus 1 sampai 64 huruf, angka atau . _ : -',
  },
  refIdOfAnother: {
    en: '{label} must not be ".", ".." or "lookup", because these have another meaning in a URL',
    id: '{label} tidak boleh ".", ".." atau "lookup", karena punya arti lain di dalam URL',
  },
  soldPriceBelowBill: {
    en: '{label} must be at least the amount of the bill, {bill:rupiah}',
    id: '{label} harus paling sedikit sebesar tagihan, {bill:rupiah}',
  },
  productCodeForm: {
    en: '{label} must have 1 to 50 letters, digits or . _ -',
    id: '{label} harus 1 sampai 50 huruf, angka atau . _ -',
  },
  wholeRupiah: { en: '{label} must be whole rupiah', id: '{label} harus rupiah bulat' },
  safeRupiah: {
    en: '{label} must be a safe whole number of rupiah',
    id: '{label} harus bilangan bulat rupiah yang aman',
  },
  dateForm: {
    en: '{label} must be a date as YYYY-MM-DD or an ISO 8601 time with a time zone',
    id: '{label} harus tanggal berbentuk YYYY-MM-DD atau waktu ISO 8601 dengan zona waktu',
  },
  zoneName: {
    en: '{label} must be the IANA name of a time zone, such as Asia/Jakarta',
    id: '{label} harus nama zona waktu IANA, misalnya Asia/Jakarta',
  },
  latinText: {
    en: '{label} must contain only Latin letters, digits and punctuation',
    id: '{label} hanya boleh berisi huruf Latin, angka, dan tanda baca',
  },
  receiptNotYet: {
    en: 'ref_id {ref} is still being processed. Its receipt is available after it succeeds.',
    id: 'ref_id {ref} masih diproses. Struknya ada setelah transaksi sukses.',
  },
  noReceiptFailed: {
    en: 'ref_id {ref} failed and its money was returned to your balance. A failed transaction has no receipt.',
    id: 'ref_id {ref} gagal dan dananya sudah dikembalikan ke saldo Anda. Transaksi yang gagal tidak punya struk.',
  },
  noReceiptReversed: {
    en: 'ref_id {ref} was reversed after its success, and its money was returned to your balance. It no longer has a receipt.',
    id: 'ref_id {ref} sempat sukses lalu dibatalkan, dan dananya sudah dikembalikan ke saldo Anda. Struknya tidak ada lagi.',
  },
  wholeNumberTo: {
    en: '{label} must be a whole number from 1 to {max}',
    id: '{label} harus bilangan bulat dari 1 sampai {max}',
  },
  cursorOfCall: {
    en: '{label} must be a next_cursor of this call',
    id: '{label} harus next_cursor dari panggilan ini',
  },
  bankCodeForm: {
    en: '{label} must contain only letters, digits or . _ -',
    id: '{label} hanya boleh berisi huruf, angka atau . _ -',
  },
  accountNumberForm: {
    en: '{label} must have 5 to 34 digits',
    id: '{label} harus 5 sampai 34 angka',
  },
  allowlistEntryForm: {
    en: '{label} must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24',
    id: '{label} harus alamat IPv4 atau IPv6, atau jaringan seperti 203.0.113.0/24',
  },
  noSuchEvent: {
    en: '{label} is {value}, which is not an event. Use {events}',
    id: '{label} berisi {value}, yang bukan nama peristiwa. Gunakan {events}',
  },
  settlementRequested: { en: 'Settlement requested', id: 'Pencairan sudah diminta' },
  settlementAsItIs: {
    en: 'Known ref_id: the settlement as it is now',
    id: 'ref_id sudah dikenal: pencairan seperti keadaannya sekarang',
  },
  beingProcessed: { en: 'Transaction being processed', id: 'Transaksi sedang diproses' },
  failedAndReturned: {
    en: 'Transaction failed, the debit was returned',
    id: 'Transaksi gagal, saldo sudah dikembalikan',
  },
  tooManyCharacters: {
    en: '{field} must have at most {max} characters',
    id: '{field} paling banyak {max} karakter',
  },
  tooManyEntries: {
    en: '{field} must have at most {max} entries',
    id: '{field} paling banyak {max} isian',
  },
  tooManyCalls: {
    en: 'More than {limit} calls in a minute. Wait {seconds} s.',
    id: 'Lebih dari {limit} panggilan dalam satu menit. Tunggu {seconds} detik.',
  },
  tooManyBadKeys: {
    en: 'Too many calls with a wrong key or signature from your address. Wait {seconds} s.',
    id: 'Terlalu banyak panggilan dengan kunci atau tanda tangan salah dari alamat Anda. Tunggu {seconds} detik.',
  },
  bodyTooLarge: {
    en: 'The body is larger than {limit}.',
    id: 'Isi permintaan lebih besar dari {limit}.',
  },
  bodyAboveAllowed: {
    en: 'The body is larger than allowed.',
    id: 'Isi permintaan lebih besar dari yang diizinkan.',
  },
  transactionAccepted: { en: 'Transaction is being processed', id: 'Transaksi sedang diproses' },
  transactionAsItIs: {
    en: 'Known ref_id: the transaction as it is now',
    id: 'ref_id sudah dikenal: transaksi seperti keadaannya sekarang',
  },
  paymentAccepted: { en: 'Payment is being processed', id: 'Pembayaran sedang diproses' },
  paymentAsItIs: {
    en: 'Known ref_id: the payment as it is now',
    id: 'ref_id sudah dikenal: pembayaran seperti keadaannya sekarang',
  },
  depositCompleted: { en: 'Deposit successful', id: 'Deposit berhasil' },
  depositPending: {
    en: 'Deposit recorded, waiting for payment',
    id: 'Deposit dicatat, menunggu pembayaran',
  },
  depositRejected: {
    en: 'Deposit rejected: no payment arrived. Create a new deposit with a new ref_id.',
    id: 'Deposit ditolak: pembayarannya tidak diterima. Buat deposit lagi dengan ref_id baru.',
  },
  noDepositFits: {
    en: 'No pending deposit matches; an operator decides.',
    id: 'Tidak ada deposit tertunda yang cocok; operator yang memutuskan.',
  },
  postpaidProduct: {
    en: '{product} is a postpaid product: use POST /api/buyer/inquiry and POST /api/buyer/payment',
    id: '{product} adalah produk pascabayar: gunakan POST /api/buyer/inquiry dan POST /api/buyer/payment',
  },
  prepaidProduct: {
    en: '{product} is a prepaid product: use POST /api/buyer/transaction',
    id: '{product} adalah produk prabayar: gunakan POST /api/buyer/transaction',
  },
  mobileNumber: {
    en: '{field} must be a mobile number: 08 and 8 to 11 more digits',
    id: 'Nomor pelanggan ({field}) harus nomor ponsel: 08 dan 8 sampai 11 angka lagi',
  },
  numberOfOtherOperator: {
    en: '{field} does not belong to this operator (its prefixes: {prefixes})',
    id: 'Nomor pelanggan ({field}) bukan milik operator ini (awalannya: {prefixes})',
  },
  meterNumber: {
    en: '{field} must be a meter number of 11 or 12 digits',
    id: 'Nomor pelanggan ({field}) harus nomor meter 11 atau 12 angka',
  },
  playerId: {
    en: '{field} must be a player ID of 6 to 16 digits, followed by the zone if the game has zones',
    id: 'Nomor pelanggan ({field}) harus ID pemain 6 sampai 16 angka, diikuti zona jika gimnya memakai zona',
  },
  customerId: {
    en: '{field} must be a customer ID of 6 to 20 digits',
    id: 'Nomor pelanggan ({field}) harus ID pelanggan 6 sampai 20 angka',
  },
  anyNumber: {
    en: '{field} must have 4 to 50 letters, digits or . , | @ _ -',
    id: 'Nomor pelanggan ({field}) harus 4 sampai 50 huruf, angka atau . , | @ _ -',
  },
  productCodeTaken: {
    en: 'The product code {code} is taken. Use another one, or make an offer for it.',
    id: 'Kode produk {code} sudah dipakai. Gunakan yang lain, atau buat penawaran untuknya.',
  },
  priceAboveMax: {
    en: 'The price is now {price}, more than max_price {max}. Nothing was bought.',
    id: 'Harga sekarang {price:rupiah}, lebih dari max_price {max:rupiah}. Tidak ada yang dibeli.',
  },
  refIdOfOtherCall: {
    en: 'ref_id {ref} cannot be used here: its sign equals the sign of another call. Use another ref_id.',
    id: 'ref_id {ref} tidak bisa dipakai di sini: sign-nya milik panggilan lain. Gunakan ref_id lain.',
  },
  deliveryUrlRemoved: {
    en: 'The URL of this delivery was removed. Set one first.',
    id: 'URL pengiriman ini sudah dihapus. Atur dulu satu URL.',
  },
  deliveryEndpointRemoved: {
    en: 'The endpoint of this delivery was removed. Its deliveries do not go to another endpoint.',
    id: 'Endpoint pengiriman ini sudah dihapus. Pengirimannya tidak dialihkan ke endpoint lain.',
  },
} as const satisfies Record<string, Record<Language, string>>;
