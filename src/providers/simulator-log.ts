import Joi from 'joi';
import type { ProviderConnection, ProviderRecordRow, Reading } from './adapter.js';
import { readJson } from './json-response.js';
import { callHttp } from './http.js';

interface Row {
  at: string;
  ref_id: string;
}
const schema = Joi.object<{ rows: Row[] }>({
  rows: Joi.array()
    .items(Joi.object({ at: Joi.string().isoDate().required(), ref_id: Joi.string().required() }))
    .required(),
});

/** Reads the simulator's log of the orders that it executed for us. Used for reconciliation. */
export async function readSimulatorLog(
  connection: ProviderConnection,
  { since, until }: { since: Date; until: Date },
): Promise<Reading<ProviderRecordRow[]>> {
  const url = new URL(`${connection.baseUrl.replace(/\/+$/, '')}/log`);
  url.searchParams.set('provider', connection.username);
  url.searchParams.set('since', since.toISOString());
  url.searchParams.set('until', until.toISOString());
  const answer = await callHttp({
    method: 'GET',
    url,
    timeoutMs: 30_000,
    bodyBytesMax: 67_108_864,
    sellerId: connection.sellerId,
  });
  // The log is a bare array, but the schema expects an object.
  const read = readJson(
    answer.kind === 'answer' ? { ...answer, text: `{"rows":${answer.text}}` } : answer,
    schema,
  );
  if (read.kind !== 'read') {
    return { ok: false, code: read.code, message: read.message };
  }
  const value = read.body.rows.map(({ at, ref_id: providerRef }) => ({
    providerRef,
    at: new Date(at),
    status: 'success' as const,
    serialNumber: null,
  }));
  return { ok: true, value };
}
