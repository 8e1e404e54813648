import { InvalidArgumentError, Option } from 'commander';
import { priceGroupPattern, priceGroupRule, findReasonProblem } from '../../src/shared/input-rules.js';
import { printablePattern } from '../../src/shared/printable.js';

export function reasonOption(): Option {
  return optionalReasonOption().makeOptionMandatory();
}

export function optionalReasonOption(): Option {
  return new Option('--reason <text>', 'reason, stored in the audit log').argParser((text: string) => {
    const problem = findReasonProblem(text);
    if (problem !== null) {
      throw new InvalidArgumentError(problem);
    }
    return text;
  });
}

export function asOption(): Option {
  return new Option('--as <operator>', 'operator who acts; must match TOPUP_OPERATOR_KEY');
}

export function limitOption(fallback = 50): Option {
  return new Option('--limit <n>', 'number of rows').default(fallback).argParser(wholeNumber(1, 1_000));
}

export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new InvalidArgumentError(`The value must be a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

export function day(value: string): string {
  const at = new Date(`${value}T00:00:00Z`);
  if (
    Number.isNaN(at.getTime()) ||
    !at.toISOString().startsWith(value) ||
    value.length !== 'YYYY-MM-DD'.length
  ) {
    throw new InvalidArgumentError('The value must be a day as YYYY-MM-DD.');
  }
  return value;
}

export function httpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:\/\//.test(value)) {
    throw new InvalidArgumentError('The value must be an http or https URL.');
  }
  return value;
}

/** Parses a name of 1 to 100 printable characters. */
export function shortText(value: string): string {
  const text = value.trim();
  if (text === '' || text.length > 100 || !printablePattern.test(text)) {
    throw new InvalidArgumentError('The value must be 1 to 100 printable characters.');
  }
  return text;
}

export function priceGroup(value: string): string {
  if (!priceGroupPattern.test(value)) {
    throw new InvalidArgumentError(`${priceGroupRule}.`);
  }
  return value;
}

/**
 * Reads the first line of standard input. Secrets are not arguments, because the process list would
 * show them.
 */
export async function secretFromStdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
  }
  return text.split('\n')[0]?.trim() ?? '';
}
