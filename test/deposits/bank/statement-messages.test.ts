/** Bank statements as SWIFT MT940 and ISO 20022 CAMT.053. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError } from '../../../src/shared/errors.js';

const yesterday = DateTime.now().setZone('Asia/Jakarta').minus({ days: 1 });
const day = yesterday.toISODate();
const [value, booked] = [yesterday.toFormat('yyMMdd'), yesterday.toFormat('MMdd')];
const read = (text: string) => readBankStatement(Buffer.from(text));
const problemOf = async (text: string) => {
  const error = await read(text).catch((thrown: unknown) => thrown);
  expect(error, text).to.be.instanceOf(ValidationError);
  return (error as ValidationError).message;
};

const mt940 = [
  '{1:F01CENAIDJAXXXX0000000000}{2:O9400000000000CENAIDJAXXXX00000000000000000000N}{4:',
  ':20:STMT',
  ':25:0000012345',
  ':28C:00001/001',
  `:60F:C${value}IDR1000000,00`,
  `:61:${value}${booked}CR500001,00NTRFNONREF//FT1`,
  ':86:TRSF E-BANKING CR TOPUP1',
  'TOKO DUA, CV',
  `:61:${value}${booked}D40000,50NMSCNONREF`,
  ':86:BIAYA ADM',
  `:61:${value}${booked}RC500001,NTRFNONREF`,
  ':86:KOREKSI TRSF',
  `:61:${value}${booked}RD40000,00NMSCNONREF`,
  `:61:${value}C60002,00NTRFREF-2`,
  `:62F:C${value}IDR1060001,50`,
  '-}',
].join('\r\n');

const entry = (amount: string, direction: string, more = '', status = 'BOOK') =>
  `<Ntry><Amt Ccy="IDR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${more}<Sts>${status}</Sts><BookgDt><DtTm>${day}T00:30:00+07:00</DtTm></BookgDt><NtryDtls><TxDtls><Refs><EndToEndId>TOPUP1</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy="IDR">9</Amt></TxAmt></AmtDtls><RmtInf><Ustrd>TOKO &amp; CO</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
const balance = (kind: string, amount: string, currency = 'IDR') =>
  `<Bal><Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`;
const camt = `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr><Stmt><Id>1</Id><Acct><Ccy>IDR</Ccy></Acct>${balance('OPBD', '1000.00')}${balance('CLBD', '60001.00')}${[
  entry('60001.00', 'CRDT'),
  entry('2000.00', 'DBIT'),
  entry('5000.00', 'DBIT', '<RvslInd>true</RvslInd>'),
  entry('6000.00', 'CRDT', '<RvslInd>true</RvslInd>'),
  entry('70001.00', 'CRDT', '', 'PDNG'),
].join('')}</Stmt></BkToCstmrStmt></Document>`;

describe('messages of bank statements', () => {
  it('MT940: credits are incoming, reversed credits outgoing, reversed debits refused', async () => {
    const { incoming, outgoingLines, corrections, refused } = await read(mt940);
    expect(
      corrections.map(({ amount }) => amount),
      'RC',
    ).to.deep.equal([500_001]);
    expect(incoming.map((each) => [each.line, each.day, each.amount, each.description])).to.deep.equal([
      [6, day, 500_001, '//FT1 TRSF E-BANKING CR TOPUP1 TOKO DUA, CV'],
      [14, day, 60_002, 'REF-2'],
    ]);
    expect(outgoingLines.map(({ amount }) => amount)).to.deep.equal([500_001]);
    expect(refused).to.deep.equal([
      { line: 9, why: 'bad-amount', column: ':61:' },
      { line: 13, why: 'reversal' },
    ]);
  });

  it('MT940: an entry date of blanks and a decimal point are read', async () => {
    const other = mt940.replace(`:61:${value}C60002,00`, `:61:${value}    C60002.00`);
    expect((await read(other)).incoming.map(({ amount, day: of }) => [amount, of])).to.deep.equal([
      [500_001, day],
      [60_002, day],
    ]);
  });

  it('CAMT.053: a booking date may have a zone, which does not move it', async () => {
    const dated = camt.replace(`<DtTm>${day}T00:30:00+07:00</DtTm>`, `<Dt>${day}+00:00</Dt>`);
    expect((await read(dated)).incoming.map((each) => each.day)).to.deep.equal([day]);
  });

  it('MT940: refuses messages that are incomplete, wrong in sum, or not in rupiah', async () => {
    expect(await problemOf(mt940.replaceAll('IDR', 'USD'))).to.include('not IDR');
    expect(await problemOf(mt940.replace('C60002,00', 'C60003,00'))).to.include('closing balance');
    expect(await problemOf(mt940.replace('C60002', 'D60002'))).to.include('closing balance');
    expect(await problemOf(mt940.slice(0, mt940.indexOf(':62F')))).to.include('before the closing balance');
    expect(await problemOf(mt940.replace(/:61:.*C60002.*\r\n/, ''))).to.include('closing balance');
    expect(await problemOf(mt940.replace(/:62F.*/, ':62F:x'))).to.include('cannot be read');
    expect(await problemOf(mt940.replace('C60002,00', 'EC60002,00'))).to.include(
      'line 14: its entry (:61:) cannot be read',
    );
  });

  it('CAMT.053: only booked entries count, and reversals are told apart', async () => {
    const { incoming, outgoingLines, corrections, refused } = await read(camt);
    expect(
      corrections.map(({ amount }) => amount),
      'RvslInd',
    ).to.deep.equal([5_000]);
    expect(incoming.map((each) => [each.line, each.day, each.amount, each.description])).to.deep.equal([
      [1, day, 60_001, 'TOPUP1 TOKO & CO'],
    ]);
    expect(outgoingLines.map(({ amount }) => amount)).to.deep.equal([2_000, 5_000]);
    expect(refused).to.deep.equal([
      { line: 4, why: 'reversal', column: 'RvslInd' },
      { line: 5, why: 'not-booked', column: 'Sts' },
    ]);
  });

  it('CAMT.053: refuses files that are malformed, wrong in sum, or not in rupiah', async () => {
    expect(await problemOf(camt.replace('<Ccy>IDR', '<Ccy>USD'))).to.include('not IDR');
    expect(
      await problemOf(
        camt.replace(
          '60001.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>',
          '60002.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>',
        ),
      ),
    ).to.include('closing balance');
    expect(await problemOf(camt.slice(0, -20))).to.include('cannot be read');
    expect(await problemOf(camt.replace('CLBD', 'ITBD'))).to.include('no opening or closing balance');
    expect(await problemOf(camt.replace('<Sts>BOOK', '<CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK'))).to.include(
      'two values',
    );
    expect(
      await problemOf(
        camt
          .replace('BkToCstmrStmt', 'BkToCstmrDbtCdtNtfctn')
          .replace('BkToCstmrStmt', 'BkToCstmrDbtCdtNtfctn'),
      ),
    ).to.include('CAMT.054');
    const foreign = await read(camt.replace('<Ntry><Amt Ccy="IDR">', '<Ntry><Amt Ccy="USD">'));
    expect(foreign.refused[0]).to.deep.equal({ line: 1, why: 'not-idr', column: 'Ccy' });
    expect(foreign.incoming).to.deep.equal([]);
  });
});
