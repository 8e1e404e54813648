/** Formats of statement files: encodings, separators, HTML under the name .xls. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';
import { ValidationError } from '../../../src/shared/errors.js';

const at = (format: string) => DateTime.now().setZone('Asia/Jakarta').minus({ days: 1 }).toFormat(format);
const day = at('dd/MM/yyyy');
const rows = [
  'Tanggal;Keterangan;Debit;Kredit;Saldo',
  `${day};TRSF "A", B;;60.001,00;1,00`,
  `${day};ADM;6.500,00;;1,00`,
];
const amountsOf = async (bytes: Buffer) => {
  const { incoming, outgoing } = await readBankStatement(bytes);
  return [incoming.map(({ amount }) => amount), outgoing];
};
const problemOf = async (text: string) => {
  const error = await readBankStatement(Buffer.from(text)).catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(ValidationError);
  return (error as ValidationError).message;
};

describe('files of bank statements', () => {
  it('reads every encoding, separator and line end in the same way', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      for (const mark of [';', '\t', '|']) {
        const text = rows.join(end).replaceAll(';', mark);
        for (const start of ['', '\uFEFF', `sep=${mark}${end}`]) {
          const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');
          for (const bytes of [Buffer.from(start + text), utf16, Buffer.from(utf16).swap16()]) {
            if (mark === '|') {
              await readBankStatement(bytes).then(
                () => expect.fail('a separator that is not read'),
                () => null,
              );
            } else {
              expect(await amountsOf(bytes), JSON.stringify([end, mark, start])).to.deep.equal([[60_001], 1]);
            }
          }
        }
      }
    }
  });

  it('reads an HTML table under the name of a workbook', async () => {
    const cells = (row: string) => row.split(';').map((each) => each.replaceAll('"', '&quot;'));
    const body = rows.map(
      (row) =>
        `<tr>${cells(row)
          .map((each) => `<td x:str>${each}</td>`)
          .join('')}</tr>`,
    );
    const html = (lines: string[]) =>
      `<html xmlns:x="urn:x"><head><style>td{}</style><!-- <td> --></head><body><table border=1><tr><td colspan="5"><b>Currency</b>:&nbsp;IDR</td></tr>${lines.join('\n')}</table></body></html>`;
    const { incoming, outgoing } = await readBankStatement(Buffer.from(html(body)));
    expect(incoming.map(({ amount, description, line }) => [amount, description, line])).to.deep.equal([
      [60_001, 'TRSF "A", B', 3],
    ]);
    expect(outgoing).to.equal(1);
    const shifted = html([...body, `<tr><td>${day}</td><td colspan=2>x</td><td>9</td></tr>`]);
    expect((await readBankStatement(Buffer.from(shifted))).refused).to.deep.equal([
      { line: 5, why: 'bad-cells' },
    ]);
    const foreign = html(body).replace('IDR', 'USD');
    expect(await problemOf(foreign)).to.include('not IDR');
    expect(await problemOf(html([...body, '<tr style="display:none"><td>x</td></tr>']))).to.include('hidden');
    expect(await problemOf(html([...body, '<tr><td rowspan=2>x</td></tr>']))).to.include('several rows');
    expect(await problemOf(html(['<tr><td><table><tr><td>x</td></tr></table></td></tr>']))).to.include(
      'tables within tables',
    );
  });
});
