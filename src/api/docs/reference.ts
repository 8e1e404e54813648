import { html, type Html } from '../../shared/html.js';
import { lookUp } from '../../shared/collections.js';
import { resellerOperations } from '../operations.js';
import { describedInterface, openApiDocument } from '../openapi/document.js';
import type { DescribedOperation, Parameter, Response } from '../openapi/types.js';
import { describeSchema, buildSchemaRows, type SchemaRow } from './schema-rows.js';

export interface Call {
  method: string;
  path: string;
  operation: DescribedOperation;
}

let cachedCalls: Call[] | null = null;

export function listCalls(): Call[] {
  cachedCalls ??= Object.entries(describedInterface().paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return cachedCalls;
}

export function renderReferenceIndex(): Html {
  const { tags } = describedInterface();
  return html`<h1>Calls</h1>
    <p>
      Every call, with a form to try it. A * marks a required field. For programs:
      <a href="/openapi.json">openapi.json</a>.
    </p>
    ${tags.map(
      ({ name, description }) =>
        html`<h2>${name}</h2>
          <p>${description}</p>
          ${renderCallList(name)} ${renderEventList(name)}`,
    )}`;
}

function renderCallList(tag: string): Html | string {
  const own = listCalls().filter(({ operation }) => operation.tags.includes(tag));
  return own.length === 0
    ? ''
    : html`<ul class="calls">
        ${own.map(
          ({ method, path, operation }) =>
            html`<li>
              <a href="/docs/reference/${operation.operationId}">${operation.summary}</a>
              <code>${method} ${path}</code>
            </li>`,
        )}
      </ul>`;
}

/** Lists the webhook events, each with the fields of its body. */
function renderEventList(tag: string): Html[] {
  return Object.entries(describedInterface().webhooks).flatMap(([event, { post }]) => {
    const schema = post?.requestBody?.content['application/json']?.schema;
    return schema && post.tags.includes(tag)
      ? [
          html`<details>
            <summary>${event}: ${post.summary}</summary>
            ${renderFieldTable(buildSchemaRows(schema))}
          </details>`,
        ]
      : [];
  });
}

export function renderCallPage({ method, path, operation }: Call): Html {
  const content = operation.requestBody?.content['application/json'];
  const ofHeaders = operation.parameters.filter((each) => each.in === 'header');
  const others = operation.parameters.filter((each) => each.in !== 'header');
  return html`<h1>${operation.summary}</h1>
    <p><code>${method} ${path}</code></p>
    <p>${renderInlineCode(operation.description ?? '')}</p>
    <div class="call">
      <div class="example">${renderExample({ method, path, operation })}</div>
      <div class="fields">
        ${renderParameterTable('Parameters', others)}
        ${
          content
            ? html`<h2>Body</h2>
                ${renderFieldTable(buildSchemaRows(content.schema))}`
            : ''
        }
        ${renderParameterTable('Headers', ofHeaders)} ${renderTryItForm({ method, path, operation })}
        <h2>Responses</h2>
        ${Object.entries(operation.responses).map(([status, response]) => renderResponse(status, response))}
        <p>What to do about each failure: <a href="/docs/reference/errors">Errors</a>.</p>
      </div>
    </div>`;
}

/** Shows the whole call and its successful response. */
function renderExample(call: Call): Html {
  const [status, response] = Object.entries(call.operation.responses)[0] ?? [];
  const answered = response && !('$ref' in response) ? findExample(response) : undefined;
  return html`<h2>Example</h2>
    ${renderCurlCommand(call)}
    ${
      answered === undefined
        ? ''
        : html`<p>HTTP ${status ?? ''}</p>
            <pre tabindex="0"><code>${JSON.stringify(answered, null, 2)}</code></pre>`
    }`;
}

function findExample({ content }: Response): unknown {
  const json = content['application/json'];
  return json?.example ?? Object.values(json?.examples ?? {})[0]?.value;
}

function renderResponse(status: string, found: Response | { $ref: string }): Html {
  const response =
    '$ref' in found
      ? lookUp(describedInterface().components.responses, found.$ref.replace('#/components/responses/', ''))
      : found;
  const content = response?.content['application/json'];
  const answered = response ? findExample(response) : undefined;
  return html`<details>
    <summary>${status}: ${response?.description ?? ''}</summary>
    ${content && !('$ref' in found) ? renderFieldTable(buildSchemaRows(content.schema)) : ''}
    ${answered === undefined ? '' : html`<pre tabindex="0"><code>${JSON.stringify(answered, null, 2)}</code></pre>`}
  </details>`;
}

/** Required parameters come first. */
function renderParameterTable(title: string, parameters: Parameter[]): Html | string {
  const rows = parameters.map(({ name, required, description, schema }) => ({
    name,
    isRequired: required,
    description: describeSchema(description === undefined ? schema : { ...schema, description }),
  }));
  const sorted = [...rows.filter(({ isRequired }) => isRequired), ...rows.filter((each) => !each.isRequired)];
  return rows.length === 0
    ? ''
    : html`<h2>${title}</h2>
        ${renderFieldTable(sorted)}`;
}

function renderFieldTable(rows: SchemaRow[]): Html {
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          <th>Field</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ name, isRequired, description }) =>
            html`<tr>
              <td><code>${name}</code>${isRequired ? ' *' : ''}</td>
              <td>${renderInlineCode(description)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Renders text between backticks as code. */
function renderInlineCode(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

function findExampleBody({ operation }: Call): string | null {
  const content = operation.requestBody?.content['application/json'];
  const example = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  return content === undefined ? null : JSON.stringify(example ?? {}, null, 2);
}

const needsKey = ({ operation }: Call) => operation.security.some((each) => 'apiKey' in each);

function renderCurlCommand(call: Call): Html {
  const body = findExampleBody(call);
  const lines = [
    `curl -s -X ${call.method} '${openApiDocument().servers[0]?.url ?? ''}${call.path}'`,
    ...(needsKey(call) ? [`-H 'Authorization: Bearer <API_KEY>'`] : []),
    ...(body === null
      ? []
      : [`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  return html`<pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre>`;
}

