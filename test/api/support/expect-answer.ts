import { expect } from 'chai';
import { reasons } from '../../../src/api/contract/failure-reasons.js';
import type { FailureReason } from '../../../src/shared/errors.js';
import type { AnyOperation } from '../../../src/api/contract/operation.js';
import type { AnyResellerOperation } from '../../../src/api/reseller/reseller-operation.js';
import type { Answer } from '../../support/api-client.js';

/**
 * Expects the success envelope of docs/reference/api/conventions.md#envelope with exactly the
 * `data` of the operation's contract.
 */
export function expectSuccess(
  answer: Answer,
  operation: AnyOperation,
  expected: { status?: number; code?: string } = {},
): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(expected.status ?? 200);
  expect(answer.body).to.include({ status: 'success', code: expected.code ?? '00' });
  expect(Object.keys(answer.body as object)).to.have.members([
    'status',
    'code',
    'data',
    ...('message' in answer.body ? ['message'] : []),
  ]);
  const { data, unfinishedData = data } = operation;
  const shape = answer.status === 202 ? unfinishedData : data;
  const { error } = shape.validate(answer.body.data, { convert: false });
  expect(error?.message, `data of ${operation.id}`).to.equal(undefined);
}

/** Expects the failure envelope of docs/reference/api/conventions.md#envelope. */
export function expectFailure(
  answer: Answer,
  expected: {
    status: number;
    code: string;
    reason?: FailureReason;
    field?: string;
    message?: RegExp;
    retryAfterMaxS?: number;
  },
): void {
  const shown = JSON.stringify(answer.body);
  expect(answer.status, shown).to.equal(expected.status);
  expect(answer.body, shown).to.include({ status: 'error', code: expected.code, data: null });
  expect(answer.body.message, shown).to.be.a('string').that.is.not.equal('');
  expect(answer.body.request_id).to.equal(answer.headers['x-request-id']);
  expect(Object.keys(answer.body as object)).to.have.members([
    'status',
    'code',
    'reason',
    'message',
    'data',
    'request_id',
    ...('errors' in answer.body ? ['errors'] : []),
    ...(expected.status === 402 ? ['data_hint'] : []),
  ]);
  const reason = answer.body.reason as FailureReason;
  expect(reasons, shown).to.have.property(reason);
  expect(reasons[reason].httpStatus, shown).to.equal(expected.status);
  if (expected.reason !== undefined) {
    expect(reason, shown).to.equal(expected.reason);
  }
  if (expected.field !== undefined) {
    const fields = (answer.body.errors as { field: string }[]).map((each) => each.field.split('.')[0]);
    expect(fields, shown).to.include(expected.field);
  }
  if (expected.message) {
    expect(answer.body.message).to.match(expected.message);
  }
  if ([429, 503].includes(expected.status)) {
    expect(Number(answer.headers['retry-after']), 'Retry-After').to.be.within(
      1,
      expected.retryAfterMaxS ?? 60,
    );
  }
}

/** Expects the reseller envelope: HTTP 200 with no-store for any `status`. */
export function expectReseller(
  answer: Answer,
  operation: AnyResellerOperation,
  expected: { status: string } & Record<string, unknown>,
): void {
  const shown = JSON.stringify(answer.body);
  expect(answer.status, shown).to.equal(200);
  expect(answer.headers['cache-control']).to.equal('no-store');
  expect(answer.body, shown).to.include(expected);
  expect(answer.body.message, shown).to.be.a('string').that.is.not.equal('');
  if (expected.status === '00') {
    const { status: _status, message: _message, ...rest } = answer.body as Record<string, unknown>;
    for (const [name, schema] of Object.entries(operation.answer)) {
      expect(schema.validate(rest[name], { convert: false }).error?.message, `${name} of ${shown}`).to.equal(
        undefined,
      );
    }
    expect(Object.keys(rest)).to.have.members(Object.keys(operation.answer));
  }
}
