import { lookUp } from '../shared/collections.js';
import type { ResponseCode } from '../shared/errors.js';

/**
 * Meaning of each `rc` of Digiflazz for an order (docs/explanation/outcomes.md#outcomes). An
 * unlisted code is unknown: it triggers neither a second purchase nor a refund.
 */
export type RcMeaning =
  | { class: 'success' | 'pending' | 'unknown' | 'reversed' | 'review' }
  | {
      class: 'refused';
      failover: 'yes' | 'no' | 'confirm';
      clientCode: ResponseCode;
      fault?: 'configuration' | 'float';
      /**
       * True if the refusal concerns the call. In response to a status check it says nothing about
       * the order.
       */
      aboutCall?: true;
    };

const wrongNumber: RcMeaning = { class: 'refused', failover: 'no', clientCode: '04' };
const customerMistake: RcMeaning = { class: 'refused', failover: 'no', clientCode: '01' };
const otherSeller: RcMeaning = { class: 'refused', failover: 'yes', clientCode: '03' };
const confirmFailover: RcMeaning = { class: 'refused', failover: 'confirm', clientCode: '03' };
const configurationFault: RcMeaning = {
  class: 'refused',
  failover: 'yes',
  clientCode: '03',
  fault: 'configuration',
  aboutCall: true,
};
// "Insufficient balance" means our balance at Digiflazz. Clients never see it.
const floatFault: RcMeaning = { ...configurationFault, fault: 'float' };
const review: RcMeaning = { class: 'review' };
/** Digiflazz documents this code for another call. In response to an order it proves nothing. */
const otherCall: RcMeaning = { class: 'unknown' };

export const rcMeanings: Readonly<Record<string, RcMeaning>> = {
  '00': { class: 'success' },
  '01': confirmFailover, // timeout
  '02': { class: 'refused', failover: 'yes', clientCode: '01' }, // failed
  '03': { class: 'pending' },
  '40': configurationFault, // payload error
  '41': configurationFault, // wrong signature
  '42': configurationFault, // buyer API could not be processed
  '43': { class: 'refused', failover: 'yes', clientCode: '02' }, // SKU not found or inactive
  '44': floatFault, // balance too low
  '45': configurationFault, // unknown address
  '47': review, // already done at another buyer
  '49': review, // ref_id not unique
  '50': review, // transaction not found
  '51': wrongNumber, // number blocked
  '52': wrongNumber, // prefix of another operator
  '53': otherSeller, // seller's product not available
  '54': wrongNumber,
  '55': otherSeller, // product disrupted
  '56': otherSeller, // limit of the seller's balance
  '57': wrongNumber, // number of digits
  '58': otherSeller, // cut-off
  '59': wrongNumber, // outside the region
  '60': { class: 'refused', failover: 'no', clientCode: '02' }, // no bill yet
  '61': floatFault, // never deposited
  '62': otherSeller, // seller disrupted
  '63': otherSeller, // no repeated transactions
  '64': { class: 'refused', failover: 'yes', clientCode: '01' }, // ticket could not be drawn
  '66': otherSeller, // seller's system in maintenance
  '67': otherSeller, // seller has no server
  '68': otherSeller, // out of stock
  '69': otherSeller, // above our maximum price
  '70': confirmFailover, // timeout of the biller
  '71': otherSeller, // product unstable
  '72': customerMistake, // a package must be ended first
  '73': customerMistake, // over the kWh limit
  '74': { class: 'reversed' },
  '80': otherSeller, // blocked by the seller
  '81': otherSeller, // seller blocked by us
  '82': configurationFault, // account not verified
  '83': otherCall, // limit of the price list
  '84': customerMistake, // invalid amount
  '85': otherSeller, // transactions limited
  '86': otherCall, // limit of PLN inquiries
  '87': customerMistake, // e-money in multiples of 1,000
  '88': configurationFault,
  '99': { class: 'unknown' }, // router issue
};

export function getRcMeaning(rc: string): RcMeaning {
  return lookUp(rcMeanings, rc) ?? { class: 'unknown' };
}

/**
 * True if `status` does not contradict `rc`. If they contradict each other, the outcome is unknown.
 */
export function isConsistent(rcClass: string, status: string | null | undefined): boolean {
  switch (status) {
    case 'Sukses':
      return rcClass === 'success' || rcClass === 'reversed';
    case 'Pending':
      return rcClass === 'pending' || rcClass === 'unknown';
    case 'Gagal':
      return rcClass !== 'success' && rcClass !== 'pending';
    case '':
    case null:
    case undefined:
      return rcClass !== 'success';
    default:
      return false;
  }
}
