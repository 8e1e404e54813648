import type { Document } from 'mongodb';

/** The fields of a file in the unified test format that the runner reads. */
export interface CaseFile {
  description: string;
  schemaVersion: string;
  runOnRequirements?: Requirement[];
  createEntities?: EntityDefinition[];
  initialData?: CollectionData[];
  tests: Case[];
}

export interface Case {
  description: string;
  runOnRequirements?: Requirement[];
  skipReason?: string;
  operations: Operation[];
  expectEvents?: ExpectedEvents[];
  outcome?: CollectionData[];
}

export interface Requirement {
  minServerVersion?: string;
  maxServerVersion?: string;
  topologies?: string[];
  serverless?: 'require' | 'forbid' | 'allow';
  auth?: boolean;
  csfle?: unknown;
  serverParameters?: Document;
}

/**
 * An object with one key. The key is the kind of the entity, and the value describes the entity.
 */
export type EntityDefinition = Record<string, Document & { id: string }>;

export interface CollectionData {
  collectionName: string;
  databaseName: string;
  createOptions?: Document;
  documents: Document[];
}

export interface Operation {
  name: string;
  object: string;
  arguments?: Document;
  expectResult?: unknown;
  expectError?: ExpectedError;
  ignoreResultAndError?: boolean;
  saveResultAsEntity?: string;
}

export interface ExpectedError {
  isError?: boolean;
  isClientError?: boolean;
  errorContains?: string;
  errorCode?: number;
  errorCodeName?: string;
  errorLabelsContain?: string[];
  errorLabelsOmit?: string[];
  errorResponse?: Document;
  expectResult?: unknown;
}

export interface ExpectedEvents {
  client: string;
  eventType?: 'command' | 'cmap' | 'sdam';
  ignoreExtraEvents?: boolean;
  events: Record<string, Document>[];
}