/** Returns the text that the sign of a reseller call covers, with its fields in braces. */
function buildSignTemplate({ operation }: Call): string | null {
  const call = resellerOperations.find(({ id }) => id === operation.operationId);
  const fields = operation.parameters.map(({ name }) => [name, `{${name}}`] as const);
  return call ? `{username}|${call.signed(Object.fromEntries(fields)).hmacCovers}` : null;
}

/** Path parameters are required: without one, the path is that of another call. */
function renderInput(name: string, place: string, isRequired: boolean | undefined): Html {
  const asked = place === 'path' ? html`required` : '';
  return html`<label
    >${name}${isRequired ? ' *' : ''} <input data-in="${place}" name="${name}" ${asked}
  /></label>`;
}

/** The form that the browser script sends. Without the script it does nothing. */
function renderTryItForm(call: Call): Html {
  const body = findExampleBody(call);
  const fields = call.operation.parameters.filter((each) => each.in !== 'header');
  const signed = buildSignTemplate(call);
  return html`<h2>Try it</h2>
    <form
      class="try-it"
      data-method="${call.method}"
      data-path="${call.path}"
      ${signed === null ? '' : html`data-signed="${signed}"`}
    >
      ${
        needsKey(call) || signed !== null
          ? html`<label
              >API key <input name="key" type="password" autocomplete="off" placeholder="bk_test_…"
            /></label>`
          : ''
      }
      ${fields.map(({ name, in: place, required }) =>
        name === 'sign' && signed !== null
          ? html`<label
              >sign *
              <input data-in="query" name="sign" placeholder="computed from the key" autocomplete="off"
            /></label>`
          : renderInput(name, place, required),
      )}
      ${body === null ? '' : html`<label>Body <textarea name="body" rows="8" spellcheck="false">${body}</textarea></label>`}
      <button>Send</button>
      <p class="quiet">
        The call is sent to this service and takes effect.
        ${
          signed === null
            ? 'The key stays in this tab.'
            : html`The key stays in this tab and is not sent. <code>sign</code> is computed from it here:
                HMAC-SHA256 over <code>${signed}</code>.`
        }
      </p>
      <pre class="answer" tabindex="0" aria-live="polite" aria-label="Response"></pre>
    </form>`;
}
