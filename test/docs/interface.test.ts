import { expect } from 'chai';
import { limits } from '../../config/limits.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { reasons } from '../../src/api/contract/failure-reasons.js';
import type { Schema } from '../../src/api/openapi/types.js';
import { textOfPages } from '../support/docs-pages.js';

describe('docs/reference/api', () => {
  const document = describedInterface();
  let text: string;

  before(() => {
    text = textOfPages('reference/api');
  });

  it('has every call, by method and path', () => {
    // The page writes one path for both roles, with parameters in angle brackets.
    const written = [...text.matchAll(/`(?:GET|POST|PUT|PATCH|DELETE) (\/[^`?]+)/g)].map(([call]) =>
      call.slice(1).replace(/<[^>]+>/g, '<>'),
    );
    expect(written.length).to.be.greaterThan(40);
    // One sentence covers `GET` and `POST /api/<role>/api/config`.
    const known = new Set([...written, 'GET /api/<>/api/config']);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) {
        const call = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '<>')}`;
        const ofBothRoles = call.replace(/\/api\/(?:buyer|seller)\//, '/api/<>/');
        expect(known.has(call) || known.has(ofBothRoles), call).to.equal(true);
      }
    }
  });

  it('has exactly the known reasons, with HTTP status and meaning', () => {
    const [section = ''] = /## Reasons[\s\S]*?(?=\n## )/.exec(textOfPages('reference')) ?? [];
    const rows = [
      ...section.matchAll(/^\| `(\w+)` \| (\d{3})(?:, reseller surface)? \| ([^|]+) \| [^|]+ \|$/gm),
    ];
    const written = rows.map(([, reason, status, meaning]) => `${reason} ${status} ${meaning}`);
    const known = Object.entries(reasons).map(
      ([reason, { httpStatus, meaning }]) => `${reason} ${httpStatus ?? 200} ${meaning}`,
    );
    expect(written).to.deep.equal(known);
  });

  it('names no call that does not exist', () => {
    const templates = Object.keys(document.paths).map(
      (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+').replace(/buyer|seller/, '(?:$&|<role>)')}$`),
    );
    const named = [...text.matchAll(/`(?:GET|POST|PUT|PATCH|DELETE) (\/(?:v1|api\/(?!providers))[^` ?]*)/g)];
    for (const [, path = ''] of named.filter(([, each = '']) => !each.includes('…'))) {
      expect(
        templates.some((each) => each.test(path)),
        path,
      ).to.equal(true);
    }
  });

  it('names every field that a call takes or returns', () => {
    const names = new Set<string>();
    for (const operation of Object.values(document.paths).flatMap((each) => Object.values(each))) {
      operation.parameters.forEach(({ name }) => names.add(name));
      const contents = [
        operation.requestBody?.content,
        ...Object.values(operation.responses).map((each) => ('content' in each ? each.content : undefined)),
      ];
      for (const { schema } of contents.flatMap((content) => Object.values(content ?? {}))) {
        fieldsOf(schema).forEach((name) => names.add(name));
      }
    }
    expect(names.size).to.be.greaterThan(100);
    // Path parameters are written as `<id>`. The fields of a delivery attempt are documented in
    // docs/guides/integrate/find-missing-webhooks.md.
    const elsewhere = ['ref', 'number', 'at', 'http_status', 'duration_ms', 'ack', 'answer', 'error'];
    const ofDeliveries = ['attempt_count', 'attempts', 'payload', 'url', 'delivered', 'attempt', 'held'];
    const missing = [...names].filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(text) && ![...elsewhere, ...ofDeliveries].includes(name),
    );
    expect(missing).to.deep.equal([]);
  });

  it('names every event that we send', () => {
    for (const event of Object.keys(document.webhooks)) {
      expect(text).to.include(`\`${event}\``);
    }
  });

  it('has the limits that the service enforces', () => {
    const shown = [
      limits.bodyBytesMax,
      limits.depositMin,
      limits.settlementMin,
      limits.historyDaysMax,
      limits.rateLimitDefault,
      limits.rateLimitMax,
      limits.pageSizeMax,
      limits.keyOverlapMinutesMax,
      limits.urlLengthMax,
    ];
    for (const bound of shown) {
      expect(text).to.include(bound.toLocaleString('en-US'));
    }
  });
});

/** Returns the names of all properties, at any depth. */
function fieldsOf(schema: Schema): string[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => [name, ...fieldsOf(each)]),
    ...(schema.items ? fieldsOf(schema.items) : []),
    ...[...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(fieldsOf),
  ];
}
