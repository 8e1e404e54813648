/**
 * PLN serial numbers are parsed from the right. Two notations of one token are the same delivery.
 */
import { expect } from 'chai';
import { newId } from '../../src/shared/ids.js';
import { CaseModel } from '../../src/purchases/case.model.js';
import { reportRepeatedSerialNumber } from '../../src/purchases/fulfil/record-cases.js';
import { formatEnergy, formatToken, parsePlnToken } from '../../src/purchases/pln-token.js';
import { PurchaseModel } from '../../src/purchases/purchase.model.js';
import { useDatabase } from '../webhooks/support/database.js';

describe('PLN tokens', () => {
  it('are parsed from the right, because a name may contain a slash', () => {
    const parts = {
      token: '12345678901234567890',
      customerName: 'RINA S/D HARTONO',
      tariff: 'R1',
      power: '900VA',
      kwh: '71,3',
    };
    expect(parsePlnToken('1234-5678-9012-3456-7890/RINA S/D HARTONO/R1/900VA/71,3')).to.deep.equal(parts);
    expect(parsePlnToken('12345678901234567890/RINA S/D HARTONO/R1/900VA/71.3kWh')).to.deep.equal(parts);
    expect(parsePlnToken('1234 5678 9012 3456 7890/ /R1M/900VA/71')?.customerName).to.equal('');
  });

  for (const [written, kwh] of [
    ['6.921,40', '6.921,40'],
    ['6.921,40 kWh', '6.921,40'],
    ['6,921.40', '6.921,40'],
    ['6921,40KWH', '6921,40'],
    ['6921.4', '6921,4'],
    ['1.234.567,8', '1.234.567,8'],
    ['1,234,567', '1.234.567'],
    ['0,713', '0,713'],
    ['71,30', '71,30'],
    ['71', '71'],
    // Seven kWh or almost seven thousand: only the provider knows.
    ['6.921', '6.921'],
    ['6,921', '6,921'],
  ] as const) {
    it(`keep the energy ${written} as ${kwh}`, () => {
      const parsed = parsePlnToken(`12345678901234567890/BUDI/R1/900VA/${written}`);
      expect(parsed).to.include({ customerName: 'BUDI', kwh });
    });
  }

  it('show their energy to readers of English, if it can be read in one way only', () => {
    expect(['6.921,40', '71', '0,713', '6.921', '6,921'].map((kwh) => formatEnergy(kwh, 'en'))).to.deep.equal(
      ['6,921.40', '71', '0.713', '6.921', '6,921'],
    );
    expect(formatEnergy('6.921,40', 'id')).to.equal('6.921,40');
  });

  for (const [rest, tariff, power] of [
    ['/BUDI/R1/900VA/71,3', 'R1', '900VA'],
    [' / BUDI / R1M / 900 VA / 71,3 KWH', 'R1M', '900 VA'],
    ['/BUDI/R1/000000900/71.3', 'R1', '000000900'],
    ['/BUDI/R1M-900VA/71,3', 'R1M', '900VA'],
    ['/BUDI/R1 1300VA/71.3kWh', 'R1', '1300VA'],
    ['/NAMA:BUDI/TARIF:R1/DAYA:900VA/KWH:71,3', 'R1', '900VA'],
    ['/BUDI/R1/71,3/900VA', 'R1', '900VA'],
    ['/BUDI/71,3/R1/900VA', 'R1', '900VA'],
    ['/BUDI/71,3kWh/R1T/900', 'R1T', '900'],
    ['/71,3/BUDI/R1/900VA', 'R1', '900VA'],
    ['/71,3/BUDI/R1/900', 'R1', '900'],
    ['/R1/900VA/71,3kWh/BUDI', 'R1', '900VA'],
    ['/BUDI/900VA/R1/71,3/REF-0012', 'R1', '900VA'],
    ['/BUDI/R1/900VA/71,3/0REF0012', 'R1', '900VA'],
    ['|BUDI|R1|900VA|71,3', 'R1', '900VA'],
    ['*BUDI*R1*900VA*71,3', 'R1', '900VA'],
  ] as const) {
    it(`are parsed in the form …${rest}`, () => {
      const expected = { token: '12345678901234567890', customerName: 'BUDI', tariff, power, kwh: '71,3' };
      expect(parsePlnToken(`1234-5678-9012-3456-7890${rest}`)).to.deep.equal(expected);
      expect(parsePlnToken(`Token: 12345678901234567890${rest}`)).to.deep.equal(expected);
    });
  }

  it('are distinguished from every other serial number', () => {
    const others = [
      '0041002345678901',
      '1234-5678-9012-3456-7890',
      '1234-5678-9012-3456-7890/NAME/R1/900VA',
      '1234-5678-9012-3456-7890/NAME/R1/900VA/much',
      '1234-5678-9012-3456-7890/NAME/R1/900VA/6.92.1,40',
      '1234-5678-9012-3456-7890/NAME/R1/900VA/71,3,',
      '1234-5678-9012-3456-7890/NAME/OTHER/900VA/1300VA',
      '1234-5678-9012-3456/NAME/R1/900VA/71,3',
      'x1234-5678-9012-3456-7890/NAME/R1/900VA/71,3',
    ];
    for (const other of others) {
      expect(parsePlnToken(other), other).to.equal(null);
    }
  });

  it('are formatted in groups of four, however the provider wrote them', () => {
    const tail = '/NAME/R1/900VA/71,3';
    const read = (serialNumber: string, subcategory = 'pln') => formatToken({ subcategory, serialNumber });
    for (const token of ['12345678901234567890', '1234-5678-9012-3456-7890', '1234 5678 9012 3456 7890']) {
      expect(read(token)).to.equal('1234-5678-9012-3456-7890');
      expect(read(token + tail)).to.equal(`1234-5678-9012-3456-7890${tail}`);
      expect(read(token, 'pulsa'), 'token of another product').to.equal(token);
    }
    expect(['0041002345678901', '123456789012345678901', '***', ''].map((each) => read(each))).to.deep.equal([
      '0041002345678901',
      '123456789012345678901',
      '***',
      '',
    ]);
    expect(formatToken({ subcategory: 'pln', serialNumber: null })).to.equal(null);
  });

  describe('sold twice', () => {
    useDatabase();

    const token = '1234-5678-9012-3456-7890';
    for (const [again, isCase] of [
      [`${token}/BUDI/R1/900VA/71,3`, true],
      [`${token}/BUDI S/R1T/900VA/71.3`, true],
      [`${token.replaceAll('-', '')}/BUDI/R1/900VA/71,3`, true],
      ['1234-5678-9012-3456-7891/BUDI/R1/900VA/71,3', false],
      [token, false],
    ] as const) {
      it(`open ${isCase ? 'a' : 'no'} case: ${again}`, async () => {
        const [first, second, productCode] = [newId(), newId(), `PLN-${newId()}`];
        // Insert only the fields that the query reads.
        await PurchaseModel.collection.insertOne({
          _id: first as never,
          accountId: first,
          refId: first,
          productCode,
          serialNumber: `${token}/BUDI/R1/900VA/71,3`,
        });
        await reportRepeatedSerialNumber({ _id: second, productCode }, again);
        expect(await CaseModel.countDocuments({ transactionId: second })).to.equal(isCase ? 1 : 0);
        await reportRepeatedSerialNumber({ _id: second, productCode: newId() }, again);
        expect(await CaseModel.countDocuments({ transactionId: second })).to.equal(isCase ? 1 : 0);
        await PurchaseModel.deleteOne({ _id: first });
        await CaseModel.deleteMany({ transactionId: second });
      });
    }
  });
});
