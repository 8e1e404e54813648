import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { compileExpression } from '../expression.js';
import { createCell, withVariables } from '../scope.js';
import type { Stage, StageCall } from '../stage.js';

/**
 * `$redact`: an expression that is `$$KEEP`, `$$PRUNE` or `$$DESCEND` for the document and, when it
 * descends, for each embedded one; `$$CURRENT` and plain paths are of the embedded one. Error 17053.
 */
export function compileRedact(specification: unknown, { scope }: StageCall): Stage {
  const current = createCell();
  const expression = compileExpression(
    specification,
    withVariables(scope, [['CURRENT', current.expression]]),
  );
  const redact = (document: Doc, root: Doc): Doc | undefined => {
    current.value = document;
    const decision = expression.evaluate(root);
    switch (decision) {
      case 'keep':
        return document;
      case 'prune':
        return undefined;
      case 'descend':
        return descend(document, (inner) => redact(inner, root));
      default:
        throw new MongoError(
          17053,
          `$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned ${typeNameOf(decision)}`,
        );
    }
  };
  return function* redactAll(input) {
    for (const document of input) {
      const left = redact(document, document);
      if (left !== undefined) {
        yield left;
      }
    }
  };
}

function descend(document: Doc, redact: (inner: Doc) => Doc | undefined): Doc {
  const left: Doc = {};
  for (const key of keysOf(document)) {
    const value = descendInto(document[key], redact);
    if (value !== undefined) {
      setField(left, key, value);
    }
  }
  return left;
}

function descendInto(value: unknown, redact: (inner: Doc) => Doc | undefined): unknown {
  if (isDoc(value)) {
    return redact(value);
  }
  return Array.isArray(value)
    ? value.map((element) => descendInto(element, redact)).filter((element) => element !== undefined)
    : value;
}
