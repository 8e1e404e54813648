import type { AnyOperation } from '../operation.js';
import { advance } from './advance.js';
import { endTransaction } from './end-transaction.js';
import { listScenarios } from './list-scenarios.js';

/** docs/reference/api/sandbox.md */
export const sandboxOperations: AnyOperation[] = [listScenarios, endTransaction, advance];
