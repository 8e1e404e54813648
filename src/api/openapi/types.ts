/** The parts of OpenAPI 3.1 and JSON Schema (2020-12) that our document uses. */
export interface Schema {
  /** Name of its type in components.schemas. */
  title?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  contentMediaType?: string;
  description?: string;
  default?: unknown;
  examples?: unknown[];
}

/** By media type. */
type Content = Record<
  string,
  { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
>;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface RequestBody {
  required: boolean;
  content: Content;
}

export interface Response {
  description: string;
  headers?: Record<string, { description?: string; schema: Schema }>;
  content: Content;
}

export interface DescribedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, never[]>[];
  parameters: Parameter[];
  requestBody?: RequestBody;
  /** By HTTP status. */
  responses: Record<string, Response | { $ref: string }>;
}

/** Operations by method, in lower case. */
export type PathItem = Record<string, DescribedOperation>;

/** The document as it is built: every schema is inline. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    responses: Record<string, Response>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

/** The parts of a document that contain schemas. */
export interface DocumentParts {
  paths: Record<string, Record<string, { operationId: string; parameters: Parameter[] }>>;
  webhooks?: DocumentParts['paths'];
  components: { responses: Record<string, Response> };
}

/**
 * A document as it is served: schemas and parameters are references into `components`. See
 * components.ts.
 */
export type PublishedDocument<Document extends DocumentParts> = Omit<Document, 'paths' | 'webhooks'> & {
  paths: Record<string, Record<string, { operationId: string }>>;
  webhooks: Record<string, Record<string, { operationId: string }>>;
  components: Document['components'] & {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
  };
};
