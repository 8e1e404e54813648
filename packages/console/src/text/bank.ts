/** Texts of the bank statements page. */
export const bank = {
  bankStatements: { en: 'Bank statements', id: 'Mutasi bank' },
  matchStatement: {
    en: 'Hold a bank statement against deposits',
    id: 'Cocokkan mutasi bank dengan deposit',
  },
  matchStatementWhat: {
    en: 'CSV in UTF-8 as your bank exports it, at most 10,000 lines and 5 MB. Columns are found by their headings (Tanggal, Keterangan, Kredit …). A line with our id of the pending deposit of its amount confirms it; one with the reference of its client, if you say so. Nothing is changed yet.',
    id: 'CSV dalam UTF-8 seperti yang diekspor bank Anda, paling banyak 10.000 baris dan 5 MB. Kolom ditemukan dari judulnya (Tanggal, Keterangan, Kredit …). Baris dengan id kami dari deposit menunggu berjumlah sama mengonfirmasinya; baris dengan referensi kliennya, bila Anda menyatakannya. Belum ada yang diubah.',
  },
  bankStatement: { en: 'Bank statement (CSV)', id: 'Mutasi bank (CSV)' },
  incomingLines: { en: 'Incoming lines', id: 'Baris masuk' },
  outgoingLines: { en: 'Outgoing lines', id: 'Baris keluar' },
  otherLines: { en: 'Lines without an amount', id: 'Baris tanpa jumlah' },
  notRead: { en: 'Lines that are not read', id: 'Baris yang tidak terbaca' },
  bankText: { en: 'Text of the bank', id: 'Teks dari bank' },
  fitsTo: { en: 'Fits to', id: 'Cocok dengan' },
  meant: { en: 'Deposit', id: 'Deposit' },
  firstLinesOnly: {
    en: 'Only {shown} are shown, first what is confirmed. The command line shows all.',
    id: 'Hanya {shown} yang ditampilkan, yang dikonfirmasi lebih dulu. Baris perintah menampilkan semuanya.',
  },
  match_named: { en: 'names its deposit by our id', id: 'menyebut depositnya dengan id kami' },
  match_referenced: { en: 'has the reference of its client', id: 'memuat referensi kliennya' },
  match_amount: { en: 'only the amount fits', id: 'hanya jumlahnya cocok' },
  match_several: { en: 'several could be meant', id: 'bisa beberapa deposit' },
  match_repeated: {
    en: 'another line is for the same deposit',
    id: 'baris lain untuk deposit yang sama',
  },
  match_decided: { en: 'its deposit was decided before', id: 'depositnya sudah diputuskan' },
  'match_other-amount': {
    en: 'names a deposit of another amount',
    id: 'menyebut deposit dengan nominal lain',
  },
  match_none: { en: 'no deposit', id: 'tidak ada deposit' },
  match_used: { en: 'was used before', id: 'sudah dipakai' },
  'match_set-aside': { en: 'was set aside before', id: 'sudah disisihkan' },
  'refused_bad-date': {
    en: 'Its day cannot be read, or is to come.',
    id: 'Tanggalnya tidak terbaca, atau belum tiba.',
  },
  'refused_not-booked': { en: 'The bank has not booked it yet.', id: 'Belum dibukukan oleh bank.' },
  'refused_too-old': { en: 'It is older than 90 days.', id: 'Lebih lama dari 90 hari.' },
  'refused_bad-amount': { en: 'Its amount cannot be read.', id: 'Jumlahnya tidak terbaca.' },
  'refused_no-direction': {
    en: 'It does not say whether money came or went.',
    id: 'Tidak menyebut uang masuk atau keluar.',
  },
  confirmStatement: {
    en: 'Confirm what the statement names',
    id: 'Konfirmasi yang disebut mutasi ini',
  },
  confirmStatementWhat: {
    en: 'Credits {found} deposits, {amount} in all, and tells their accounts. All incoming lines are kept, so that none is used again; those without a deposit are listed below.',
    id: 'Mengkredit {found} deposit, seluruhnya {amount}, dan memberi tahu akunnya. Semua baris masuk disimpan, sehingga tidak ada yang dipakai lagi; yang tanpa deposit ada di daftar di bawah.',
  },
  byReference: {
    en: 'Also {found} lines with a reference that the client chose, {amount} in all. I have looked at their texts.',
    id: 'Juga {found} baris dengan referensi yang dipilih klien, seluruhnya {amount}. Teksnya sudah saya periksa.',
  },
  byAmount: {
    en: 'Also {found} lines for which only the amount speaks, {amount} in all',
    id: 'Juga {found} baris yang hanya jumlahnya cocok, seluruhnya {amount}',
  },
  confirmedLines: {
    en: '{confirmed} deposits were confirmed, {kept} lines are new.',
    id: '{confirmed} deposit dikonfirmasi, {kept} baris baru.',
  },
  stoodLines: {
    en: '{stood} were found credited meanwhile.',
    id: '{stood} ternyata sudah dikreditkan.',
  },
  leftLines: {
    en: 'Left, because somebody was quicker: lines {lines}.',
    id: 'Dibiarkan, karena ada yang lebih cepat: baris {lines}.',
  },
  keptBankLines: { en: 'Lines of bank statements', id: 'Baris mutasi bank' },
  noBankLine: { en: 'No line fits.', id: 'Tidak ada baris yang cocok.' },
  line_open: { en: 'nobody knows whose', id: 'belum diketahui milik siapa' },
  line_used: { en: 'used', id: 'dipakai' },
  'line_set-aside': { en: 'set aside', id: 'disisihkan' },
  useLine: { en: 'Confirm a deposit with this line', id: 'Konfirmasi deposit dengan baris ini' },
  useLineWhat: {
    en: 'Credits the deposit, which must wait for {amount}, and tells its account.',
    id: 'Mengkredit deposit, yang harus menunggu {amount}, dan memberi tahu akunnya.',
  },
  depositId: { en: 'Id of the deposit', id: 'Id deposit' },
  sameBefore: {
    en: 'a line of this amount and day was decided before, and may be the same payment',
    id: 'baris dengan jumlah dan hari ini sudah diputuskan, dan mungkin pembayaran yang sama',
  },
  anotherPayment: {
    en: 'It is another payment than the one that was decided before',
    id: 'Ini pembayaran lain daripada yang sudah diputuskan',
  },
  daysOfStatement: { en: 'Of the days', id: 'Dari tanggal' },
  orderUntold: {
    en: 'They are read with the day first, but each of them could have the month first: look whether these days are right.',
    id: 'Tanggal dibaca dengan hari di depan, padahal semuanya bisa saja dengan bulan di depan: periksa apakah tanggal ini benar.',
  },
  reopenLine: { en: 'Open this line again', id: 'Buka lagi baris ini' },
  reopenLineWhat: {
    en: 'It counts again as money that nobody knows the account of.',
    id: 'Dihitung lagi sebagai uang yang belum diketahui akunnya.',
  },
  setLineAside: { en: 'Set this line aside', id: 'Sisihkan baris ini' },
  setLineAsideWhat: {
    en: 'Says that this money is for no deposit: it was paid back, is interest, or was confirmed by hand.',
    id: 'Menyatakan bahwa uang ini bukan untuk deposit mana pun: dikembalikan, bunga, atau dikonfirmasi manual.',
  },
};
