import { expect } from 'chai';
import { formatBusinessDay, addDays } from '../../../src/shared/business-time.js';
import { readBankStatement } from '../../../src/deposits/bank/read-bank-statement.js';

const day = addDays(formatBusinessDay(new Date()), -1);
const entry = (amount: string, direction: string, status: string) =>
  `<Ntry><Amt Ccy="IDR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${status}<BookgDt><Dt>${day}</Dt></BookgDt><NtryRef>TOPUP1</NtryRef></Ntry>`;
const balance = (kind: string, amount: string) =>
  `<Bal><Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp><Amt Ccy="IDR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>`;
const read = (entries: string) =>
  readBankStatement(
    Buffer.from(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr><Stmt><Id>1</Id><Acct><Ccy>IDR</Ccy></Acct>${balance('OPBD', '1000.00')}${balance('CLBD', '61001.00')}${entry('60001.00', 'CRDT', '<Sts><Cd>BOOK</Cd></Sts>')}${entries}</Stmt></BkToCstmrStmt></Document>`,
    ),
  );

describe('the status of an entry of a camt.053 statement', () => {
  for (const status of ['<Sts>INFO</Sts>', '<Sts><Cd>FUTR</Cd></Sts>', '<Sts><Cd>PDNG</Cd></Sts>', '']) {
    it(`${status || 'absent'} is no payment, though the balances agree`, async () => {
      const { incoming, outgoing, refused } = await read(
        entry('70001.00', 'CRDT', status) + entry('70001.00', 'DBIT', status),
      );
      expect(incoming.map(({ amount }) => amount)).to.deep.equal([60_001]);
      expect(outgoing).to.equal(0);
      expect(refused.map(({ line, why }) => [line, why])).to.deep.equal([
        [2, 'not-booked'],
        [3, 'not-booked'],
      ]);
    });
  }
});
