/** Meaning and HTTP status of each `reason`. The contract and its documentation use this table. */
import type { FailureReason } from '../../shared/errors.js';

interface Meaning {
  /**
   * Null for reasons that occur only on the reseller surface, which always responds with HTTP 200.
   */
  httpStatus: number | null;
  meaning: string;
}

export const reasons: Record<FailureReason, Meaning> = {
  invalid_request: { httpStatus: 400, meaning: 'A field or parameter is wrong; `errors` names each one.' },
  malformed_body: { httpStatus: 400, meaning: 'The body or the path is malformed.' },
  wrong_product_kind: {
    httpStatus: 400,
    meaning: 'A postpaid product in a call for prepaid products, or the reverse.',
  },
  credentials_missing: { httpStatus: 401, meaning: 'The API key, or username and sign, are missing.' },
  invalid_key: {
    httpStatus: 401,
    meaning: 'The API key is unknown, revoked, or of the wrong mode (live or test).',
  },
  invalid_token: { httpStatus: 401, meaning: 'The access token or download link is no longer valid.' },
  invalid_sign: {
    httpStatus: 401,
    meaning: 'Username or sign is wrong, or the account does not accept md5.',
  },
  invalid_signature: {
    httpStatus: 401,
    meaning: 'The signature or timestamp of a notification or callback is wrong.',
  },
  insufficient_balance: {
    httpStatus: 402,
    meaning: 'The balance is too small; `data_hint` has `balance` and `price`.',
  },
  address_not_allowed: { httpStatus: 403, meaning: 'The address is not on the IP allowlist.' },
  wrong_role: { httpStatus: 403, meaning: 'The key belongs to the other role.' },
  account_suspended: { httpStatus: 403, meaning: 'The account is suspended.' },
  current_key_required: {
    httpStatus: 403,
    meaning: 'The call requires the current API key, not an access token or a replaced key.',
  },
  sandbox_only: { httpStatus: 403, meaning: 'The call works only in a sandbox, with a test key.' },
  forbidden: { httpStatus: 403, meaning: 'The call is not allowed; `message` says why.' },
  not_found: { httpStatus: 404, meaning: 'The object does not exist or is not yours.' },
  product_not_found: { httpStatus: 404, meaning: 'No product with this code is on sale.' },
  meter_check_not_offered: {
    httpStatus: 404,
    meaning: 'No seller of the product can check who owns a meter.',
  },
  method_not_allowed: {
    httpStatus: 405,
    meaning: 'The method is not allowed; `Allow` lists the allowed methods.',
  },
  conflict: { httpStatus: 409, meaning: 'The call conflicts with the current state; `message` says how.' },
  ref_id_conflict: { httpStatus: 409, meaning: 'The ref_id was used with other parameters.' },
  price_above_max: { httpStatus: 409, meaning: 'The price is above max_price.' },
  product_code_taken: { httpStatus: 409, meaning: 'The product code is taken.' },
  product_limit_reached: { httpStatus: 409, meaning: 'The seller has reached its product limit.' },
  bill_already_paid: { httpStatus: 409, meaning: 'The biller reports that the bill is already paid.' },
  bill_being_paid: { httpStatus: 409, meaning: 'Another request is paying this bill.' },
  delivery_superseded: { httpStatus: 409, meaning: 'A newer event of the same transaction replaced it.' },
  webhook_url_missing: { httpStatus: 409, meaning: 'No webhook URL is set, or the endpoint was removed.' },
  webhook_url_taken: { httpStatus: 409, meaning: 'Another endpoint of the account has this URL.' },
  webhook_endpoint_limit_reached: {
    httpStatus: 409,
    meaning: 'The account has the maximum number of webhook endpoints.',
  },
  report_failed: { httpStatus: 409, meaning: 'The report could not be generated; request a new one.' },
  receipt_not_available: { httpStatus: 409, meaning: 'Only a successful transaction has a receipt.' },
  end_not_possible: {
    httpStatus: 409,
    meaning: 'The simulator cannot give the transaction this result; `message` says why.',
  },
  body_too_large: { httpStatus: 413, meaning: 'The body is larger than allowed.' },
  unsupported_media_type: {
    httpStatus: 415,
    meaning: 'The content type, character set or compression is not supported.',
  },
  invalid_customer_number: { httpStatus: 422, meaning: 'The customer number is not valid for the product.' },
  rate_limited: { httpStatus: 429, meaning: 'Too many calls; wait `Retry-After` seconds.' },
  internal_error: { httpStatus: 500, meaning: 'Something went wrong on our side.' },
  product_unavailable: {
    httpStatus: 503,
    meaning: 'The product, or every seller of it, is under maintenance.',
  },
  product_cut_off: { httpStatus: 503, meaning: 'The product is not sold at this time of day.' },
  product_busy: { httpStatus: 503, meaning: 'Too many orders are waiting for the product.' },
  biller_unavailable: { httpStatus: 503, meaning: 'The biller is not responding.' },
  service_unavailable: {
    httpStatus: 503,
    meaning: 'The service is recovering. The outcome is unknown: repeat the request with the same ref_id.',
  },
  transaction_failed: { httpStatus: null, meaning: 'The transaction failed and its price was refunded.' },
};

/** Returns the reasons that can occur with an HTTP status. */
export function listReasons(httpStatus: number): FailureReason[] {
  return (Object.keys(reasons) as FailureReason[]).filter((each) => reasons[each].httpStatus === httpStatus);
}
