/** Meaning and HTTP status of each `reason`. The contract and its documentation use this table. */
import type { FailureReason } from '../../shared/errors.js';

interface Meaning {
  /** Null: only on the reseller surface, which always answers 200. */
  httpStatus: number | null;
  meaning: string;
}

export const reasons: Record<FailureReason, Meaning> = {
  invalid_request: { httpStatus: 400, meaning: 'A field or parameter is wrong; `errors` names each.' },
  malformed_body: { httpStatus: 400, meaning: 'The body, or the path, cannot be read.' },
  wrong_product_kind: {
    httpStatus: 400,
    meaning: 'A postpaid product at a call for prepaid ones, or the reverse.',
  },
  credentials_missing: { httpStatus: 401, meaning: 'No key, or no username and sign.' },
  invalid_key: { httpStatus: 401, meaning: 'The API key is unknown, revoked, or of the other mode.' },
  invalid_token: { httpStatus: 401, meaning: 'The access token or download link is not valid any more.' },
  invalid_sign: { httpStatus: 401, meaning: 'Username or sign is wrong, or md5 is not taken.' },
  invalid_signature: { httpStatus: 401, meaning: 'The signature or time of a notice or callback is wrong.' },
  insufficient_balance: {
    httpStatus: 402,
    meaning: 'The balance does not cover it; `data_hint` has `balance` and `price`.',
  },
  address_not_allowed: { httpStatus: 403, meaning: 'The address is not on the IP allowlist.' },
  wrong_role: { httpStatus: 403, meaning: 'The key belongs to the other role.' },
  account_suspended: { httpStatus: 403, meaning: 'The account is suspended.' },
  current_key_required: {
    httpStatus: 403,
    meaning: 'Only the current API key may: not a token, not a replaced key.',
  },
  sandbox_only: { httpStatus: 403, meaning: 'Only in a sandbox, with a test key.' },
  forbidden: { httpStatus: 403, meaning: 'Not allowed for another reason; `message` says which.' },
  not_found: { httpStatus: 404, meaning: 'There is no such thing, or it is not yours.' },
  product_not_found: { httpStatus: 404, meaning: 'There is no such product on sale.' },
  meter_check_not_offered: {
    httpStatus: 404,
    meaning: 'Nobody who sells the product can tell whose meter it is.',
  },
  method_not_allowed: { httpStatus: 405, meaning: 'Another method; `Allow` names it.' },
  conflict: { httpStatus: 409, meaning: 'What exists does not fit; `message` says what.' },
  ref_id_conflict: { httpStatus: 409, meaning: 'The ref_id was used with other parameters.' },
  price_above_max: { httpStatus: 409, meaning: 'The price is above max_price.' },
  product_code_taken: { httpStatus: 409, meaning: 'The product code is taken.' },
  product_limit_reached: { httpStatus: 409, meaning: 'The seller sells as many products as it may.' },
  bill_already_paid: { httpStatus: 409, meaning: 'The biller says that it is paid.' },
  bill_being_paid: { httpStatus: 409, meaning: 'Another request pays this bill now.' },
  delivery_superseded: { httpStatus: 409, meaning: 'A newer event of the same transaction replaced it.' },
  webhook_url_missing: { httpStatus: 409, meaning: 'Set a URL first, or the endpoint was removed.' },
  webhook_url_taken: { httpStatus: 409, meaning: 'Another endpoint of the account has this URL.' },
  webhook_endpoint_limit_reached: { httpStatus: 409, meaning: 'Remove an endpoint first.' },
  report_failed: { httpStatus: 409, meaning: 'The report could not be made; ask for a new one.' },
  receipt_not_available: { httpStatus: 409, meaning: 'Only a transaction that is a success has a receipt.' },
  end_not_possible: {
    httpStatus: 409,
    meaning: 'The simulator cannot end the transaction so; `message` says why.',
  },
  body_too_large: { httpStatus: 413, meaning: 'The body is above its limit.' },
  unsupported_media_type: { httpStatus: 415, meaning: 'Another type, character set or compression.' },
  invalid_customer_number: { httpStatus: 422, meaning: 'The customer number does not fit.' },
  rate_limited: { httpStatus: 429, meaning: 'Too many calls; wait `Retry-After` seconds.' },
  internal_error: { httpStatus: 500, meaning: 'Something went wrong on our side.' },
  product_unavailable: { httpStatus: 503, meaning: 'The product, or every seller of it, is in maintenance.' },
  product_cut_off: { httpStatus: 503, meaning: 'Not sold at this time of day.' },
  product_busy: { httpStatus: 503, meaning: 'Too many orders wait for it.' },
  biller_unavailable: { httpStatus: 503, meaning: 'The biller does not answer.' },
  service_unavailable: {
    httpStatus: 503,
    meaning: 'The service recovers; it may have been done: the same request again, same ref_id.',
  },
  transaction_failed: { httpStatus: null, meaning: 'The transaction exists and failed; its price is back.' },
};

/** Returns the reasons that can occur with an HTTP status. */
export function listReasons(httpStatus: number): FailureReason[] {
  return (Object.keys(reasons) as FailureReason[]).filter((each) => reasons[each].httpStatus === httpStatus);
}
