/** Texts of the bank statements page. */
export const bank = {
  bankStatements: { en: 'Bank statements', id: 'Mutasi bank' },
  matchStatement: { en: 'Match a bank statement', id: 'Cocokkan mutasi bank' },
  matchStatementHelp: {
    en: 'Upload the file that your bank exports (CSV, HTML table, MT940 or CAMT.053): at most 50,000 lines and 10 MB. Columns of tables are found by their headings (Tanggal, Keterangan, Kredit …). A line confirms the pending deposit of its amount if it contains our deposit ID. If you allow it, the reference of the client is enough. The preview changes nothing.',
    id: 'Unggah berkas yang diekspor bank Anda (CSV, tabel HTML, MT940 atau CAMT.053): paling banyak 50.000 baris dan 10 MB. Kolom tabel dikenali dari judulnya (Tanggal, Keterangan, Kredit …). Baris mengonfirmasi deposit tertunda dengan jumlah yang sama jika memuat ID deposit kita. Jika Anda izinkan, referensi klien sudah cukup. Pratinjau tidak mengubah apa pun.',
  },
  bankStatement: { en: 'Bank statement', id: 'Mutasi bank' },
  incomingLines: { en: 'Incoming lines', id: 'Baris masuk' },
  outgoingLines: { en: 'Outgoing lines', id: 'Baris keluar' },
  otherLines: { en: 'Lines without an amount', id: 'Baris tanpa jumlah' },
  corrections: { en: 'Corrections by the bank', id: 'Koreksi oleh bank' },
  takesBack: { en: 'Takes back', id: 'Menarik kembali' },
  takesBackLine: { en: 'line {line}', id: 'baris {line}' },
  takesBackOf: { en: 'a payment of {day}', id: 'pembayaran tanggal {day}' },
  takesBackUnknown: { en: 'a payment of another statement', id: 'pembayaran di mutasi lain' },
  creditedTo: { en: 'CREDITED to deposit {deposit}', id: 'SUDAH DIKREDIT ke deposit {deposit}' },
  correctedLines: {
    en: '{corrected} corrections by the bank were stored. Credited payments that were taken back are in the cases.',
    id: '{corrected} koreksi oleh bank disimpan. Pembayaran yang sudah dikredit lalu ditarik kembali ada di kasus.',
  },
  columnOfFile: { en: 'Column', id: 'Kolom' },
  firstOfCount: {
    en: 'Only the first {shown} of {count} are shown. The command line shows all.',
    id: 'Hanya {shown} pertama dari {count} yang ditampilkan. Baris perintah menampilkan semuanya.',
  },
  notRead: { en: 'Unreadable lines', id: 'Baris tidak terbaca' },
  bankText: { en: 'Bank description', id: 'Keterangan bank' },
  fitsTo: { en: 'Match', id: 'Kecocokan' },
  meant: { en: 'Deposit', id: 'Deposit' },
  firstLinesOnly: {
    en: 'Only {shown} lines are shown, confirmed ones first. The command line shows all.',
    id: 'Hanya {shown} baris yang ditampilkan, yang dikonfirmasi lebih dulu. Baris perintah menampilkan semuanya.',
  },
  match_named: { en: 'names its deposit by our id', id: 'memuat ID deposit kita' },
  match_referenced: { en: "has its client's reference", id: 'memuat referensi klien' },
  match_amount: { en: 'only the amount matches', id: 'hanya jumlahnya yang cocok' },
  match_several: { en: 'several deposits match', id: 'cocok dengan beberapa deposit' },
  'match_taken-back': {
    en: 'the bank took it back, or it takes back an outgoing line',
    id: 'ditarik kembali oleh bank, atau membatalkan baris keluar',
  },
  match_repeated: {
    en: 'another line is for the same deposit',
    id: 'baris lain untuk deposit yang sama',
  },
  match_decided: { en: 'its deposit was already decided', id: 'depositnya sudah diputuskan' },
  'match_other-amount': {
    en: 'names a deposit of another amount',
    id: 'menyebut deposit dengan jumlah lain',
  },
  match_none: { en: 'no deposit', id: 'tidak ada deposit' },
  match_used: { en: 'was already used', id: 'sudah dipakai sebelumnya' },
  'match_set-aside': { en: 'was already set aside', id: 'sudah disisihkan sebelumnya' },
  'refused_bad-date': {
    en: 'The date is unreadable or in the future.',
    id: 'Tanggal tidak terbaca atau di masa depan.',
  },
  'refused_not-booked': {
    en: 'The bank has not booked this line yet.',
    id: 'Baris ini belum dibukukan oleh bank.',
  },
  'refused_too-old': {
    en: 'The line is older than 90 days.',
    id: 'Baris ini lebih lama dari 90 hari.',
  },
  'refused_bad-amount': { en: 'The amount is unreadable.', id: 'Jumlah tidak terbaca.' },
  'refused_no-direction': {
    en: 'The line does not say whether it is incoming or outgoing.',
    id: 'Baris tidak menyebut uang masuk atau keluar.',
  },
  'refused_bad-cells': {
    en: 'The line has more or fewer cells than headings.',
    id: 'Jumlah sel baris tidak sama dengan jumlah judul kolom.',
  },
  'refused_bad-quote': {
    en: 'A quote is not closed, or is inside a cell.',
    id: 'Tanda kutip tidak ditutup, atau berada di dalam sel.',
  },
  'refused_not-idr': { en: 'The line is not in rupiah (IDR).', id: 'Baris bukan dalam rupiah (IDR).' },
  'refused_bad-balance': {
    en: 'The balances say that the money went in the opposite direction.',
    id: 'Saldo menunjukkan arah uang yang berlawanan.',
  },
  'refused_maybe-text': {
    en: 'The line may be a part of the text above. Let the bank export CSV or CAMT.053.',
    id: 'Baris ini mungkin bagian dari teks di atasnya. Unduh CSV atau CAMT.053 dari bank.',
  },
  refused_reversal: {
    en: 'The bank takes back an outgoing payment.',
    id: 'Bank membatalkan pembayaran keluar.',
  },
  confirmStatement: { en: 'Confirm matched deposits', id: 'Konfirmasi deposit yang cocok' },
  confirmStatementHelp: {
    en: 'Credits {found} deposits, {amount} in total, and notifies their accounts. All incoming lines are stored, so that no line is used twice. Lines without a deposit are listed below.',
    id: 'Mengkredit {found} deposit, total {amount}, dan memberi tahu akunnya. Semua baris masuk disimpan, sehingga tidak ada baris yang dipakai dua kali. Baris tanpa deposit ada di daftar di bawah.',
  },
  byReference: {
    en: 'Also confirm {found} lines that match only by the reference of the client, {amount} in total. I have checked their descriptions.',
    id: 'Konfirmasi juga {found} baris yang hanya cocok dengan referensi klien, total {amount}. Keterangannya sudah saya periksa.',
  },
  byAmount: {
    en: 'Also confirm {found} lines that match only by the amount, {amount} in total',
    id: 'Konfirmasi juga {found} baris yang hanya jumlahnya cocok, total {amount}',
  },
  confirmedLines: {
    en: '{confirmed} deposits were confirmed, {kept} lines are new.',
    id: '{confirmed} deposit dikonfirmasi, {kept} baris baru.',
  },
  stoodLines: { en: '{stood} were already credited.', id: '{stood} ternyata sudah dikredit.' },
  leftLines: {
    en: 'Skipped, because their deposits were decided in the meantime: lines {lines}.',
    id: 'Dilewati, karena depositnya sudah diputuskan sementara itu: baris {lines}.',
  },
  keptBankLines: { en: 'Bank statement lines', id: 'Baris mutasi bank' },
  noBankLine: { en: 'No lines match.', id: 'Tidak ada baris yang cocok.' },
  line_open: { en: 'unassigned', id: 'belum diketahui akunnya' },
  line_used: { en: 'used', id: 'dipakai' },
  'line_taken-back': { en: 'taken back by the bank', id: 'ditarik kembali oleh bank' },
  line_correction: { en: 'correction by the bank', id: 'koreksi oleh bank' },
  'line_set-aside': { en: 'set aside', id: 'disisihkan' },
  useLine: { en: 'Assign line to a deposit', id: 'Pasangkan baris dengan deposit' },
  useLineHelp: {
    en: 'Credits the deposit and notifies its account. The deposit must be pending and its amount must be {amount}.',
    id: 'Mengkredit deposit dan memberi tahu akunnya. Deposit harus tertunda dan jumlahnya harus {amount}.',
  },
  depositId: { en: 'Deposit ID', id: 'ID deposit' },
  chooseDeposit: { en: 'Pending deposits of this amount', id: 'Deposit tertunda dengan jumlah ini' },
  depositReference: { en: 'Reference or ID of the deposit', id: 'Referensi atau ID deposit' },
  noChoice: {
    en: 'No deposit of this amount is pending.',
    id: 'Tidak ada deposit tertunda dengan jumlah ini.',
  },
  sameBefore: {
    en: 'possible duplicate of a decided line with the same amount and day',
    id: 'mungkin duplikat dari baris yang sudah diputuskan dengan jumlah dan hari yang sama',
  },
  anotherPayment: {
    en: 'This is a different payment from the decided one',
    id: 'Ini pembayaran yang berbeda dari pembayaran yang sudah diputuskan',
  },
  daysOfStatement: { en: 'Days', id: 'Tanggal' },
  dateOrderUnclear: {
    en: 'The dates are read as day/month, but each of them could also be month/day. Check the days.',
    id: 'Tanggal dibaca sebagai hari/bulan, padahal semuanya bisa juga bulan/hari. Periksa tanggalnya.',
  },
  reopenLine: { en: 'Reopen line', id: 'Buka kembali baris' },
  reopenLineHelp: {
    en: 'The line counts as unassigned money again.',
    id: 'Baris dihitung lagi sebagai uang yang belum diketahui akunnya.',
  },
  setLineAside: { en: 'Set line aside', id: 'Sisihkan baris' },
  setLineAsideHelp: {
    en: 'Use this if the money does not belong to a deposit: it was returned, is interest, or was confirmed manually.',
    id: 'Pilih ini jika uangnya bukan untuk deposit mana pun: sudah dikembalikan, bunga bank, atau dikonfirmasi manual.',
  },
};
