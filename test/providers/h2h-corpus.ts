import { readFileSync } from 'node:fs';

/** An answer of a reseller engine. `<ref>` is the reference of the order. */
export interface CorpusAnswer {
  title: string;
  body?: Record<string, unknown>;
  /** Sent instead of `body`. */
  text?: string;
  /** The outcome of an order, and of its status check. */
  outcome: string;
  serialNumber?: string | null;
}

const corpusNames = ['serial-numbers', 'order-answers'];

export function readH2hCorpus(): CorpusAnswer[] {
  return corpusNames.flatMap((name) => {
    const text = readFileSync(`test/providers/corpus/h2h/${name}.json`, 'utf8');
    return JSON.parse(text) as CorpusAnswer[];
  });
}
