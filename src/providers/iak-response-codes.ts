import { lookUp } from '../shared/collections.js';
import type { ResponseCode } from '../shared/errors.js';

/**
 * Meaning of each response code of IAK for an order (docs/explanation/iak.md). Source:
 * the pages "Response Code" of the prepaid and of the postpaid API at api.iak.id. The two APIs give
 * different meanings to the same code. An unlisted code is unknown.
 */
export type IakMeaning =
  | { class: 'success' | 'pending' | 'unknown' }
  /** Only a status check can say this. In any other response it proves nothing. */
  | { class: 'not-found' }
  | {
      class: 'refused';
      failover: 'yes' | 'no' | 'confirm';
      clientCode: ResponseCode;
      fault?: 'configuration' | 'float' | 'outage';
      /** True if the refusal concerns the call, so that a status check says nothing about the order. */
      aboutCall?: true;
      /** The failover of a `confirm` code when a status check returns it. Absent means `yes`. */
      confirmed?: 'no';
    };

const success: IakMeaning = { class: 'success' };
const pending: IakMeaning = { class: 'pending' };
const unknown: IakMeaning = { class: 'unknown' };
const notFound: IakMeaning = { class: 'not-found' };
const wrongNumber: IakMeaning = { class: 'refused', failover: 'no', clientCode: '04' };
/** The number is blocked or limited at IAK, not at its operator. */
const blockedHere: IakMeaning = { class: 'refused', failover: 'yes', clientCode: '04' };
const customerMistake: IakMeaning = { class: 'refused', failover: 'no', clientCode: '01' };
const failed: IakMeaning = { class: 'refused', failover: 'yes', clientCode: '01' };
const notSold: IakMeaning = { class: 'refused', failover: 'yes', clientCode: '02' };
const otherSeller: IakMeaning = { class: 'refused', failover: 'yes', clientCode: '03' };
const confirmFailover: IakMeaning = { class: 'refused', failover: 'confirm', clientCode: '03' };
/** Perhaps we paid the bill ourselves, by a request whose response was lost. */
const alreadyPaid: IakMeaning = {
  class: 'refused',
  failover: 'confirm',
  clientCode: '01',
  confirmed: 'no',
};
// "Insufficient deposit" means our balance at IAK. Clients never see it.
const floatFault: IakMeaning = { class: 'refused', failover: 'yes', clientCode: '03', fault: 'float' };
const configurationFault: IakMeaning = {
  class: 'refused',
  failover: 'yes',
  clientCode: '03',
  fault: 'configuration',
  aboutCall: true,
};
const outage: IakMeaning = { ...configurationFault, fault: 'outage' };

export const prepaidMeanings: Readonly<Record<string, IakMeaning>> = {
  '00': success,
  '06': notFound,
  '07': failed,
  '10': otherSeller, // limit of this number for a day
  '12': failed, // maximum balance exceeded; whose is not documented
  '13': blockedHere,
  '14': wrongNumber,
  '16': wrongNumber, // number of another operator
  '17': floatFault,
  '18': failed, // eSIM number not available
  '19': failed, // eSIM number in use
  '20': notSold,
  '39': pending,
  '102': configurationFault, // our IP address is not allowed
  '106': otherSeller, // product out of service
  '107': configurationFault, // format of the request
  '110': outage, // maintenance
  '117': configurationFault, // unknown address
  '118': configurationFault, // account suspended
  '121': failed, // monthly limit of the number
  '131': wrongNumber, // region of the player
  '141': wrongNumber,
  '142': wrongNumber,
  '201': unknown, // documented as pending, "undefined yet"
  '202': otherSeller, // once a day for one number, by our settings at IAK
  '203': wrongNumber, // too long
  '204': configurationFault, // wrong signature
  '205': configurationFault, // unknown command
  '206': blockedHere, // by our settings at IAK
  '207': otherSeller, // once a day for one number with any product
};

export const postpaidMeanings: Readonly<Record<string, IakMeaning>> = {
  '00': success,
  '01': alreadyPaid,
  '02': notFound, // inquired, not paid
  '03': configurationFault, // format of our reference
  // The inquiry has expired. A status check with this code may only mean that IAK forgot it.
  '04': { class: 'refused', failover: 'yes', clientCode: '03', aboutCall: true },
  '05': unknown, // documented as pending
  '06': notFound, // no such inquiry
  '07': failed,
  '08': blockedHere,
  '09': otherSeller, // inquiry failed
  '10': { class: 'refused', failover: 'no', clientCode: '02' }, // no bill yet
  '11': unknown, // our reference was used before
  '13': blockedHere,
  '14': wrongNumber,
  '15': wrongNumber, // not supported by the product
  '16': wrongNumber, // number of another operator
  '17': floatFault,
  '20': notSold,
  '30': customerMistake, // to be paid at the counter
  '31': failed, // bill above the maximum
  '32': customerMistake, // all periods must be paid
  '33': otherSeller, // try again later
  '34': alreadyPaid,
  '35': customerMistake, // another unpaid arrear
  '36': customerMistake, // past its due date
  '37': failed,
  '38': failed,
  '39': pending,
  '40': alreadyPaid,
  '41': customerMistake, // to be paid to the company
  '42': notFound, // payment not received
  '91': confirmFailover, // database error
  '92': unknown, // "undefined yet"
  '93': customerMistake, // invalid amount
  '94': otherSeller, // service has expired
  '100': configurationFault, // wrong signature
  '101': configurationFault, // unknown command
  '102': configurationFault, // our IP address is not allowed
  '103': confirmFailover, // timeout
  '105': confirmFailover, // error of the biller
  '106': otherSeller, // product out of service
  '107': configurationFault, // format of the request
  '108': wrongNumber, // number not usable for the product
  '109': otherSeller, // cut-off
  '110': outage, // maintenance
  '117': configurationFault, // unknown address
  '118': configurationFault, // account suspended
  '201': unknown, // documented as pending, "undefined yet"
};

export function getPrepaidMeaning(code: string): IakMeaning {
  return lookUp(prepaidMeanings, code) ?? unknown;
}

export function getPostpaidMeaning(code: string): IakMeaning {
  return lookUp(postpaidMeanings, code) ?? unknown;
}
